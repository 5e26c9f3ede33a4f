/* SPDX-License-Identifier: MIT */
#include "report_page.h"

#include "page_parts.h"
#include "report_cut.h"

int report_page_check(struct why *why)
{
	(void)why;
	return 0;
}

/* Less and less; the last one is small whatever there is. */
static const struct report_limits limits[] = {
	{.bucket_fold = 1,
	 .devices = 64,
	 .series = 16,
	 .groups = 256,
	 .losses = 4000,
	 .slow = 1000},
	{.bucket_fold = 2, .devices = 32, .series = 16, .groups = 128, .losses = 2000, .slow = 500},
	{.bucket_fold = 4, .devices = 16, .series = 16, .groups = 64, .losses = 1000, .slow = 200},
	{.bucket_fold = 8, .devices = 8, .series = 8, .groups = 32, .losses = 500, .slow = 100},
};

enum {
	N_LIMITS = sizeof(limits) / sizeof(limits[0])
};

static void put_data(const struct report *report, struct out *out)
{
	struct json json;

	json_init(&json, out, false);
	json.in_html = true;
	report_json(report, &json, NULL);
	json_finish(&json);
}

/* 1 or 0; -ENOMEM. */
static int fits(const struct report *report)
{
	_cleanup_(out_deinit) struct out count = {0};

	if (out_init(&count, -1, OUT_ROOM_MAX) < 0)
		return -ENOMEM;
	put_data(report, &count);
	out_flush(&count);
	return count.written_bytes + page_head_bytes + page_tail_bytes <= REPORT_PAGE_BYTES_MAX;
}

static void put_page(const struct report *report, struct out *out)
{
	out_bytes(out, page_head, page_head_bytes);
	put_data(report, out);
	out_bytes(out, page_tail, page_tail_bytes);
}

int report_page(const struct report *report, struct out *out)
{
	_cleanup_(cleanup_cut_destroy) struct cut *cut = NULL;
	int r = fits(report);

	for (unsigned i = 0; i < N_LIMITS && r == 0; i++) {
		cut_destroy(cut);
		cut = NULL;
		r = cut_create(report, &limits[i], &cut);
		if (r == 0)
			r = i + 1 < N_LIMITS ? fits(&cut->report) : 1;
	}
	if (r > 0)
		put_page(cut ? &cut->report : report, out);
	return r < 0 ? r : 0;
}
