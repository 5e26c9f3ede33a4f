/* SPDX-License-Identifier: MIT */
#include "fuzz.h"

#include "out.h"
#include "overview.h"
#include "recording.h"
#include "stats.h"

#include <sys/mman.h>

int fuzz_file(const uint8_t *data, size_t size, char ret_path[static 32])
{
	int fd = memfd_create("fuzz", MFD_CLOEXEC);

	FUZZ_CHECK(fd >= 0 && write_all(fd, data, size, NULL) == 0);
	snprintf(ret_path, 32, "/proc/self/fd/%d", fd);
	return fd;
}

char *fuzz_text(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1);

	FUZZ_CHECK(text);
	if (size)
		memcpy(text, data, size);
	text[size] = '\0';
	return text;
}

static void ignore(void *context, const char *sentence)
{
	FUZZ_CHECK(*sentence);
	(void)context;
}

static void read_events(struct recording *recording)
{
	struct merge_item item;
	int r;

	while ((r = recording_next(recording, &item, NULL)) == 1)
		;
	FUZZ_CHECK(r == 0);
}

static void read_figures(struct recording *recording)
{
	const struct stats_options options = {.slowest = 5};
	const struct stats_result *result;
	struct merge_item item;
	struct stats *stats;
	uint64_t events = 0;
	int r;

	FUZZ_CHECK(stats_create(&options, recording, &stats) == 0);
	while ((r = recording_next(recording, &item, NULL)) == 1) {
		events += !(item.event.categories & BLKBOX_CAT_NOTIFY);
		FUZZ_CHECK(stats_event(stats, &item) == 0);
	}
	FUZZ_CHECK(r == 0);
	FUZZ_CHECK(stats_finish(stats) == 0);
	result = stats_result(stats);
	FUZZ_CHECK(result->events == events);
	stats_destroy(stats);
}

void fuzz_read_recording(const char *path, bool with_figures)
{
	char *paths[] = {(char *)path};
	struct recording *recording;
	struct overview overview;
	struct why why = {""};

	if (recording_open(paths, 1, &recording, &why) < 0) {
		FUZZ_CHECK(*why.text);
		return;
	}
	if (with_figures)
		read_figures(recording);
	else
		read_events(recording);
	recording_health(recording, ignore, NULL);
	if (overview_init(&overview, recording_input(recording, 0), &why) == 0) {
		overview_complete(&overview, recording_input(recording, 0));
		overview_deinit(&overview);
	}
	recording_close(recording);
}
