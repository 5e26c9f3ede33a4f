/* SPDX-License-Identifier: MIT */
#include "ios.h"
#include "track.h"

#include "../trace_builder.h"
#include "recording.h"

#include <criterion/criterion.h>

static struct trace t;
/* What came to an end: requests, and whole I/Os. */
static struct track_io done[64], whole[64];
static size_t n_done, n_whole;
static struct ios_counts counts;

static void set_up(void)
{
	t = (struct trace){0};
	n_done = n_whole = 0;
}

static void tear_down(void)
{
	trace_free(&t);
	test_dir_remove();
}

TestSuite(ios, .init = set_up, .fini = tear_down);

static int keep_request(void *context, const struct track_io *request)
{
	(void)context;
	done[n_done++ % 64] = *request;
	return 0;
}

static int keep_io(void *context, const struct track_io *io)
{
	(void)context;
	whole[n_whole++ % 64] = *io;
	return 0;
}

static const struct ios_ops ops = {.io = keep_io, .request = keep_request};

static void read_all(char *path, struct filter *filter, struct ios **ret_ios,
		     struct recording **ret)
{
	struct recording *recording = NULL;
	struct merge_item item;
	struct ios *ios;

	cr_assert_eq(recording_open(&path, 1, &recording, NULL), 0);
	if (filter)
		cr_assert_eq(filter_resolve(filter, recording, NULL), 0);
	cr_assert_eq(ios_create(&ops, NULL, recording, filter, &ios), 0);
	while (recording_next(recording, &item, NULL) == 1)
		cr_assert_eq(ios_event(ios, &item), 0);
	cr_assert_eq(ios_finish(ios), 0);
	counts = *ios_counts(ios);
	*ret_ios = ios;
	*ret = recording;
}

static size_t run_filtered(struct filter *filter)
{
	struct recording *recording;
	struct ios *ios;

	trace_file(&t, "in");
	read_all((char *)test_path("in"), filter, &ios, &recording);
	ios_destroy(ios);
	recording_close(recording);
	return n_done;
}

static size_t run(void)
{
	return run_filtered(NULL);
}

/* NAME-KWORKER: the owner is who queued it. */
Test(ios, an_io_belongs_to_the_process_that_queued_it)
{
	TRACE(&t, .act = 'Q', .rwbs = "W", .sector = 8, .bytes = 4096, .pid = 100, .t = 1);
	TRACE(&t, .act = 'D', .rwbs = "W", .sector = 8, .bytes = 4096, .pid = 7, .t = 2);
	TRACE(&t, .act = 'C', .rwbs = "W", .sector = 8, .bytes = 4096, .pid = 0, .t = 5, .cpu = 1);
	cr_assert_eq(run(), 1);
	cr_assert_eq(done[0].owner.pid, 100);
	cr_assert_eq(done[0].times.queued_ns, 1000);
	cr_assert_eq(done[0].times.issued_ns, 2000);
	cr_assert_eq(done[0].times.completed_ns, 5000);
	cr_assert_eq(done[0].operation, OPERATION_WRITE);
}

Test(ios, parts_complete_once_and_errors_stay)
{
	TRACE(&t, .act = 'D', .rwbs = "R", .sector = 8, .bytes = 8192, .t = 1);
	TRACE(&t, .act = 'C', .rwbs = "R", .sector = 8, .bytes = 4096, .t = 2, .error = -5);
	TRACE(&t, .act = 'C', .rwbs = "R", .sector = 16, .bytes = 4096, .t = 3);
	cr_assert_eq(run(), 1);
	cr_assert_eq(done[0].sector, 8);
	cr_assert_eq(done[0].bytes, 8192);
	cr_assert_eq(done[0].times.completed_ns, 3000);
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
	cr_assert_eq(done[0].times.issued_ns, 6000);
	cr_assert_eq(done[0].bytes, 8192);
	cr_assert_eq(done[0].owner.pid, 1);
}

/* STAT-LVM-NOTHING: a bio-based device has no issue. */
Test(ios, bio_based_devices_go_from_queue_to_completion)
{
	TRACE(&t, .act = 'Q', .rwbs = "W", .sector = 8, .bytes = 4096, .t = 1);
	TRACE(&t, .act = 'C', .rwbs = "W", .sector = 8, .bytes = 4096, .t = 5);
	cr_assert_eq(run(), 0);
	cr_assert_eq(n_whole, 1);
	cr_assert_eq(whole[0].times.issued_ns, 0);
	cr_assert_eq(whole[0].times.queued_ns, 1000);
	cr_assert(whole[0].bio_based);
}

/* LOSS-HIGH-RATE-PAIR */
Test(ios, lost_halves_are_counted)
{
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
	cr_assert_eq(counts.unmatched_issues, 5);
	cr_assert_eq(counts.in_flight_at_end, 0);
	/* The passthrough's, too. */
	cr_assert_eq(counts.unmatched_completions, 2);
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
	cr_assert_eq(done[0].owner.pid, 1);
	cr_assert_eq(done[0].times.queued_ns, 1000);
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
		cr_assert_eq(done[part].times.queued_ns, 1000);
		cr_assert_eq(done[part].owner.pid, 7);
		cr_assert_eq(done[part].owner.cpu, 0);
		cr_assert_eq(done[part].bytes, 1 << 20);
	}
}

/* A real one: nothing was lost, so every request has an owner, and every I/O all its bytes. */
Test(ios, every_part_in_a_recording_with_splits_has_an_owner)
{
	char path[] = BLKBOX_TEST_DATA "/linux-6.1/nullb-split/nullb0";
	struct recording *recording;
	struct ios *ios;

	read_all(path, NULL, &ios, &recording);
	cr_assert_gt(n_whole, 0);
	cr_assert_gt(n_done, n_whole);
	for (size_t i = 0; i < n_done && i < 64; i++)
		cr_assert_neq(done[i].times.queued_ns, 0, "sector %llu",
			      (unsigned long long)done[i].sector);
	ios_destroy(ios);
	recording_close(recording);
}

static void two_processes(void)
{
	/* The interrupt of the completion comes into whatever runs: nobody's pid. */
	for (unsigned i = 0; i < 20; i++) {
		const char *rwbs = i % 4 ? "R" : "W";
		uint64_t sector = 8 * i;

		TRACE(&t, .act = 'Q', .rwbs = rwbs, .sector = sector, .bytes = 4096,
		      .pid = 100 + i % 2, .t = 10 * i + 1);
		TRACE(&t, .act = 'D', .rwbs = rwbs, .sector = sector, .bytes = 4096, .pid = 7,
		      .t = 10 * i + 2, .cpu = i % 2);
		TRACE(&t, .act = 'C', .rwbs = rwbs, .sector = sector, .bytes = 4096,
		      .t = 10 * i + 9 + i % 2, .cpu = 1);
	}
}

/* What a filter says of events must not part an I/O's events from each other. */
Test(ios, a_filter_takes_whole_ios_by_who_queued_them)
{
	uint32_t pid = 101;
	struct filter filter = {.pids = &pid, .n_pids = 1};

	two_processes();
	cr_assert_eq(run_filtered(&filter), 10);
	cr_assert_eq(n_whole, 10);
	for (unsigned i = 0; i < 10; i++) {
		cr_assert_eq(whole[i].owner.pid, 101);
		cr_assert_eq(whole[i].times.completed_ns - whole[i].times.queued_ns, 9000);
		cr_assert_eq(whole[i].times.completed_ns - whole[i].times.issued_ns, 8000);
	}
	cr_assert_eq(counts.unmatched_issues, 0);
	cr_assert_eq(counts.unmatched_completions, 0);
	free(filter.resolved);
}

Test(ios, actions_and_their_categories_tell_events_apart_and_not_ios)
{
	struct action_key complete = {.action = BLKBOX_COMPLETE};
	struct filter filter = {.actions = &complete,
				.n_actions = 1,
				.mask = BLKBOX_CAT_COMPLETE,
				.operations = 1u << OPERATION_WRITE};

	two_processes();
	cr_assert_eq(run_filtered(&filter), 5);
	cr_assert_eq(n_whole, 5);
	cr_assert_neq(whole[0].times.queued_ns, 0);
	free(filter.resolved);
}

static struct merge_item write_of(uint16_t action, uint32_t device, uint64_t sector,
				  uint64_t time_ns)
{
	return (struct merge_item){
		.event = {.action = action,
			  .categories = BLKBOX_CAT_WRITE,
			  .device = device,
			  .sector = sector,
			  .bytes = 512,
			  .time_ns = time_ns},
	};
}

static void feed(struct track *track, uint16_t action, uint32_t device, uint64_t sector,
		 uint64_t time_ns)
{
	struct merge_item item = write_of(action, device, sector, time_ns);

	cr_assert_eq(track_event(track, &item), 0);
}

/* LOSS-SEQ-GAPS: what was open when events went missing is over, and counted. */
Test(ios, a_gap_in_the_numbers_ends_what_is_open)
{
	TRACE(&t, .protocol = 2, .act = 'Q', .rwbs = "W", .sector = 8, .bytes = 4096, .t = 1);
	TRACE(&t, .protocol = 2, .act = 'D', .rwbs = "W", .sector = 8, .bytes = 4096, .t = 2);
	t.skipped = 5;
	TRACE(&t, .protocol = 2, .act = 'Q', .rwbs = "W", .sector = 99, .bytes = 4096, .t = 8);
	TRACE(&t, .protocol = 2, .act = 'C', .rwbs = "W", .sector = 8, .bytes = 4096, .t = 9);
	cr_assert_eq(run(), 0);
	cr_assert_eq(n_whole, 0);
	cr_assert_eq(counts.unmatched_issues, 1);
	cr_assert_eq(counts.unmatched_ios, 1);
	cr_assert_eq(counts.unmatched_completions, 1);
	cr_assert_eq(counts.open_ios_at_end, 1);
	cr_assert_eq(counts.in_flight_at_end, 0);
}

/* In flight over a loss that is dated: its times are not to be trusted. */
Test(ios, a_dated_loss_touches_what_it_falls_into)
{
	const struct recording_loss loss = {
		.device = 8 << 20, .cpu = LOG_NO_CPU, .from_ns = 10, .to_ns = 20, .count = 1};
	const struct track_ops keep = {.io = keep_io};
	struct track *track;

	cr_assert_eq(track_create(&keep, NULL, &track), 0);
	cr_assert_eq(track_set_losses(track, &loss, 1), 0);
	feed(track, BLKBOX_ISSUE, 8 << 20, 0, 15);
	feed(track, BLKBOX_COMPLETE, 8 << 20, 0, 18);
	feed(track, BLKBOX_ISSUE, 8 << 20, 8, 30);
	feed(track, BLKBOX_COMPLETE, 8 << 20, 8, 31);
	cr_assert_geq(n_whole, 1);
	cr_assert(io_is_measured(&whole[n_whole - 1]));
	for (size_t i = 0; i + 1 < n_whole; i++)
		cr_assert_not(io_is_measured(&whole[i]));
	track_destroy(track);
}

/* Streams of blkparse -d begin at 0: their first event was seen all the same. */
Test(ios, an_event_at_0_was_seen)
{
	TRACE(&t, .act = 'Q', .rwbs = "W", .sector = 8, .bytes = 4096, .pid = 5);
	TRACE(&t, .act = 'D', .rwbs = "W", .sector = 8, .bytes = 4096, .pid = 6, .t = 1);
	TRACE(&t, .act = 'C', .rwbs = "W", .sector = 8, .bytes = 4096, .t = 5);
	cr_assert_eq(run(), 1);
	cr_assert_eq(n_whole, 1);
	cr_assert_eq(whole[0].owner.pid, 5);
	cr_assert_neq(whole[0].times.queued_ns, 0);
	cr_assert_leq(whole[0].times.queued_ns, 1);
}

/* The one that has to go may be of a device that was never issued to. */
Test(ios, the_oldest_makes_room_for_an_issue_on_another_device)
{
	const uint32_t sda = 8 << 20, dm = 253 << 20;
	const struct track_ops none = {0};
	struct track *track;

	cr_assert_eq(track_create(&none, NULL, &track), 0);
	feed(track, BLKBOX_QUEUE, dm, 0, 1);
	feed(track, BLKBOX_ISSUE, sda, 0, 2);
	for (uint64_t i = 1; i < TRACK_OPEN_MAX - 1; i++)
		feed(track, BLKBOX_QUEUE, dm, i, 2 + i);
	feed(track, BLKBOX_ISSUE, sda, 8, TRACK_OPEN_MAX + 2);
	cr_assert_eq(track_now(track, 0, sda)->issued, 2);
	track_destroy(track);
}

/* Clocks of two CPUs that differ must not make an I/O of 584 years. */
Test(ios, times_that_are_not_in_order_are_no_latency)
{
	const struct track_ops keep = {.io = keep_io};
	struct track *track;

	cr_assert_eq(track_create(&keep, NULL, &track), 0);
	feed(track, BLKBOX_ISSUE, 0, 0, 1000);
	feed(track, BLKBOX_COMPLETE, 0, 0, 900);
	cr_assert_eq(n_whole, 1);
	cr_assert(whole[0].inverted);
	cr_assert_not(io_is_measured(&whole[0]));
	track_destroy(track);
}
