/* SPDX-License-Identifier: MIT */
/* I/Os that are told one by one. */
#include "track_run.h"

#include <errno.h>
#include <string.h>

enum {
	DISK = 8 << 20,
	TOP = 254 << 20,
	KIB = 1024,
};

static struct run run;

#define T(...) TRACE(&run.t, __VA_ARGS__)

static void set_up(void)
{
	run = (struct run){0};
}

static void tear_down(void)
{
	run_free(&run);
}

TestSuite(stats_ios, .init = set_up, .fini = tear_down);

static void begin(double us, uint64_t sector, const char *rwbs)
{
	T(.act = 'Q', .rwbs = rwbs, .sector = sector, .bytes = 4 * KIB, .pid = 9, .t = us);
	T(.act = 'D', .rwbs = rwbs, .sector = sector, .bytes = 4 * KIB, .pid = 9, .t = us + 1);
}

Test(stats_ios, the_first_failures_are_kept_with_place_and_error)
{
	const struct stats_ios *failed;

	for (int i = 0; i < 5; i++) {
		begin(100 * (i + 1), 1000 + 8 * (uint64_t)i, "W");
		T(.act = 'C', .rwbs = "W", .sector = 1000 + 8 * (uint64_t)i, .bytes = 4 * KIB,
		  .t = 100 * (i + 1) + 10, .error = i ? -EIO : -ENOSPC);
	}
	begin(900, 8, "R");
	T(.act = 'C', .rwbs = "R", .sector = 8, .bytes = 4 * KIB, .t = 907);
	run_trace(&run);
	failed = &run.result->failed;
	cr_assert_eq(failed->n, 3);
	for (size_t i = 0; i < 3; i++) {
		cr_expect_eq(failed->items[i].io.sector, 1000 + 8 * i);
		cr_expect_eq(failed->items[i].io.error, i ? -EIO : -ENOSPC);
		cr_expect_eq(failed->items[i].latency_ns, 10000);
		cr_expect_eq(failed->items[i].io.owner.pid, 9);
	}
	cr_expect_eq(run.result->devices[0].all.errors, 5);
	cr_expect_eq(run.result->slowest.n, 1);
	cr_expect_eq(run.result->unfinished.n, 0);
}

Test(stats_ios, what_hangs_is_told_with_how_long_it_is_open)
{
	const struct stats_ios *open;

	begin(1000, 8, "R");
	T(.act = 'Q', .rwbs = "W", .sector = 64, .bytes = 4 * KIB, .pid = 7, .t = 2000);
	begin(5000, 96, "R");
	begin(5500, 128, "R");
	T(.act = 'Q', .rwbs = "W", .sector = 640, .bytes = 4 * KIB, .pid = 7, .t = 6000);
	run_trace(&run);
	open = &run.result->unfinished;
	cr_assert_eq(open->n, 3);
	cr_expect_eq(open->items[0].io.sector, 8);
	cr_expect_eq(open->items[0].latency_ns, 5000000);
	cr_expect_eq(open->items[0].io.times.issued_ns - open->items[0].io.times.queued_ns, 1000);
	cr_expect_eq(open->items[0].end, TRACK_END_IN_FLIGHT);
	cr_expect_eq(open->items[1].io.sector, 64);
	cr_expect_eq(open->items[1].io.times.issued_ns, 0);
	cr_expect_eq(open->items[2].io.sector, 96);
}

/* What a loss cut off may well have completed. */
Test(stats_ios, what_a_loss_cut_off_does_not_hang)
{
	begin(1000, 8, "R");
	run.t.skipped = 4;
	begin(2000, 64, "R");
	T(.act = 'C', .rwbs = "R", .sector = 64, .bytes = 4 * KIB, .t = 2009);
	run_trace(&run);
	cr_expect_eq(run.result->unfinished.n, 0);
	cr_expect_eq(run.result->devices[0].all.ended[TRACK_END_LOSS], 1);
	/* Protocol v1, too. */
	cr_expect_eq(run.result->devices[0].gap_events, 4);
}

static void through_two(double us, uint64_t sector, int error, bool completes)
{
	T(.act = 'Q', .rwbs = "W", .sector = sector, .bytes = 4 * KIB, .pid = 5, .t = us,
	  .device = TOP);
	T(.act = 'A', .rwbs = "W", .sector = 2048 + sector, .bytes = 4 * KIB, .pid = 5, .t = us + 1,
	  .device = DISK, .from_device = TOP, .from_sector = sector);
	T(.act = 'Q', .rwbs = "W", .sector = 2048 + sector, .bytes = 4 * KIB, .pid = 5, .t = us + 2,
	  .device = DISK);
	T(.act = 'D', .rwbs = "W", .sector = 2048 + sector, .bytes = 4 * KIB, .pid = 5, .t = us + 5,
	  .device = DISK);
	if (!completes)
		return;
	T(.act = 'C', .rwbs = "W", .sector = 2048 + sector, .bytes = 4 * KIB, .t = us + 45,
	  .device = DISK, .error = error);
	T(.act = 'C', .rwbs = "W", .sector = sector, .bytes = 4 * KIB, .t = us + 48, .device = TOP,
	  .error = error);
}

static void expect_pair(const struct stats_ios *ios, uint64_t latency_ns)
{
	cr_assert_eq(ios->n, 1);
	cr_expect_eq(ios->items[0].io.device, TOP);
	cr_expect_eq(ios->items[0].latency_ns, latency_ns);
	cr_assert(ios->items[0].has_below);
	cr_expect_eq(ios->items[0].below.device, DISK);
	cr_expect_eq(ios->items[0].below.sector, 2048 + ios->items[0].io.sector);
	cr_expect_eq(ios->items[0].below.times.issued_ns - ios->items[0].io.times.queued_ns, 5000);
}

Test(stats_ios, an_io_through_stacked_devices_is_one)
{
	through_two(100, 8, 0, true);
	through_two(200, 16, -EIO, true);
	through_two(300, 32, 0, false);
	T(.act = 'P', .t = 1000, .device = DISK);
	run_trace(&run);
	expect_pair(&run.result->slowest, 48000);
	expect_pair(&run.result->failed, 48000);
	cr_expect_eq(run.result->failed.items[0].below.error, -EIO);
	expect_pair(&run.result->unfinished, 700000);
}

/* Nobody else tells of it then. */
Test(stats_ios, a_device_above_without_completions_hides_nothing)
{
	T(.act = 'Q', .rwbs = "W", .sector = 8, .bytes = 4 * KIB, .pid = 5, .t = 100,
	  .device = TOP);
	T(.act = 'A', .rwbs = "W", .sector = 2056, .bytes = 4 * KIB, .pid = 5, .t = 101,
	  .device = DISK, .from_device = TOP, .from_sector = 8);
	T(.act = 'Q', .rwbs = "W", .sector = 2056, .bytes = 4 * KIB, .pid = 5, .t = 102,
	  .device = DISK);
	T(.act = 'D', .rwbs = "W", .sector = 2056, .bytes = 4 * KIB, .t = 105, .device = DISK);
	T(.act = 'C', .rwbs = "W", .sector = 2056, .bytes = 4 * KIB, .t = 145, .device = DISK);
	run_trace(&run);
	cr_assert_eq(run.result->slowest.n, 1);
	cr_expect_eq(run.result->slowest.items[0].io.device, DISK);
}

/* A discard of a terabyte is no throughput, and no sector is behind 2^55. */
Test(stats_ios, data_is_what_was_transferred_and_places_are_possible)
{
	begin(100, 8, "R");
	T(.act = 'C', .rwbs = "R", .sector = 8, .bytes = 4 * KIB, .t = 110);
	T(.act = 'Q', .rwbs = "D", .sector = 64, .bytes = 1 << 30, .t = 120);
	T(.act = 'D', .rwbs = "D", .sector = 64, .bytes = 1 << 30, .t = 121);
	T(.act = 'C', .rwbs = "D", .sector = 64, .bytes = 1 << 30, .t = 130);
	T(.act = 'Q', .rwbs = "W", .sector = UINT64_C(1) << 63, .bytes = 4 * KIB, .t = 140);
	run_trace(&run);
	cr_expect_eq(run.result->devices[0].all.bytes, 4 * KIB + (1 << 30));
	cr_expect_eq(run.result->devices[0].all.data_bytes, 4 * KIB);
	cr_expect_eq(run.result->devices[0].impossible, 1);
	cr_expect_eq(run.result->unfinished.n, 0);
}
