/* SPDX-License-Identifier: MIT */
/* A recording is read again and again, whole or up to somewhere: the same events every time. */
#include "recording.h"

#include <string.h>

enum {
	RUNS = 300
};

static uint64_t mix(uint64_t sum, const struct merge_item *item)
{
	const struct blkbox_event *event = &item->event;

	sum = (sum ^ event->time_ns ^ event->sector << 8) * UINT64_C(0x9e3779b97f4a7c15);
	for (unsigned i = 0; i < event->pdu_bytes; i++)
		sum = (sum ^ event->pdu[i]) * UINT64_C(0x100000001b3);
	return sum;
}

/* At most @max events; all of them: up to the end. */
static int read_some(struct recording *recording, uint64_t max, uint64_t *ret_n, uint64_t *ret_sum)
{
	struct merge_item item;
	int r = 1;

	*ret_n = *ret_sum = 0;
	while (*ret_n < max && (r = recording_next(recording, &item, NULL)) > 0) {
		*ret_sum = mix(*ret_sum, &item);
		++*ret_n;
	}
	if (r > 0)
		recording_rewind(recording);
	return r < 0 ? r : 0;
}

static int compare(struct recording *recording, uint64_t all, uint64_t sum)
{
	for (uint64_t run = 0; run < RUNS; run++) {
		uint64_t max = run % 3 ? run * 7919 % all : UINT64_MAX, n, again;

		if (read_some(recording, max, &n, &again) < 0)
			return 1;
		if (max == UINT64_MAX && (n != all || again != sum))
			return 1;
		if (max < all && n != max)
			return 1;
	}
	return 0;
}

int main(int argc, char **argv)
{
	struct recording *recording;
	struct why why = {""};
	uint64_t n, sum;
	int bad = 0;

	if (argc < 2)
		return 2;
	for (int run = 0; run < 20 && !bad; run++) {
		if (recording_open(&argv[1], (size_t)argc - 1, &recording, &why) < 0) {
			fprintf(stderr, "%s\n", why.text);
			return 1;
		}
		bad = read_some(recording, UINT64_MAX, &n, &sum) < 0 || !n ||
		      (run == 0 && compare(recording, n, sum));
		recording_close(recording);
	}
	if (bad)
		fputs("the events were others\n", stderr);
	return bad;
}
