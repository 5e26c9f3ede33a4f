/* SPDX-License-Identifier: MIT */
#include "track_run.h"

#include <errno.h>

#define T(...) TRACE(&run.t, __VA_ARGS__)
#define KIB    1024

static struct run run;

static void set_up(void)
{
	run = (struct run){0};
}

static void tear_down(void)
{
	run_free(&run);
}

TestSuite(track, .init = set_up, .fini = tear_down);

/* The one value of a stage. */
static uint64_t only(const struct stats_group *group, enum stats_stage stage)
{
	cr_assert_eq(run_n(group, stage), 1, "%s: %lu", stats_stage_name(stage),
		     (unsigned long)run_n(group, stage));
	return group->stages[stage]->max;
}

/* SEM-MERGE-DOUBLE, SEM-REPLAY-Q-VS-D */
Test(track, a_merged_bio_counts_once)
{
	const struct stats_group *w;

	T(.act = 'Q', .rwbs = "W", .sector = 0, .bytes = 4 * KIB, .pid = 5, .t = 1);
	T(.act = 'G', .rwbs = "W", .sector = 0, .bytes = 4 * KIB, .pid = 5, .t = 2);
	T(.act = 'Q', .rwbs = "W", .sector = 8, .bytes = 4 * KIB, .pid = 6, .t = 3);
	T(.act = 'M', .rwbs = "W", .sector = 8, .bytes = 4 * KIB, .pid = 6, .t = 4);
	T(.act = 'I', .rwbs = "W", .sector = 0, .bytes = 8 * KIB, .t = 5);
	T(.act = 'D', .rwbs = "W", .sector = 0, .bytes = 8 * KIB, .t = 10);
	T(.act = 'C', .rwbs = "W", .sector = 0, .bytes = 8 * KIB, .t = 20);
	run_trace(&run);
	w = run_operation(&run, OPERATION_WRITE);
	cr_assert_eq(w->queued, 2);
	cr_assert_eq(w->queued_bytes, 8 * KIB);
	cr_assert_eq(w->issued, 1);
	cr_assert_eq(w->issued_bytes, 8 * KIB);
	cr_assert_eq(w->ios, 2);
	cr_assert_eq(w->bytes, 8 * KIB);
	cr_assert_eq(w->requests, 1);
	cr_assert_eq(w->merges[TRACK_BACK], 1);
	cr_assert_eq(w->merged_bytes, 4 * KIB);
	cr_assert_eq(w->merges[TRACK_UNANNOUNCED], 0);
	cr_assert_eq(only(w, STAGE_Q2G), 1000);
	cr_assert_eq(only(w, STAGE_G2I), 3000);
	cr_assert_eq(only(w, STAGE_I2D), 5000);
	cr_assert_eq(only(w, STAGE_Q2M), 1000);
	cr_assert_eq(only(w, STAGE_M2D), 6000);
	cr_assert_eq(run_n(w, STAGE_D2C), 2);
	cr_assert_eq(run_n(w, STAGE_Q2C), 2);
	cr_assert_eq(w->stages[STAGE_Q2C]->min, 17000);
	cr_assert_eq(w->stages[STAGE_Q2C]->max, 19000);
	cr_assert_eq(only(w, STAGE_REQUEST_D2C), 10000);
}

Test(track, merges_that_nobody_announced)
{
	const struct stats_group *w;

	for (int i = 0; i < 3; i++)
		T(.act = 'Q', .rwbs = "W", .sector = 8 * i, .bytes = 4 * KIB, .pid = 5, .t = 1 + i);
	T(.act = 'D', .rwbs = "W", .sector = 0, .bytes = 12 * KIB, .t = 10);
	T(.act = 'C', .rwbs = "W", .sector = 0, .bytes = 12 * KIB, .t = 20);
	run_trace(&run);
	w = run_operation(&run, OPERATION_WRITE);
	cr_assert_eq(w->ios, 3);
	cr_assert_eq(w->requests, 1);
	cr_assert_eq(w->merges[TRACK_UNANNOUNCED], 2);
	cr_assert_eq(run_n(w, STAGE_D2C), 3);
	cr_assert_eq(w->no_queue, 0);
}

/* A front merge, then two requests that become one. */
Test(track, front_and_request_merges)
{
	const struct stats_group *w;

	T(.act = 'Q', .rwbs = "W", .sector = 8, .bytes = 4 * KIB, .pid = 1, .t = 1);
	T(.act = 'G', .rwbs = "W", .sector = 8, .bytes = 4 * KIB, .pid = 1, .t = 2);
	T(.act = 'Q', .rwbs = "W", .sector = 16, .bytes = 4 * KIB, .pid = 2, .t = 3);
	T(.act = 'G', .rwbs = "W", .sector = 16, .bytes = 4 * KIB, .pid = 2, .t = 4);
	T(.act = 'Q', .rwbs = "W", .sector = 0, .bytes = 4 * KIB, .pid = 3, .t = 5);
	T(.act = 'F', .rwbs = "W", .sector = 0, .bytes = 4 * KIB, .pid = 3, .t = 6);
	T(.act = 'M', .rwbs = "W", .sector = 16, .bytes = 4 * KIB, .t = 7,
	  .more_categories = BLKBOX_CAT_FS);
	T(.act = 'D', .rwbs = "W", .sector = 0, .bytes = 12 * KIB, .t = 10);
	T(.act = 'C', .rwbs = "W", .sector = 0, .bytes = 12 * KIB, .t = 20);
	run_trace(&run);
	w = run_operation(&run, OPERATION_WRITE);
	cr_assert_eq(w->merges[TRACK_FRONT], 1);
	cr_assert_eq(w->merges[TRACK_REQUEST], 1);
	cr_assert_eq(w->merges[TRACK_BACK], 0);
	cr_assert_eq(w->merges[TRACK_UNANNOUNCED], 0);
	cr_assert_eq(w->ios, 3);
	cr_assert_eq(run.requests[0].owner.pid, 1);
	cr_assert_eq(run.requests[0].pieces, 3);
}

/* SEM-CHAINED-BIO: only the second part completes. */
Test(track, a_chained_bio_is_partial)
{
	const struct stats_group *r;

	T(.act = 'Q', .rwbs = "R", .sector = 100, .bytes = 64 * 512, .t = 1);
	T(.act = 'X', .rwbs = "R", .sector = 100, .bytes = 32 * 512, .number = 132, .t = 2);
	T(.act = 'C', .rwbs = "R", .sector = 132, .bytes = 32 * 512, .t = 5);
	run_trace(&run);
	r = run_operation(&run, OPERATION_READ);
	cr_assert_eq(r->splits, 1);
	cr_assert_eq(r->ios, 0);
	cr_assert_eq(r->ended[TRACK_END_IN_FLIGHT], 1);
	cr_assert_eq(r->ended_bytes[TRACK_END_IN_FLIGHT], 32 * 512);
	cr_assert_eq(r->partial, 1);
	cr_assert_eq(run_n(r, STAGE_Q2C), 0);
	cr_assert_eq(run.n_strays[TRACK_STRAY_EARLY], 0);
}

/* SEM-SPLIT-UNTRACED: with the split event and without, the last piece first. */
static void split(bool told)
{
	const struct stats_group *w;

	T(.act = 'Q', .rwbs = "W", .sector = 0, .bytes = 2048 * 512, .pid = 9, .t = 1);
	if (told)
		T(.act = 'X', .rwbs = "W", .sector = 0, .bytes = 1024 * 512, .number = 1024,
		  .t = 2);
	T(.act = 'D', .rwbs = "W", .sector = 0, .bytes = 1024 * 512, .t = 3);
	T(.act = 'D', .rwbs = "W", .sector = 1024, .bytes = 1024 * 512, .t = 4);
	T(.act = 'C', .rwbs = "W", .sector = 1024, .bytes = 1024 * 512, .t = 10);
	T(.act = 'C', .rwbs = "W", .sector = 0, .bytes = 1024 * 512, .t = 30);
	run_trace(&run);
	w = run_operation(&run, OPERATION_WRITE);
	cr_assert_eq(w->ios, 1);
	cr_assert_eq(w->bytes, 2048 * 512);
	cr_assert_eq(w->requests, 2);
	cr_assert_eq(run.ios[0].pieces, 2);
	cr_assert_eq(run.ios[0].owner.pid, 9);
	cr_assert_eq(only(w, STAGE_Q2C), 29000);
	cr_assert_eq(run_n(w, STAGE_D2C), 2);
	cr_assert_eq(w->stages[STAGE_D2C]->min, 6000);
	cr_assert_eq(w->stages[STAGE_D2C]->max, 27000);
	cr_assert_eq(w->no_queue, 0);
}

Test(track, a_split_bio_ends_with_its_last_piece)
{
	split(true);
}

Test(track, a_split_that_was_not_told)
{
	split(false);
}

/* The second half is issued first, and no split was told. */
Test(track, a_piece_from_the_middle)
{
	T(.act = 'Q', .rwbs = "R", .sector = 0, .bytes = 16 * 512, .pid = 9, .t = 1);
	T(.act = 'D', .rwbs = "R", .sector = 8, .bytes = 8 * 512, .t = 3);
	T(.act = 'D', .rwbs = "R", .sector = 0, .bytes = 8 * 512, .t = 4);
	T(.act = 'C', .rwbs = "R", .sector = 0, .bytes = 8 * 512, .t = 10);
	T(.act = 'C', .rwbs = "R", .sector = 8, .bytes = 8 * 512, .t = 30);
	run_trace(&run);
	cr_assert_eq(run.n_ios, 1);
	cr_assert_eq(run.ios[0].pieces, 2);
	cr_assert_eq(run.ios[0].times.completed_ns, 30000);
	cr_assert_eq(run.n_pieces, 2);
}

/* SEM-PARTIAL-COMPLETE */
Test(track, a_request_that_completes_in_parts)
{
	const struct stats_group *r;

	T(.act = 'D', .rwbs = "R", .sector = 0, .bytes = 64 * 512, .t = 1);
	T(.act = 'C', .rwbs = "R", .sector = 0, .bytes = 16 * 512, .t = 5);
	T(.act = 'C', .rwbs = "R", .sector = 16, .bytes = 48 * 512, .t = 21);
	run_trace(&run);
	r = run_operation(&run, OPERATION_READ);
	cr_assert_eq(r->ios, 1);
	cr_assert_eq(r->bytes, 64 * 512);
	cr_assert_eq(r->requests, 1);
	cr_assert_eq(r->no_queue, 1);
	cr_assert_eq(only(r, STAGE_D2C), 20000);
	cr_assert_eq(run.ios[0].times.first_completed_ns, 5000);
}

/* SEM-REQUEUE-LATENCY: service 10, since the first issue 60. */
Test(track, requeues_have_two_latencies)
{
	const struct stats_group *r;

	T(.act = 'Q', .rwbs = "R", .sector = 8, .bytes = 4 * KIB, .pid = 3, .t = 90);
	T(.act = 'D', .rwbs = "R", .sector = 8, .bytes = 4 * KIB, .t = 100);
	T(.act = 'R', .rwbs = "R", .sector = 8, .bytes = 4 * KIB, .t = 110);
	T(.act = 'D', .rwbs = "R", .sector = 8, .bytes = 4 * KIB, .t = 150);
	T(.act = 'C', .rwbs = "R", .sector = 8, .bytes = 4 * KIB, .t = 160);
	run_trace(&run);
	r = run_operation(&run, OPERATION_READ);
	cr_assert_eq(r->requeues, 1);
	cr_assert_eq(r->issued, 1);
	cr_assert_eq(r->issued_bytes, 4 * KIB);
	cr_assert_eq(only(r, STAGE_D2C), 10000);
	cr_assert_eq(only(r, STAGE_FIRST_D2C), 60000);
	cr_assert_eq(only(r, STAGE_Q2C), 70000);
	cr_assert_eq(r->share_ns[SHARE_REQUEUE], 50000);
	cr_assert_eq(r->share_ns[SHARE_D2C], 10000);
	cr_assert_eq(r->share_ns[SHARE_Q2D], 10000);
}

/* A part was done when the rest was given back. */
Test(track, the_rest_is_requeued)
{
	T(.act = 'Q', .rwbs = "R", .sector = 0, .bytes = 64 * 512, .pid = 3, .t = 1);
	T(.act = 'D', .rwbs = "R", .sector = 0, .bytes = 64 * 512, .t = 2);
	T(.act = 'C', .rwbs = "R", .sector = 0, .bytes = 16 * 512, .t = 5);
	T(.act = 'R', .rwbs = "R", .sector = 16, .bytes = 48 * 512, .t = 6);
	T(.act = 'D', .rwbs = "R", .sector = 16, .bytes = 48 * 512, .t = 7);
	T(.act = 'C', .rwbs = "R", .sector = 16, .bytes = 48 * 512, .t = 9);
	run_trace(&run);
	cr_assert_eq(run.n_ios, 1);
	cr_assert_eq(run.ios[0].done_bytes, 64 * 512);
	cr_assert_eq(run.ios[0].requeues, 1);
	cr_assert_eq(run.n_ended, 0);
}

/* SEM-REUSED-SECTOR: the completion of a read is no write's. */
Test(track, operations_do_not_mix)
{
	const struct stats_group *w;

	T(.act = 'D', .rwbs = "W", .sector = 0, .bytes = 16 * 512, .t = 1);
	T(.act = 'C', .rwbs = "R", .sector = 0, .bytes = 16 * 512, .t = 90e6);
	run_trace(&run);
	w = run_operation(&run, OPERATION_WRITE);
	cr_assert_eq(w->ios, 0);
	cr_assert_eq(w->ended[TRACK_END_IN_FLIGHT], 1);
	cr_assert_eq(w->ended_requests[TRACK_END_IN_FLIGHT], 1);
	cr_assert_eq(run_operation(&run, OPERATION_READ)->ios, 0);
	cr_assert_eq(run.n_strays[TRACK_STRAY_EARLY], 1);
}

Test(track, a_place_that_is_written_again_was_done_before)
{
	const struct stats_group *w;

	T(.act = 'Q', .rwbs = "W", .sector = 0, .bytes = 16 * 512, .pid = 1, .t = 1);
	T(.act = 'D', .rwbs = "W", .sector = 0, .bytes = 16 * 512, .t = 2);
	T(.act = 'Q', .rwbs = "W", .sector = 0, .bytes = 16 * 512, .pid = 2, .t = 100);
	T(.act = 'D', .rwbs = "W", .sector = 0, .bytes = 16 * 512, .t = 101);
	T(.act = 'C', .rwbs = "W", .sector = 0, .bytes = 16 * 512, .t = 105);
	run_trace(&run);
	w = run_operation(&run, OPERATION_WRITE);
	cr_assert_eq(w->ios, 1);
	cr_assert_eq(w->ended[TRACK_END_REUSED], 1);
	cr_assert_eq(only(w, STAGE_Q2C), 5000);
	cr_assert_eq(run.ios[0].owner.pid, 2);
}

/* Two readers of one place: both are right. After so long it cannot be. */
Test(track, reads_of_one_place)
{
	const struct stats_group *r;

	for (int i = 0; i < 2; i++)
		T(.act = 'Q', .rwbs = "R", .sector = 8, .bytes = 4 * KIB, .pid = 1 + i, .t = 1 + i);
	for (int i = 0; i < 2; i++)
		T(.act = 'D', .rwbs = "R", .sector = 8, .bytes = 4 * KIB, .t = 3 + i);
	for (int i = 0; i < 2; i++)
		T(.act = 'C', .rwbs = "R", .sector = 8, .bytes = 4 * KIB, .t = 10 + i);
	T(.act = 'Q', .rwbs = "R", .sector = 8, .bytes = 4 * KIB, .pid = 3, .t = 100);
	T(.act = 'D', .rwbs = "R", .sector = 8, .bytes = 4 * KIB, .t = 101);
	T(.act = 'Q', .rwbs = "R", .sector = 8, .bytes = 4 * KIB, .pid = 4, .t = 40e6);
	T(.act = 'D', .rwbs = "R", .sector = 8, .bytes = 4 * KIB, .t = 40e6 + 1);
	T(.act = 'C', .rwbs = "R", .sector = 8, .bytes = 4 * KIB, .t = 40e6 + 5);
	run_trace(&run);
	r = run_operation(&run, OPERATION_READ);
	cr_assert_eq(r->ios, 3);
	cr_assert_eq(r->ended[TRACK_END_REUSED], 1);
	cr_assert_eq(r->stages[STAGE_Q2C]->max, 9000);
	cr_assert_eq(r->stages[STAGE_D2C]->max, 7000);
}

/* SEM-UNPLUG */
Test(track, plugs_and_unplugs_without_a_partner)
{
	const struct stats_plugs *p;

	T(.act = 'P', .pid = 1, .t = 1);
	T(.act = 'T', .pid = 1, .number = 3, .t = 4);
	T(.act = 'U', .pid = 2, .number = 1, .t = 5);
	T(.act = 'U', .pid = 1, .number = 1, .t = 6);
	T(.act = 'P', .pid = 3, .t = 7);
	run_trace(&run);
	p = &run.result->devices[0].plugs;
	cr_assert_eq(p->plugs, 2);
	cr_assert_eq(p->unplugs, 2);
	cr_assert_eq(p->timer_unplugs, 1);
	cr_assert_eq(p->no_plug, 2);
	cr_assert_eq(p->no_unplug, 1);
	cr_assert_eq(p->plugged_ns.n, 1);
	cr_assert_eq(p->plugged_ns.max, 3000);
	cr_assert_eq((uint64_t)p->requests.sum, 2);
	cr_assert_eq((uint64_t)p->timer_requests.sum, 3);
}

enum {
	TOP = 253 << 20 | 1,
	MIDDLE = 253 << 20,
	DISK = 8 << 20,
	PARTITION = 8 << 20 | 1,
};

/* SEM-REMAP-CHAIN, SEM-CRYPT-HIDES, SEM-PARTITION-OFFSET: all levels are traced. */
Test(track, remaps_are_followed_to_the_top)
{
	const struct track_io *disk = NULL;

	T(.act = 'Q', .rwbs = "W", .sector = 10, .bytes = 4 * KIB, .pid = 77, .t = 1,
	  .device = TOP);
	T(.act = 'A', .rwbs = "W", .sector = 110, .bytes = 4 * KIB, .pid = 5, .t = 2,
	  .device = MIDDLE, .from_device = TOP, .from_sector = 10);
	T(.act = 'Q', .rwbs = "W", .sector = 110, .bytes = 4 * KIB, .pid = 5, .t = 3,
	  .device = MIDDLE);
	/* To the partition, and from there to the disk. */
	T(.act = 'A', .rwbs = "W", .sector = 210, .bytes = 4 * KIB, .pid = 6, .t = 4,
	  .device = DISK, .from_device = MIDDLE, .from_sector = 110);
	T(.act = 'A', .rwbs = "W", .sector = 2258, .bytes = 4 * KIB, .pid = 6, .t = 5,
	  .device = DISK, .from_device = PARTITION, .from_sector = 210);
	T(.act = 'Q', .rwbs = "W", .sector = 2258, .bytes = 4 * KIB, .pid = 6, .t = 6,
	  .device = DISK);
	T(.act = 'D', .rwbs = "W", .sector = 2258, .bytes = 4 * KIB, .pid = 6, .t = 7,
	  .device = DISK);
	T(.act = 'C', .rwbs = "W", .sector = 2258, .bytes = 4 * KIB, .t = 17, .device = DISK);
	T(.act = 'C', .rwbs = "W", .sector = 110, .bytes = 4 * KIB, .t = 18, .device = MIDDLE);
	T(.act = 'C', .rwbs = "W", .sector = 10, .bytes = 4 * KIB, .t = 19, .device = TOP);
	run_trace(&run);
	cr_assert_eq(run.n_ios, 3);
	for (size_t i = 0; i < 3; i++) {
		cr_assert_eq(run.ios[i].owner.pid, 77);
		if (run.ios[i].device == DISK)
			disk = &run.ios[i];
	}
	cr_assert_not_null(disk);
	cr_assert_eq(disk->n_levels, 3);
	cr_assert_eq(disk->levels[0].device, PARTITION);
	cr_assert_eq(disk->levels[0].sector, 210);
	cr_assert_eq(disk->levels[1].device, MIDDLE);
	cr_assert_eq(disk->levels[1].sector, 110);
	cr_assert_eq(disk->levels[2].device, TOP);
	cr_assert_eq(disk->levels[2].sector, 10);
	/* The process is charged once, not at every level. */
	cr_assert_eq(run.result->processes.n, 1);
	cr_assert_eq(run.result->processes.items[0]->ios, 1);
	for (size_t i = 0; i < 3; i++) {
		const struct stats_device *d = &run.result->devices[i];

		cr_assert_eq(run_n(&d->all, STAGE_Q2C), 1);
		cr_assert_eq(run_n(&d->all, STAGE_D2C), d->device == DISK);
		cr_assert_eq(run_n(&d->all, STAGE_Q2A), d->device != TOP);
	}
}

/* SEM-NVME-MULTIPATH: the path has no queue event. */
Test(track, a_path_without_queue_events)
{
	T(.act = 'A', .rwbs = "R", .sector = 8, .bytes = 4 * KIB, .pid = 5, .t = 2, .device = DISK,
	  .from_device = TOP, .from_sector = 8);
	T(.act = 'G', .rwbs = "R", .sector = 8, .bytes = 4 * KIB, .pid = 5, .t = 3, .device = DISK);
	T(.act = 'D', .rwbs = "R", .sector = 8, .bytes = 4 * KIB, .pid = 5, .t = 4, .device = DISK);
	T(.act = 'C', .rwbs = "R", .sector = 8, .bytes = 4 * KIB, .t = 14, .device = DISK);
	run_trace(&run);
	cr_assert_eq(run.n_ios, 1);
	cr_assert_eq(run.ios[0].owner.pid, 5);
	cr_assert_eq(run.ios[0].levels[0].device, TOP);
	cr_assert_eq(run.ios[0].times.queued_ns, 0);
	cr_assert_eq(only(run_operation(&run, OPERATION_READ), STAGE_G2D), 1000);
}

/* SEM-DISCARD: lengths near 4 GiB; its own class. */
Test(track, discards_are_their_own_class)
{
	const struct stats_group *d;

	T(.act = 'Q', .rwbs = "D", .sector = 0, .bytes = 0xfffffe00, .t = 1);
	T(.act = 'D', .rwbs = "D", .sector = 0, .bytes = 0xfffffe00, .t = 2);
	T(.act = 'C', .rwbs = "D", .sector = 0, .bytes = 0xfffffe00, .t = 3);
	T(.act = 'Q', .rwbs = "D", .sector = 8388607, .bytes = 0xfffffe00, .t = 4);
	T(.act = 'Q', .rwbs = "D", .sector = 16777214, .bytes = 1 << 20, .t = 5);
	T(.act = 'M', .rwbs = "D", .sector = 16777214, .bytes = 1 << 20, .t = 6);
	T(.act = 'D', .rwbs = "D", .sector = 8388607, .bytes = 0xfffffe00, .t = 7);
	T(.act = 'C', .rwbs = "D", .sector = 8388607, .bytes = 0xfffffe00, .t = 8);
	run_trace(&run);
	d = run_operation(&run, OPERATION_DISCARD);
	cr_assert_eq(d->ios, 2);
	cr_assert_eq(d->bytes, 2 * UINT64_C(0xfffffe00));
	cr_assert_null(run.result->devices[0].operations[OPERATION_WRITE]);
	cr_assert_eq(run.result->devices[0].series.buckets[0].bytes[SERIES_WRITE], 0);
}

/* FMT-EMPTY-REQUEST: fsync on a disk with a cache. */
Test(track, flushes_are_their_own_class)
{
	const struct stats_device *device;
	const struct stats_group *f;

	T(.act = 'Q', .rwbs = "FWS", .pid = 4, .t = 1, .sector = UINT64_MAX);
	T(.act = 'G', .rwbs = "FWS", .pid = 4, .t = 2, .sector = UINT64_MAX);
	T(.act = 'D', .rwbs = "FN", .pid = 9, .t = 3);
	T(.act = 'C', .rwbs = "FN", .t = 10);
	T(.act = 'C', .rwbs = "WS", .t = 11, .more_categories = BLKBOX_CAT_FS);
	run_trace(&run);
	f = run_operation(&run, OPERATION_FLUSH);
	cr_assert_eq(f->ios, 1);
	cr_assert_eq(only(f, STAGE_Q2C), 10000);
	cr_assert_eq(only(f, STAGE_REQUEST_D2C), 7000);
	cr_assert_eq(run.ios[0].owner.pid, 4);
	cr_assert_eq(run.ios[0].sector, UINT64_MAX);
	device = &run.result->devices[0];
	cr_assert_eq(device->queue_seek.distance.n, 0);
	cr_assert_eq(device->issue_seek.distance.n, 0);
	cr_assert_eq(run.n_ended, 0);
}

/* A journal's commit: flush, data, flush. Its bio ends with the empty completion. */
Test(track, a_write_with_flushes_around_it)
{
	const struct stats_group *w;

	T(.act = 'Q', .rwbs = "FWFS", .sector = 64, .bytes = KIB, .pid = 4, .t = 1);
	T(.act = 'G', .rwbs = "FWFS", .sector = 64, .bytes = KIB, .pid = 4, .t = 2);
	T(.act = 'D', .rwbs = "FN", .t = 3);
	T(.act = 'C', .rwbs = "FN", .t = 10);
	T(.act = 'D', .rwbs = "WS", .sector = 64, .bytes = KIB, .t = 11,
	  .more_categories = BLKBOX_CAT_FS);
	T(.act = 'C', .rwbs = "WS", .sector = 64, .bytes = KIB, .t = 20);
	T(.act = 'D', .rwbs = "FN", .t = 21);
	T(.act = 'C', .rwbs = "FN", .t = 30);
	T(.act = 'C', .rwbs = "WS", .sector = 64, .t = 31, .more_categories = BLKBOX_CAT_FS);
	run_trace(&run);
	w = run_operation(&run, OPERATION_WRITE);
	cr_assert_eq(w->ios, 1);
	cr_assert_eq(only(w, STAGE_Q2C), 30000);
	cr_assert_eq(only(w, STAGE_D2C), 9000);
	cr_assert_eq(w->share_ns[SHARE_FLUSH], 11000);
	cr_assert_eq(run_n(run_operation(&run, OPERATION_FLUSH), STAGE_REQUEST_D2C), 2);
}

/* FMT-PASSTHROUGH */
Test(track, passthrough_is_its_own_class)
{
	const struct stats_group *p;

	for (int i = 0; i < 3; i++) {
		T(.act = 'D', .rwbs = "RV", .bytes = 36 + 60 * i, .pid = 4, .t = 1 + i);
		T(.act = 'Q', .rwbs = "R", .sector = 0, .bytes = 4 * KIB, .t = 1.5 + i);
	}
	for (int i = 2; i >= 0; i--)
		T(.act = 'C', .rwbs = "RV", .bytes = 36 + 60 * i, .t = 12 - i);
	run_trace(&run);
	p = run_operation(&run, OPERATION_PASSTHROUGH);
	cr_assert_eq(p->issued, 3);
	cr_assert_eq(p->requests, 3);
	cr_assert_eq(run_n(p, STAGE_D2C), 3);
	cr_assert_eq(p->stages[STAGE_D2C]->max, 11000);
	cr_assert_eq(run_n(&run.result->devices[0].all, STAGE_D2C), 0);
}

/* FMT-ERROR-FIELD: failed I/Os are counted, and have no latency. */
Test(track, failures_are_no_latencies)
{
	const struct stats_group *r;

	for (int i = 0; i < 3; i++) {
		T(.act = 'Q', .rwbs = "R", .sector = 8 * i, .bytes = 4 * KIB, .t = 1 + 10 * i);
		T(.act = 'D', .rwbs = "R", .sector = 8 * i, .bytes = 4 * KIB, .t = 2 + 10 * i);
		T(.act = 'C', .rwbs = "R", .sector = 8 * i, .bytes = 4 * KIB, .t = 5 + 10 * i,
		  .error = i == 1 ? -5 : 0);
	}
	run_trace(&run);
	r = run_operation(&run, OPERATION_READ);
	cr_assert_eq(r->ios, 2);
	cr_assert_eq(r->errors, 1);
	cr_assert_eq(run_n(r, STAGE_Q2C), 2);
	cr_assert_eq(run_n(r, STAGE_D2C), 2);
}

/* LOSS-HIGH-RATE-PAIR: 1000 D, every 7th C removed. */
Test(track, what_is_matched_and_what_is_not)
{
	const struct stats_group *r;

	for (int i = 0; i < 1000; i++) {
		T(.act = 'D', .rwbs = "R", .sector = 8 * i, .bytes = 4 * KIB, .t = 10 * i + 1);
		if (i % 7 != 6)
			T(.act = 'C', .rwbs = "R", .sector = 8 * i, .bytes = 4 * KIB,
			  .t = 10 * i + 6);
	}
	T(.act = 'C', .rwbs = "R", .sector = 99999, .bytes = 4 * KIB, .t = 10000);
	run_trace(&run);
	r = run_operation(&run, OPERATION_READ);
	cr_assert_eq(run_n(r, STAGE_D2C), 858);
	cr_assert_eq(r->stages[STAGE_D2C]->max, 5000);
	cr_assert_eq(r->ended_requests[TRACK_END_IN_FLIGHT], 142);
	cr_assert_eq(r->strays[TRACK_STRAY_EARLY], 1);
}

/* STAT-LVM-NOTHING */
Test(track, a_device_without_issues)
{
	T(.act = 'Q', .rwbs = "W", .sector = 8, .bytes = 4 * KIB, .t = 1, .device = MIDDLE);
	T(.act = 'C', .rwbs = "W", .sector = 8, .bytes = 4 * KIB, .t = 9, .device = MIDDLE);
	run_trace(&run);
	cr_assert_not(run.result->devices[0].has_issue);
	cr_assert(run.result->devices[0].bio_based);
	cr_assert_eq(only(run_operation(&run, OPERATION_WRITE), STAGE_Q2C), 8000);
	cr_assert_eq(run_n(run_operation(&run, OPERATION_WRITE), STAGE_D2C), 0);
	cr_assert_eq(run.result->devices[0].depth.busy_ns, 8000);
}

/* NAME-KWORKER: who queued it, not who issued it. Writeback is nobody's. */
Test(track, owners)
{
	const struct stats_groups *p;

	T(.act = 'n', .text = "dd", .pid = 100, .t = 0);
	T(.act = 'n', .text = "kworker/u4:2", .pid = 7, .t = 0);
	T(.act = 'n', .text = "jbd2/sda1-8", .pid = 8, .t = 0);
	for (int i = 0; i < 3; i++) {
		uint32_t pid = i == 0 ? 100 : 6 + i;

		T(.act = 'Q', .rwbs = "W", .sector = 8 * i, .bytes = 4 * KIB, .pid = pid,
		  .t = 1 + 10 * i);
		T(.act = 'D', .rwbs = "W", .sector = 8 * i, .bytes = 4 * KIB, .pid = 7,
		  .t = 2 + 10 * i);
		T(.act = 'C', .rwbs = "W", .sector = 8 * i, .bytes = 4 * KIB, .pid = 0,
		  .t = 5 + 10 * i);
	}
	run_trace(&run);
	p = &run.result->processes;
	cr_assert_eq(p->n, 3);
	cr_assert_eq(p->items[0]->owner, OWNER_PROCESS);
	cr_assert_str_eq(p->items[0]->comm, "dd");
	cr_assert_eq(p->items[1]->owner, OWNER_WRITEBACK);
	cr_assert_eq(p->items[2]->owner, OWNER_KERNEL_THREAD);
	cr_assert_str_eq(p->items[2]->comm, "jbd2/sda1-8");
}

/* FMT-CGROUP-BIT */
Test(track, cgroups)
{
	for (int i = 0; i < 4; i++) {
		T(.act = 'Q', .rwbs = "W", .sector = 8 * i, .bytes = 4 * KIB, .t = 1 + 10 * i,
		  .cgroup = i % 2 ? 4711 : 0);
		T(.act = 'D', .rwbs = "W", .sector = 8 * i, .bytes = 4 * KIB, .t = 2 + 10 * i,
		  .cgroup = 1);
		T(.act = 'C', .rwbs = "W", .sector = 8 * i, .bytes = 4 * KIB, .t = 5 + 10 * i);
	}
	run_trace(&run);
	cr_assert_eq(run.result->cgroups.n, 1);
	cr_assert_eq(run.result->cgroups.items[0]->cgroup_id, 4711);
	cr_assert_eq(run.result->cgroups.items[0]->ios, 2);
}

/* Events of a window were lost: what it touches is told, and nothing pairs across it. */
Test(track, pairing_starts_again_behind_a_loss)
{
	static const struct recording_loss loss = {
		.device = DISK, .cpu = LOG_NO_CPU, .from_ns = 100000, .to_ns = 200000, .count = 5};

	run.losses = &loss;
	run.n_losses = 1;
	T(.act = 'D', .rwbs = "R", .sector = 8, .bytes = 4 * KIB, .t = 10);
	T(.act = 'D', .rwbs = "R", .sector = 16, .bytes = 4 * KIB, .t = 20);
	T(.act = 'C', .rwbs = "R", .sector = 16, .bytes = 4 * KIB, .t = 30);
	T(.act = 'D', .rwbs = "R", .sector = 24, .bytes = 4 * KIB, .t = 110);
	T(.act = 'C', .rwbs = "R", .sector = 24, .bytes = 4 * KIB, .t = 120);
	T(.act = 'C', .rwbs = "R", .sector = 8, .bytes = 4 * KIB, .t = 210);
	T(.act = 'D', .rwbs = "R", .sector = 32, .bytes = 4 * KIB, .t = 220);
	T(.act = 'C', .rwbs = "R", .sector = 32, .bytes = 4 * KIB, .t = 230);
	run_trace(&run);
	cr_assert_eq(run.n_ios, 3);
	cr_assert_not(run.ios[0].touched);
	cr_assert(run.ios[1].touched);
	cr_assert_not(run.ios[2].touched);
	cr_assert_eq(run.n_ended, 1);
	cr_assert_eq(run.ends[0], TRACK_END_LOSS);
	cr_assert_eq(run.n_strays[TRACK_STRAY_LOSS], 1);
}

/* The completion has the same time as the issue, and its CPU comes first. */
Test(track, an_issue_that_comes_late)
{
	T(.act = 'Q', .rwbs = "R", .sector = 8, .bytes = 4 * KIB, .t = 1, .cpu = 1);
	T(.act = 'C', .rwbs = "R", .sector = 8, .bytes = 4 * KIB, .t = 5, .cpu = 0,
	  .more_categories = BLKBOX_CAT_FS);
	T(.act = 'D', .rwbs = "R", .sector = 16, .bytes = 4 * KIB, .t = 3, .cpu = 1);
	T(.act = 'D', .rwbs = "R", .sector = 8, .bytes = 4 * KIB, .t = 5, .cpu = 1);
	T(.act = 'C', .rwbs = "R", .sector = 16, .bytes = 4 * KIB, .t = 9, .cpu = 0);
	run_trace(&run);
	cr_assert_eq(run.n_ios, 2);
	cr_assert_eq(run.n_requests, 2);
	cr_assert_eq(run.n_strays[TRACK_STRAY_EARLY], 0);
	cr_assert_not(run.ios[0].inverted);
}

/* MERGE-HUGE: what never completes is given up, and counted. */
Test(track, what_never_completes_ages_out)
{
	T(.act = 'D', .rwbs = "R", .sector = 8, .bytes = 4 * KIB, .t = 1);
	T(.act = 'D', .rwbs = "FN", .t = 2);
	T(.act = 'D', .rwbs = "R", .sector = 16, .bytes = 4 * KIB, .t = 3700e6);
	T(.act = 'C', .rwbs = "R", .sector = 16, .bytes = 4 * KIB, .t = 3701e6);
	run_trace(&run);
	cr_assert_eq(run.n_ios, 1);
	cr_assert_eq(run.n_ended, 1);
	cr_assert_eq(run.ends[0], TRACK_END_AGED);
	cr_assert_eq(run.n_requests_ended, 2);
}

/* A device that is offline refuses requests before they are issued. */
Test(track, what_is_refused_has_failed)
{
	const struct stats_group *w;

	T(.act = 'D', .rwbs = "R", .sector = 512, .bytes = 4 * KIB, .t = 1);
	T(.act = 'C', .rwbs = "R", .sector = 512, .bytes = 4 * KIB, .t = 2);
	for (int i = 0; i < 3; i++) {
		T(.act = 'Q', .rwbs = "W", .sector = 8, .bytes = 4 * KIB, .pid = 5, .t = 10 + i);
		T(.act = 'G', .rwbs = "W", .sector = 8, .bytes = 4 * KIB, .pid = 5, .t = 10.2 + i);
		T(.act = 'C', .rwbs = "W", .sector = 8, .bytes = 4 * KIB, .t = 10.5 + i,
		  .error = -EIO, .more_categories = BLKBOX_CAT_FS);
	}
	/* The flush in front of a write fails: the write is not issued. */
	T(.act = 'Q', .rwbs = "FWS", .sector = 800, .bytes = 4 * KIB, .pid = 6, .t = 20);
	T(.act = 'D', .rwbs = "FN", .sector = 0, .bytes = 0, .t = 21);
	T(.act = 'C', .rwbs = "FN", .sector = 0, .bytes = 0, .t = 22, .error = -EIO,
	  .more_categories = BLKBOX_CAT_FS);
	T(.act = 'C', .rwbs = "WS", .sector = 800, .bytes = 4 * KIB, .t = 23, .error = -EIO,
	  .more_categories = BLKBOX_CAT_FS);
	run_trace(&run);
	w = run_operation(&run, OPERATION_WRITE);
	cr_assert_eq(w->errors, 4);
	cr_assert_eq(w->no_issue, 4);
	cr_assert_eq(w->ended[TRACK_END_REUSED] + w->ended[TRACK_END_IN_FLIGHT], 0);
	cr_assert_eq(w->strays[TRACK_STRAY_EARLY], 0);
	cr_assert_eq(run.result->failed.n, 3);
}
