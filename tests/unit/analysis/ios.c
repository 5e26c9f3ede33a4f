/* SPDX-License-Identifier: MIT */
#include "ios.h"
#include "track.h"

#include "../trace_builder.h"
#include "recording.h"

#include <criterion/criterion.h>

static struct trace t;
static struct ios *ios;
static struct io done[64];

static void set_up(void)
{
	t = (struct trace){0};
	cr_assert_eq(ios_create(&ios), 0);
}

static void tear_down(void)
{
	ios_destroy(ios);
	trace_free(&t);
	test_dir_remove();
}

TestSuite(ios, .init = set_up, .fini = tear_down);

static size_t run(void)
{
	struct recording *recording = NULL;
	struct merge_item item;
	char *path;
	size_t n = 0;

	trace_file(&t, "in");
	path = (char *)test_path("in");
	cr_assert_eq(recording_open(&path, 1, &recording, NULL), 0);
	while (recording_next(recording, &item, NULL) == 1) {
		int r = ios_event(ios, &item, &done[n]);

		cr_assert_geq(r, 0);
		n += (size_t)r;
	}
	recording_close(recording);
	return n;
}

/* NAME-KWORKER: the owner is who queued it. */
Test(ios, an_io_belongs_to_the_process_that_queued_it)
{
	TRACE(&t, .act = 'Q', .rwbs = "W", .sector = 8, .bytes = 4096, .pid = 100, .t = 1);
	TRACE(&t, .act = 'D', .rwbs = "W", .sector = 8, .bytes = 4096, .pid = 7, .t = 2);
	TRACE(&t, .act = 'C', .rwbs = "W", .sector = 8, .bytes = 4096, .pid = 0, .t = 5, .cpu = 1);
	cr_assert_eq(run(), 1);
	cr_assert_eq(done[0].pid, 100);
	cr_assert_eq(done[0].queued_ns, 1000);
	cr_assert_eq(done[0].issued_ns, 2000);
	cr_assert_eq(done[0].completed_ns, 5000);
	cr_assert_eq(done[0].operation, OPERATION_WRITE);
	cr_assert_eq(ios_depth(ios, 0, 8 << 20), 0);
}

Test(ios, parts_complete_once_and_errors_stay)
{
	TRACE(&t, .act = 'D', .rwbs = "R", .sector = 8, .bytes = 8192, .t = 1);
	TRACE(&t, .act = 'C', .rwbs = "R", .sector = 8, .bytes = 4096, .t = 2, .error = -5);
	TRACE(&t, .act = 'C', .rwbs = "R", .sector = 16, .bytes = 4096, .t = 3);
	cr_assert_eq(run(), 1);
	cr_assert_eq(done[0].sector, 8);
	cr_assert_eq(done[0].bytes, 8192);
	cr_assert_eq(done[0].completed_ns, 3000);
	cr_assert_eq(done[0].error, -5);
}

Test(ios, requeues_start_again_and_merges_are_parts)
{
	TRACE(&t, .act = 'Q', .rwbs = "W", .sector = 8, .bytes = 4096, .pid = 1, .t = 1);
	TRACE(&t, .act = 'Q', .rwbs = "W", .sector = 16, .bytes = 4096, .pid = 2, .t = 2);
	TRACE(&t, .act = 'M', .rwbs = "W", .sector = 16, .bytes = 4096, .pid = 2, .t = 3);
	TRACE(&t, .act = 'D', .rwbs = "W", .sector = 8, .bytes = 8192, .t = 4);
	TRACE(&t, .act = 'R', .rwbs = "W", .sector = 8, .bytes = 8192, .t = 5);
	TRACE(&t, .act = 'D', .rwbs = "W", .sector = 8, .bytes = 8192, .t = 6);
	TRACE(&t, .act = 'C', .rwbs = "W", .sector = 8, .bytes = 8192, .t = 9);
	cr_assert_eq(run(), 1);
	cr_assert_eq(done[0].requeues, 1);
	cr_assert_eq(done[0].issued_ns, 6000);
	cr_assert_eq(done[0].bytes, 8192);
	cr_assert_eq(done[0].pid, 1);
}

/* STAT-LVM-NOTHING: a bio-based device has no issue. */
Test(ios, bio_based_devices_go_from_queue_to_completion)
{
	TRACE(&t, .act = 'Q', .rwbs = "W", .sector = 8, .bytes = 4096, .t = 1);
	TRACE(&t, .act = 'C', .rwbs = "W", .sector = 8, .bytes = 4096, .t = 5);
	cr_assert_eq(run(), 1);
	cr_assert_eq(done[0].issued_ns, 0);
	cr_assert_eq(done[0].queued_ns, 1000);
}

/* LOSS-HIGH-RATE-PAIR */
Test(ios, lost_halves_are_counted)
{
	uint64_t issues, completions;

	/* Of writes: two reads of one place may well be in flight at once. */
	for (int i = 0; i < 10; i++) {
		TRACE(&t, .act = 'D', .rwbs = "W", .sector = 8, .bytes = 512, .t = 10 * i + 1);
		if (i % 2)
			TRACE(&t, .act = 'C', .rwbs = "W", .sector = 8, .bytes = 512,
			      .t = 10 * i + 2);
	}
	TRACE(&t, .act = 'C', .rwbs = "W", .sector = 99, .bytes = 512, .t = 1000);
	TRACE(&t, .act = 'C', .rwbs = "RV", .bytes = 36, .t = 1001);
	cr_assert_eq(run(), 5);
	ios_unmatched(ios, &issues, &completions);
	cr_assert_eq(issues, 5);
	cr_assert_eq(completions, 1);
	cr_assert_eq(ios_depth(ios, 0, 8 << 20), 0);
}

Test(ios, a_front_merge_belongs_to_the_older_bio)
{
	TRACE(&t, .act = 'Q', .rwbs = "W", .sector = 16, .bytes = 4096, .pid = 1, .t = 1);
	TRACE(&t, .act = 'Q', .rwbs = "W", .sector = 8, .bytes = 4096, .pid = 2, .t = 2);
	TRACE(&t, .act = 'F', .rwbs = "W", .sector = 8, .bytes = 4096, .pid = 2, .t = 3);
	TRACE(&t, .act = 'D', .rwbs = "W", .sector = 8, .bytes = 8192, .pid = 9, .t = 4);
	TRACE(&t, .act = 'C', .rwbs = "W", .sector = 8, .bytes = 8192, .t = 9);
	/* Nothing of either is left at the old place. */
	TRACE(&t, .act = 'C', .rwbs = "W", .sector = 16, .bytes = 4096, .t = 10);
	cr_assert_eq(run(), 1);
	cr_assert_eq(done[0].sector, 8);
	cr_assert_eq(done[0].pid, 1);
	cr_assert_eq(done[0].queued_ns, 1000);
	cr_assert_eq(done[0].bytes, 8192);
}

/* A bio of 3 MiB behind 10 TiB: the payload's 32 bits could not tell where its parts are. */
Test(ios, parts_of_a_split_belong_to_who_queued_the_whole)
{
	const uint64_t from = 5ull << 32;

	TRACE(&t, .act = 'Q', .rwbs = "W", .sector = from, .bytes = 3 << 20, .pid = 7, .t = 1);
	TRACE(&t, .act = 'X', .rwbs = "W", .sector = from, .bytes = 1 << 20, .pid = 8, .t = 2,
	      .cpu = 1);
	TRACE(&t, .act = 'D', .rwbs = "W", .sector = from, .bytes = 1 << 20, .pid = 9, .t = 3);
	TRACE(&t, .act = 'X', .rwbs = "W", .sector = from + 2048, .bytes = 1 << 20, .t = 4);
	for (int part = 1; part < 3; part++)
		TRACE(&t, .act = 'D', .rwbs = "W", .sector = from + 2048 * part, .bytes = 1 << 20,
		      .pid = 9, .t = 4 + part);
	for (int part = 0; part < 3; part++)
		TRACE(&t, .act = 'C', .rwbs = "W", .sector = from + 2048 * part, .bytes = 1 << 20,
		      .t = 10 + part);
	cr_assert_eq(run(), 3);
	for (int part = 0; part < 3; part++) {
		cr_assert_eq(done[part].queued_ns, 1000);
		cr_assert_eq(done[part].pid, 7);
		cr_assert_eq(done[part].cpu, 0);
		cr_assert_eq(done[part].bytes, 1 << 20);
	}
}

/* A real one: nothing was lost, so every I/O has an owner. */
Test(ios, every_part_in_a_recording_with_splits_has_an_owner)
{
	struct recording *recording = NULL;
	char path[] = BLKBOX_TEST_DATA "/linux-6.1/nullb-split/nullb0";
	char *paths[] = {path};
	struct merge_item item;
	size_t ios_seen = 0, splits = 0;

	cr_assert_eq(recording_open(paths, 1, &recording, NULL), 0);
	while (recording_next(recording, &item, NULL) == 1) {
		splits += item.event.action == BLKBOX_SPLIT && !blkbox_event_is_note(&item.event);
		if (ios_event(ios, &item, &done[0]) != 1)
			continue;
		ios_seen++;
		cr_assert_neq(done[0].queued_ns, 0, "sector %llu",
			      (unsigned long long)done[0].sector);
	}
	recording_close(recording);
	cr_assert_gt(splits, 0);
	cr_assert_gt(ios_seen, splits);
}

static int feed(uint16_t action, uint32_t device, uint64_t sector)
{
	static uint64_t time_ns;
	struct merge_item item = {
		.event =
			{
				.action = action,
				.categories = BLKBOX_CAT_WRITE,
				.device = device,
				.sector = sector,
				.bytes = 512,
				.time_ns = ++time_ns,
			},
	};

	return ios_event(ios, &item, &done[0]);
}

/* The one that has to go may be of a device that was never issued to. */
Test(ios, the_oldest_makes_room_for_an_issue_on_another_device)
{
	const uint32_t sda = 8 << 20, dm = 253 << 20;

	cr_assert_eq(feed(BLKBOX_QUEUE, dm, 0), 0);
	cr_assert_eq(feed(BLKBOX_ISSUE, sda, 0), 0);
	for (uint64_t i = 1; i < TRACK_OPEN_MAX - 1; i++)
		cr_assert_eq(feed(BLKBOX_QUEUE, dm, i), 0);
	cr_assert_eq(feed(BLKBOX_ISSUE, sda, 8), 0);
	cr_assert_eq(ios_depth(ios, 0, sda), 2);
}

/* Clocks of two CPUs that differ must not make an I/O of 584 years. */
Test(ios, times_that_are_not_in_order_are_no_latency)
{
	struct merge_item item = {
		.event =
			{
				.action = BLKBOX_ISSUE,
				.categories = BLKBOX_CAT_WRITE,
				.bytes = 512,
				.time_ns = 1000,
			},
	};

	cr_assert_eq(ios_event(ios, &item, &done[0]), 0);
	item.event.action = BLKBOX_COMPLETE;
	item.event.time_ns = 900;
	cr_assert_eq(ios_event(ios, &item, &done[0]), 1);
	cr_assert_eq(io_latency_ns(&done[0]), 0);
	cr_assert_eq(ios_inverted(ios), 1);
}
