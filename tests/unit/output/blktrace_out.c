/* SPDX-License-Identifier: MIT */
#include "blktrace_out.h"

#include "../trace_builder.h"
#include "blktrace.h"
#include "recording.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>

static struct recording *open_trace(const struct trace *trace)
{
	struct recording *recording = NULL;
	char *path;

	trace_file(trace, "in");
	path = (char *)test_path("in");
	cr_assert_eq(recording_open(&path, 1, &recording, NULL), 0);
	return recording;
}

static void pump(struct recording *recording, struct sink *sink, uint32_t hold_back_pid)
{
	struct merge_item item;

	while (recording_next(recording, &item, NULL) == 1) {
		if (hold_back_pid && item.event.pid == hold_back_pid)
			cr_assert_eq(sink_left_out(sink, &item, NULL), 0);
		else
			cr_assert_eq(sink_event(sink, &item, NULL), 0);
	}
	cr_assert_eq(sink_finish(sink, NULL), 0);
}

TestSuite(blktrace_out, .fini = test_dir_remove);

Test(blktrace_out, what_v1_cannot_say_leaves_no_gap_and_real_gaps_stay)
{
	int fd = memfd_create("out", 0);
	struct blktrace_counts counts = {0};
	struct bt_record1 got[8];
	struct recording *recording;
	struct trace t = {0};
	struct sink *sink;

	TRACE(&t, .protocol = 2, .act = 'Q', .rwbs = "W", .t = 1, .sequence = 10);
	TRACE(&t, .protocol = 2, .act = 'Z', .t = 2, .sequence = 11);
	TRACE(&t, .protocol = 2, .act = 'Q', .rwbs = "W", .t = 3, .sequence = 12,
	      .more_categories = BT_ZONE_RESET);
	TRACE(&t, .protocol = 2, .act = 'D', .rwbs = "W", .t = 4, .sequence = 20, .pid = 9);
	TRACE(&t, .protocol = 2, .act = 'C', .rwbs = "W", .t = 5, .sequence = 21, .error = -5);
	recording = open_trace(&t);
	cr_assert_eq(blktrace_stream_create(fd, 1, &counts, &sink), 0);
	pump(recording, sink, 9);
	cr_assert_eq(counts.written, 3);
	cr_assert_eq(counts.bent, 1);
	cr_assert_eq(counts.left_out, 1);
	cr_assert_eq(pread(fd, got, sizeof(got), 0), 3 * sizeof(got[0]));
	cr_assert_eq(got[0].magic, BT_MAGIC | BT_VERSION_1);
	cr_assert_eq(got[0].sequence, 10);
	cr_assert_eq(got[1].sequence, 11);
	cr_assert_eq(got[1].action, (uint32_t)(BT_WRITE | BT_QUEUE) << 16 | BT_ACT_QUEUE);
	cr_assert_eq(got[2].sequence, 19);
	cr_assert_eq(got[2].error, (uint16_t)-5);
	sink_destroy(sink);
	recording_close(recording);
	close(fd);
	trace_free(&t);
}

static const char *device_name(void *context, uint32_t tag, uint32_t device)
{
	(void)context;
	(void)tag;
	return device == 8 << 20 ? "sda" : "cciss/c0d0";
}

Test(blktrace_out, a_stream_becomes_a_file_for_each_device_and_cpu)
{
	struct blktrace_counts counts = {0};
	struct blktrace_files *files;
	struct recording *recording;
	struct trace t = {0};
	struct sink *sink;
	char base[128];

	TRACE(&t, .act = 'Q', .rwbs = "W", .t = 1);
	TRACE(&t, .act = 'Q', .rwbs = "W", .t = 2, .cpu = 3);
	TRACE(&t, .act = 'Q', .rwbs = "W", .t = 3, .device = 104 << 20);
	recording = open_trace(&t);
	snprintf(base, sizeof(base), "%s/", test_dir());
	cr_assert_eq(blktrace_files_create(base, false, &files), 0);
	cr_assert_eq(blktrace_split_create(files, 0, device_name, NULL, &counts, &sink), 0);
	pump(recording, sink, 0);
	sink_destroy(sink);
	cr_assert_eq(access(test_path("sda.blktrace.0"), F_OK), 0);
	cr_assert_eq(access(test_path("sda.blktrace.3"), F_OK), 0);
	cr_assert_eq(access(test_path("cciss_c0d0.blktrace.0"), F_OK), 0);
	recording_close(recording);
	trace_free(&t);
}

Test(blktrace_out, one_base_is_for_one_device_and_nothing_stays_behind)
{
	struct blktrace_files *files;
	struct why why = {""};
	char base[128];
	size_t index;

	snprintf(base, sizeof(base), "%s/base", test_dir());
	cr_assert_eq(blktrace_files_create(base, false, &files), 0);
	cr_assert_eq(blktrace_files_add(files, "sda", 0, &index, &why), 0);
	cr_assert_eq(blktrace_files_add(files, "sda", 0, &index, &why), 0, "the same again");
	cr_assert_eq(blktrace_files_add(files, "sdb", 0, &index, &why), -EINVAL);
	cr_assert_not_null(strstr(why.text, "give a directory"));
	blktrace_files_destroy(files);
	cr_assert_neq(access(test_path("base.blktrace.0"), F_OK), 0);
	cr_assert_neq(access(test_path("base.blktrace.0.part"), F_OK), 0);

	test_file("base.blktrace.0", "x", 1);
	cr_assert_eq(blktrace_files_create(base, false, &files), 0);
	cr_assert_eq(blktrace_files_add(files, "sda", 0, &index, &why), -EEXIST);
	blktrace_files_destroy(files);
}

/* They are whole: only their names could not be had. */
Test(blktrace_out, a_name_that_was_taken_meanwhile_costs_no_file)
{
	struct blktrace_files *files;
	struct why why = {""};
	char base[128];
	size_t index;

	snprintf(base, sizeof(base), "%s/base", test_dir());
	cr_assert_eq(blktrace_files_create(base, false, &files), 0);
	for (uint32_t cpu = 0; cpu < 3; cpu++)
		cr_assert_eq(blktrace_files_add(files, "sda", cpu, &index, &why), 0);
	test_file("base.blktrace.1", "theirs", 6);
	cr_assert_eq(blktrace_files_commit(files, &why), -EEXIST);
	blktrace_files_destroy(files);
	cr_assert_eq(access(test_path("base.blktrace.0"), F_OK), 0);
	cr_assert_eq(access(test_path("base.blktrace.1.part"), F_OK), 0);
	cr_assert_eq(access(test_path("base.blktrace.2.part"), F_OK), 0);
}

static int never(const void *context, const char *path, struct why *why)
{
	return why_set(why, -EEXIST, "%s: %s", (const char *)context, path);
}

Test(blktrace_out, a_file_that_is_not_free_is_not_opened)
{
	struct blktrace_files *files;
	struct why why = {""};
	size_t index;

	test_dir();
	cr_assert_eq(blktrace_files_create(test_path("base"), true, &files), 0);
	blktrace_files_ask(files, never, "no");
	cr_assert_eq(blktrace_files_add(files, "sda", 0, &index, &why), -EEXIST);
	cr_assert_not_null(strstr(why.text, "/base.blktrace.0"), "%s", why.text);
	blktrace_files_destroy(files);
	cr_assert_neq(access(test_path("base.blktrace.0.part"), F_OK), 0);
}
