/* SPDX-License-Identifier: MIT */
#include "stats.h"

#include "track_run.h"

#define T(...) TRACE(&run.t, __VA_ARGS__)

static struct run run;

static void set_up(void)
{
	run = (struct run){0};
}

static void tear_down(void)
{
	run_free(&run);
}

TestSuite(stats, .init = set_up, .fini = tear_down);

/* Nothing happens at moment 0, when a machine boots. */
static void begin_read(double us, uint64_t sector)
{
	T(.act = 'Q', .rwbs = "R", .sector = sector, .bytes = 4096, .t = us + 1000);
	T(.act = 'D', .rwbs = "R", .sector = sector, .bytes = 4096, .t = us + 1000);
}

static void end_read(double us, uint64_t sector)
{
	T(.act = 'C', .rwbs = "R", .sector = sector, .bytes = 4096, .t = us + 1000);
}

static void one_read(double queue_us, double complete_us, uint64_t sector)
{
	begin_read(queue_us, sector);
	end_read(complete_us, sector);
}

/* STAT-HISTOGRAM: a request on each border, a class with none, an idle gap of 10 s. */
Test(stats, borders_classes_and_gaps)
{
	const struct stats_group *r;
	const struct stats_depth *depth;
	uint64_t n = 0;
	double at = 0;

	for (int row = 0; row < 20; row++) {
		one_read(at, at + (double)(1u << row), 8);
		at += (double)(1u << row) + 1;
	}
	one_read(at + 10e6, at + 10e6 + 5, 8);
	run_trace(&run);
	r = run_operation(&run, OPERATION_READ);
	for (unsigned row = 0; row < STATS_LOG2_ROWS; row++)
		n += r->log2_us[0][row];
	cr_assert_eq(n, 21);
	for (unsigned row = 1; row <= 20; row++)
		cr_assert_eq(r->log2_us[0][row], row == 3 ? 2 : 1);
	cr_assert_null(run.result->devices[0].operations[OPERATION_WRITE]);
	depth = &run.result->devices[0].depth;
	cr_assert_eq(depth->idle_ns.n, 20);
	cr_assert_eq(depth->idle_ns.max, 10000000000 + 1000);
	cr_assert_eq(depth->trusted_ns, depth->busy_ns + (uint64_t)depth->idle_ns.sum);
	cr_assert_eq(depth->issued_max, 1);
}

Test(stats, depth_is_weighted_by_time)
{
	const struct stats_depth *depth;

	/* One for 10 us, two for 20 us, one for 10 us, idle for 60 us, one for 100 us. */
	begin_read(0, 8);
	begin_read(10, 16);
	end_read(30, 8);
	end_read(40, 16);
	one_read(100, 200, 24);
	run_trace(&run);
	depth = &run.result->devices[0].depth;
	cr_assert_eq(depth->trusted_ns, 200000);
	cr_assert_eq((uint64_t)depth->issued_sum, (10 + 40 + 10 + 100) * 1000);
	cr_assert_eq(depth->issued_max, 2);
	cr_assert_eq(depth->busy_ns, 140000);
	cr_assert_eq(depth->idle_ns.n, 1);
	cr_assert_eq(depth->idle_ns.max, 60000);
}

/* I/Os that wait above the driver do not make the device busy, also not before its first issue. */
Test(stats, a_device_that_was_handed_nothing_is_not_busy)
{
	const struct stats_depth *depth;

	T(.act = 'Q', .rwbs = "R", .sector = 0, .bytes = 4096, .t = 1);
	T(.act = 'Q', .rwbs = "R", .sector = 100, .bytes = 4096, .t = 50);
	T(.act = 'D', .rwbs = "R", .sector = 0, .bytes = 4096, .t = 60);
	T(.act = 'C', .rwbs = "R", .sector = 0, .bytes = 4096, .t = 70);
	T(.act = 'D', .rwbs = "R", .sector = 100, .bytes = 4096, .t = 80);
	T(.act = 'C', .rwbs = "R", .sector = 100, .bytes = 4096, .t = 91);
	run_trace(&run);
	depth = &run.result->devices[0].depth;
	cr_assert_eq(depth->trusted_ns, 90000);
	cr_assert_eq(depth->busy_ns, 21000);
	cr_assert_eq(depth->idle_ns.n, 1);
	cr_assert_eq(depth->idle_ns.max, 10000);
	for (size_t i = 0; i < run.result->devices[0].series.n; i++) {
		const struct stats_bucket *bucket = &run.result->devices[0].series.buckets[i];

		cr_assert(bucket->issued_max || !bucket->busy_ns);
	}
}

Test(stats, seeks_have_a_true_median)
{
	const struct stats_seek *seek;
	static const uint64_t sectors[] = {0, 8, 16, 1016, 1024, 0};

	for (int i = 0; i < 6; i++)
		one_read(10 * i, 10 * i + 5, sectors[i]);
	run_trace(&run);
	/* Distances 0, 0, 992, 0, 1032. */
	seek = &run.result->devices[0].queue_seek;
	cr_assert_eq(seek->distance.n, 5);
	cr_assert_eq(seek->sequential, 3);
	cr_assert_eq(histogram_quantile(&seek->distance, 0.5), 0);
	cr_assert_eq(seek->distance.max, 1032);
	cr_assert_float_eq(histogram_mean(&seek->distance), 404.8, 1e-9);
}

/* Q2G + G2I + I2D + ... is Q2C, to the nanosecond. */
Test(stats, shares_add_up)
{
	const struct stats_group *all;
	uint64_t sum = 0;

	for (int i = 0; i < 20; i++) {
		double at = 1000 * i + 1;

		T(.act = 'Q', .rwbs = "W", .sector = 8 * i, .bytes = 4096, .t = at);
		if (i % 5)
			T(.act = 'G', .rwbs = "W", .sector = 8 * i, .bytes = 4096, .t = at + 1 + i);
		if (i % 3)
			T(.act = 'I', .rwbs = "W", .sector = 8 * i, .bytes = 4096, .t = at + 30);
		T(.act = 'D', .rwbs = "W", .sector = 8 * i, .bytes = 4096, .t = at + 70);
		T(.act = 'C', .rwbs = "W", .sector = 8 * i, .bytes = 4096, .t = at + 170);
	}
	run_trace(&run);
	all = &run.result->devices[0].all;
	for (unsigned i = 0; i < SHARES; i++)
		sum += all->share_ns[i];
	cr_assert_eq(all->share_ios, 20);
	cr_assert_eq(sum, (uint64_t)all->stages[STAGE_Q2C]->sum);
	cr_assert_eq(all->share_ns[SHARE_D2C], 20 * 100000);
}

Test(stats, time_series_hold_all_ios)
{
	const struct stats_series *series;
	uint64_t ios = 0, heat = 0, offsets = 0, busy = 0, trusted = 0;

	for (int i = 0; i < 1000; i++)
		one_read(100 * i, 100 * i + 50, UINT64_C(8) << (i % 40));
	run_trace(&run);
	series = &run.result->devices[0].series;
	cr_assert(series->n > 100 && series->n <= STATS_BUCKETS_MAX);
	for (size_t i = 0; i < series->n; i++) {
		ios += series->buckets[i].ios[SERIES_READ];
		busy += series->buckets[i].busy_ns;
		trusted += series->buckets[i].trusted_ns;
		for (unsigned row = 0; row < STATS_HEAT_ROWS; row++)
			heat += series->heat[0][i * STATS_HEAT_ROWS + row];
		for (unsigned row = 0; row < STATS_OFFSET_ROWS; row++)
			offsets += series->offsets[0][i * STATS_OFFSET_ROWS + row];
	}
	cr_assert_eq(ios, 1000);
	cr_assert_eq(heat, 1000);
	cr_assert_eq(offsets, 1000);
	cr_assert_eq(busy, run.result->devices[0].depth.busy_ns);
	cr_assert_eq(trusted, run.result->to_ns - run.result->from_ns);
}

Test(stats, rows_of_the_heat_map)
{
	for (unsigned row = 1; row < STATS_HEAT_ROWS; row++) {
		cr_assert_gt(stats_heat_from_ns(row), stats_heat_from_ns(row - 1));
		cr_assert_eq(stats_heat_row(stats_heat_from_ns(row)), row);
		cr_assert_eq(stats_heat_row(stats_heat_from_ns(row) - 1), row - 1);
	}
	cr_assert_eq(stats_heat_row(0), 0);
	cr_assert_eq(stats_heat_row(UINT64_MAX), STATS_HEAT_ROWS - 1);
}

/* Many processes: the table is bounded, the sums are not. */
Test(stats, groups_are_bounded)
{
	const struct stats_groups *p;
	uint64_t ios = 0;

	for (uint32_t i = 0; i < 3000; i++) {
		T(.act = 'Q', .rwbs = "W", .sector = 8 * i, .bytes = 4096, .pid = i + 1,
		  .t = 10 * i);
		T(.act = 'C', .rwbs = "W", .sector = 8 * i, .bytes = 4096, .t = 10 * i + 5);
	}
	/* Who comes late and waits longest is among those that stay. */
	T(.act = 'Q', .rwbs = "W", .sector = 8, .bytes = 4096, .pid = 77777, .t = 40000);
	T(.act = 'C', .rwbs = "W", .sector = 8, .bytes = 4096, .t = 45000);
	run_trace(&run);
	p = &run.result->processes;
	cr_assert_eq(p->n, STATS_GROUPS_MAX + 1);
	for (size_t i = 0; i < p->n; i++)
		ios += p->items[i]->ios;
	cr_assert_eq(ios, 3001);
	cr_assert_eq(p->items[0]->pid, 77777);
	cr_assert(p->items[STATS_GROUPS_MAX]->others);
	cr_assert_eq(run.result->slowest.n, 10);
}

/* Protocol v2 counts what it loses: nothing pairs across a gap. */
Test(stats, gaps_of_sequence_numbers)
{
	const struct stats_device *device;

	T(.protocol = 2, .sequence = 1, .act = 'D', .rwbs = "R", .sector = 8, .bytes = 512, .t = 1);
	T(.protocol = 2, .sequence = 2, .act = 'C', .rwbs = "R", .sector = 8, .bytes = 512, .t = 2);
	T(.protocol = 2, .sequence = 3, .act = 'D', .rwbs = "R", .sector = 16, .bytes = 512,
	  .t = 3);
	T(.protocol = 2, .sequence = 9, .act = 'C', .rwbs = "R", .sector = 16, .bytes = 512,
	  .t = 9);
	run_trace(&run);
	device = &run.result->devices[0];
	cr_assert_eq(device->gaps, 1);
	cr_assert_eq(device->gap_events, 5);
	cr_assert_eq(run_n(&device->all, STAGE_D2C), 1);
	cr_assert_eq(device->all.ended[TRACK_END_LOSS], 1);
	cr_assert_eq(device->all.strays[TRACK_STRAY_LOSS], 1);
	/* Dated, for charts. */
	cr_assert_eq(run.result->n_losses, 1);
	cr_assert_eq(run.result->losses[0].count, 5);
	cr_assert_eq(run.result->losses[0].to_ns - run.result->losses[0].from_ns, 6000);
}

/* Two recordings, one after the other, and a device that is silent for most of its own. */
Test(stats, a_device_is_watched_while_its_recording_lasts)
{
	struct trace second = {0};
	const struct stats_depth *depth;

	T(.act = 't', .sector = 1000, .t = 1e6);
	T(.act = 'D', .rwbs = "R", .sector = 8, .bytes = 4096, .t = 1e6, .device = 8u << 20);
	T(.act = 'C', .rwbs = "R", .sector = 8, .bytes = 4096, .t = 3e6, .device = 8u << 20);
	T(.act = 'D', .rwbs = "R", .sector = 8, .bytes = 4096, .t = 4e6, .device = 9u << 20);
	T(.act = 'C', .rwbs = "R", .sector = 8, .bytes = 4096, .t = 5e6, .device = 9u << 20);
	TRACE(&second, .act = 't', .sector = 1100, .t = 101e6);
	TRACE(&second, .act = 'D', .rwbs = "W", .sector = 8, .bytes = 4096, .t = 101e6,
	      .device = 8u << 20);
	TRACE(&second, .act = 'C', .rwbs = "W", .sector = 8, .bytes = 4096, .t = 102e6,
	      .device = 8u << 20);
	trace_file(&run.t, "in");
	trace_file(&second, "next");
	trace_free(&second);
	run_paths(&run, (char *[]){(char *)test_path("in"), (char *)test_path("next")}, 2);
	cr_assert_eq(run.result->n_devices, 3);
	depth = &run.result->devices[0].depth;
	cr_assert_eq(depth->trusted_ns, 4000000000);
	cr_assert_eq(depth->busy_ns, 2000000000);
	depth = &run.result->devices[1].depth;
	cr_assert_eq(depth->trusted_ns, 4000000000);
	cr_assert_eq(depth->busy_ns, 1000000000);
	cr_assert_eq(depth->idle_ns.n, 0);
	depth = &run.result->devices[2].depth;
	cr_assert_eq(depth->trusted_ns, 1000000000);
	cr_assert_eq(depth->busy_ns, 1000000000);
}
