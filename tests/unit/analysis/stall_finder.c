/* SPDX-License-Identifier: MIT */
#include "stall_csv.h"
#include "stall_finder.h"

#include <criterion/criterion.h>
#include <stdarg.h>
#include <string.h>

/* The columns of the reference, then those that only some tests use. */
#define HEAD                                                                                   \
	"wall,mono,proc,pid,state,d_wchar_kB,d_wbytes_kB,d_blkio_ms,disk_d_write_kB,"          \
	"disk_d_busy_ms,compact_stall,allocstall,pgmajfault,dirty_kB,writeback_kB,memfree_kB," \
	"memavail_kB,worst_tid,worst_thread,wchan,start_ms,disk\n"

enum {
	STALLS = 8
};

static char text[1 << 20];
static size_t length;
static struct stall_event stalls[STALLS];
static size_t n;
static struct stall_summary summary;
static bool has_moment;
static struct stall_finder_options options;

static void set_up(void)
{
	length = 0;
	n = 0;
	options = (struct stall_finder_options){100000000, 2000000000, {0}};
	length = (size_t)sprintf(text, HEAD);
}

TestSuite(stall_finder, .init = set_up);

static __attribute__((format(printf, 1, 2))) void add(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	length += (size_t)vsnprintf(text + length, sizeof(text) - length, format, args);
	va_end(args);
	cr_assert_lt(length, sizeof(text));
}

/* A tick of 100 ms, number @k; its wall clock is 1000 s ahead. */
static void row(int k, const char *rest)
{
	add("%.3f,%.3f,%s\n", 1100 + k / 10.0, 100 + k / 10.0, rest);
}

static void calm(int from, int to)
{
	for (int k = from; k < to; k++)
		row(k, "SYS,0,-,,,,,,0,0,0,1000,0,50000,60000,,,,,");
}

static int take_stall(void *context, const struct stall_event *stall)
{
	(void)context;
	cr_assert_lt(n, STALLS);
	stalls[n++] = *stall;
	return 0;
}

static int take_row(void *context, const struct stall_row *r)
{
	return stall_finder_row(context, r);
}

static void find(void)
{
	struct stall_finder *finder;
	struct stall_csv *csv;

	cr_assert_eq(stall_finder_create(&options, take_stall, NULL, &finder), 0);
	cr_assert_eq(stall_csv_create(take_row, finder, &csv), 0);
	cr_assert_eq(stall_csv_feed(csv, text, length), 0);
	cr_assert_eq(stall_csv_finish(csv), 0);
	cr_assert_eq(stall_csv_health(csv)->damaged, 0, "%s",
		     stall_csv_health(csv)->first_fault.text);
	cr_assert_eq(stall_finder_finish(finder), 0);
	summary = *stall_finder_summary(finder);
	has_moment = stall_finder_has_moment(finder);
	stall_csv_destroy(csv);
	stall_finder_destroy(finder);
}

/* The wait is told in the tick in which it ends, and lies before it. */
Test(stall_finder, one_wait)
{
	calm(0, 30);
	for (int k = 30; k < 35; k++)
		row(k, "controlsd,7,D,0,0,0,50,90,,,,,,,,,,,,");
	row(35, "controlsd,7,S,0,8,520,60,95,,,,,,,,,,,,");
	calm(35, 60);
	find();
	cr_assert_eq(n, 1);
	cr_assert_eq(stalls[0].all_victims, 1);
	cr_assert_str_eq(stalls[0].victims[0].name, "controlsd");
	cr_assert_eq(stalls[0].victims[0].pid, 7);
	cr_assert_eq(stalls[0].victims[0].blocked_ms, 520);
	cr_assert(stalls[0].victims[0].measured);
	cr_assert(!stalls[0].victims[0].threads_add_up);
	cr_assert_eq(stalls[0].victims[0].samples, 5);
	cr_assert_eq(stalls[0].start_ns, 102980000000);
	cr_assert_eq(stalls[0].end_ns, 103500000000);
	cr_assert(stalls[0].has_wall);
	cr_assert_eq(stalls[0].wall_offset_ns, 1000000000000);
	cr_assert_eq(stalls[0].lead_ns, 2000000000);
	cr_assert_float_eq(stalls[0].tick_ms, 100, 0.01);
	cr_assert_eq(summary.ticks, 60);
	cr_assert_eq(summary.runs, 1);
}

/* Sampled at 10 Hz, a wait can be longer than a tick only if the ticks before show it. */
Test(stall_finder, several_threads_add_up)
{
	calm(0, 30);
	row(30, "db,7,S,0,0,380,50,90,,,,,,,,,,,,");
	calm(30, 40);
	find();
	cr_assert_eq(n, 1);
	cr_assert(stalls[0].victims[0].threads_add_up);
	cr_assert_eq(stalls[0].victims[0].blocked_ms, 380);
	cr_assert_eq(stalls[0].start_ns, 102900000000);
	cr_assert_eq(stalls[0].end_ns, 103000000000);
}

/* The sampler was blocked with it: there is no tick in between. */
Test(stall_finder, a_wait_in_a_gap)
{
	calm(0, 30);
	row(50, "controlsd,7,S,0,0,1900,50,1950,,,,,,,,,,,,");
	calm(50, 60);
	find();
	cr_assert_eq(n, 1);
	cr_assert(!stalls[0].victims[0].threads_add_up);
	cr_assert_eq(stalls[0].start_ns, 103100000000);
}

Test(stall_finder, short_and_scattered_waits_are_none)
{
	for (int k = 0; k < 100; k++) {
		row(k, "db,7,S,100,0,30,50,90,,,,,,,,,,,,");
		calm(k, k + 1);
	}
	find();
	cr_assert_eq(n, 0);
}

/* Wait after wait: more than half of the time. */
Test(stall_finder, many_waits_are_one_stall)
{
	calm(0, 10);
	for (int k = 10; k < 20; k++) {
		row(k, "db,7,S,100,0,80,50,90,,,,,,,,,,,,");
		calm(k, k + 1);
	}
	calm(20, 30);
	find();
	cr_assert_eq(n, 1);
	cr_assert_eq(stalls[0].victims[0].blocked_ms, 800);
	cr_assert_eq(stalls[0].victims[0].longest_ms, 80);
	cr_assert_eq(stalls[0].end_ns - stalls[0].start_ns, 980000000);
}

/* Delay accounting off: the field is empty, or 0 in the reference's files. */
Test(stall_finder, state_d_alone)
{
	calm(0, 20);
	row(20, "NOTE: delay accounting is off,0,,,,,,,,,,,,,,,,,,");
	for (int k = 20; k < 25; k++)
		row(k, "controlsd,7,D,0,0,,50,90,,,,,,,,,,,,");
	calm(25, 40);
	row(40, "ui,8,D,0,0,0,50,90,,,,,,,,,,,,");
	row(41, "ui,8,D,0,0,0,50,90,,,,,,,,,,,,");
	row(42, "SYS,0,-,,,,,,0,0,0,1000,0,50000,60000,,,,,");
	row(43, "once,9,D,0,0,0,50,90,,,,,,,,,,,,");
	calm(44, 50);
	find();
	cr_assert_eq(n, 2, "%zu", n);
	cr_assert(!stalls[0].victims[0].measured);
	cr_assert_float_eq(stalls[0].victims[0].blocked_ms, 450, 0.1);
	cr_assert_eq(stalls[0].n_notes, 1);
	cr_assert_str_eq(stalls[0].notes[0], "delay accounting is off");
	cr_assert_str_eq(stalls[1].victims[0].name, "ui");
	cr_assert_eq(summary.blkio_nonzero, 0);
	cr_assert_eq(summary.state_d, 8);
}

Test(stall_finder, the_worker_thread_is_named)
{
	calm(0, 30);
	for (int k = 30; k < 34; k++)
		row(k, "app,7,D,0,0,0,50,90,,,,,,,,71,worker,jbd2_log_wait_commit,5000,");
	row(34, "app,7,S,0,0,400,50,90,,,,,,,,71,worker,0,5000,");
	calm(34, 40);
	find();
	cr_assert_eq(n, 1);
	cr_assert_eq(stalls[0].victims[0].tid, 71);
	cr_assert_str_eq(stalls[0].victims[0].thread, "worker");
	cr_assert_str_eq(stalls[0].victims[0].wchan, "jbd2_log_wait_commit");
}

Test(stall_finder, writers_before_and_during)
{
	for (int k = 0; k < 30; k++)
		row(k, k < 10 ? "early,5,R,99999,0,0,1,2,,,,,,,,,,,,"
			      : "logger,6,R,1000,0,0,1,2,,,,,,,,,,,,");
	calm(30, 31);
	for (int k = 31; k < 35; k++) {
		row(k, "controlsd,7,D,0,0,0,50,90,,,,,,,,,,,,");
		row(k, "backup,8,D,500,500,80,50,90,,,,,,,,,,,,");
		row(k, "mapper,9,S,0,300,0,50,90,,,,,,,,,,,,");
		row(k, "other,0,-,10,10,0,50,90,,,,,,,,,,,,");
	}
	row(35, "controlsd,7,S,0,0,420,50,90,,,,,,,,,,,,");
	calm(35, 40);
	find();
	cr_assert_eq(n, 1);
	/* From 103.08 s on; the lead-in is from 101.08 on. */
	cr_assert_eq(stalls[0].all_writers, 4);
	cr_assert_str_eq(stalls[0].writers[0].name, "logger");
	cr_assert_eq(stalls[0].writers[0].kind, STALL_WRITES_BUFFERED);
	cr_assert_eq(stalls[0].writers[0].calls_kb[0], 19000);
	cr_assert_eq(stalls[0].writers[0].calls_kb[1], 0);
	cr_assert_str_eq(stalls[0].writers[1].name, "backup");
	cr_assert_eq(stalls[0].writers[1].kind, STALL_WRITES_DIRECT);
	cr_assert_eq(stalls[0].writers[1].device_kb[1], 2000);
	cr_assert_str_eq(stalls[0].writers[2].name, "mapper");
	cr_assert_eq(stalls[0].writers[2].kind, STALL_WRITES_MAPPED);
	cr_assert_str_eq(stalls[0].writers[3].name, "other");
	cr_assert_eq(stalls[0].writers[3].pid, 0);
	cr_assert_str_eq(stalls[0].victims[0].name, "controlsd");
	cr_assert_float_eq(stalls[0].disks[0].busy_ms[1], 450, 0.1);
	cr_assert_float_eq(stalls[0].disks[0].known_ms[1], 500, 0.1);
	cr_assert_float_eq(stalls[0].disks[0].write_kb[1], 250, 0.1);
}

/* What is charged to a writer may be in memory still: that grew. */
Test(stall_finder, charged_and_buffered)
{
	for (int k = 0; k < 20; k++) {
		row(k, "logger,6,R,10000,10000,0,1,2,,,,,,,,,,,,");
		add("%.3f,%.3f,SYS,0,-,,,,,,0,0,0,%d,0,1,1,,,,,\n", 1100 + k / 10.0, 100 + k / 10.0,
		    9000 * k);
	}
	row(20, "controlsd,7,S,0,0,95,50,90,,,,,,,,,,,,");
	row(21, "controlsd,7,S,0,0,95,50,90,,,,,,,,,,,,");
	calm(22, 25);
	find();
	cr_assert_eq(n, 1);
	cr_assert_eq(stalls[0].writers[0].kind, STALL_WRITES_BUFFERED);
	cr_assert(stall_writeback(&stalls[0].system));
}

static void stall_with(const char *system)
{
	calm(0, 30);
	for (int k = 30; k < 34; k++) {
		row(k, "controlsd,7,D,0,0,0,50,90,,,,,,,,,,,,");
		row(k, system);
	}
	row(34, "controlsd,7,S,0,0,400,50,90,,,,,,,,,,,,");
	calm(34, 40);
	find();
	cr_assert_eq(n, 1);
	cr_assert(stalls[0].system.is_known);
}

Test(stall_finder, compaction)
{
	stall_with("SYS,0,-,,,,,,3,0,0,1000,0,50000,60000,,,,,");
	cr_assert(stall_compaction(&stalls[0].system));
	cr_assert(!stall_reclaim(&stalls[0].system));
	cr_assert(!stall_writeback(&stalls[0].system));
	/* It began at the tick of the first row in state D, which tells of the time before. */
	cr_assert_eq(stalls[0].system.compact[0], 3);
	cr_assert_eq(stalls[0].system.compact[1], 9);
}

Test(stall_finder, direct_reclaim)
{
	stall_with("SYS,0,-,,,,,,0,5,7,1000,0,50000,40000,,,,,");
	cr_assert(!stall_compaction(&stalls[0].system));
	cr_assert(stall_reclaim(&stalls[0].system));
	cr_assert_eq(stalls[0].system.allocstall[1], 15);
	cr_assert_eq(stalls[0].system.majfault[1], 21);
	cr_assert_eq(stalls[0].system.memavail_kb, 40000);
}

Test(stall_finder, writeback)
{
	stall_with("SYS,0,-,,,,,,0,0,0,30000,20000,50000,60000,,,,,");
	cr_assert(!stall_compaction(&stalls[0].system));
	cr_assert(!stall_reclaim(&stalls[0].system));
	cr_assert(stall_writeback(&stalls[0].system));
	cr_assert_eq(stalls[0].system.dirty_first_kb, 1000);
	cr_assert_eq(stalls[0].system.dirty_kb[1], 30000);
	cr_assert_eq(stalls[0].system.writeback_kb[1], 20000);
}

/* A pid is a process's as long as it lives. */
Test(stall_finder, pids_are_used_again)
{
	calm(0, 10);
	row(10, "sh,7,S,5000,0,0,1,2,,,,,,,,,,,100,");
	row(11, "sh,7,S,6000,0,0,1,2,,,,,,,,,,,9000,");
	row(12, "controlsd,8,S,0,0,90,50,90,,,,,,,,,,,,");
	row(13, "controlsd,8,S,0,0,90,50,90,,,,,,,,,,,,");
	calm(13, 20);
	find();
	cr_assert_eq(n, 1);
	cr_assert_eq(stalls[0].n_writers, 2);
	cr_assert_eq(stalls[0].writers[0].calls_kb[0], 6000);
	cr_assert_eq(stalls[0].writers[1].calls_kb[0], 5000);
}

Test(stall_finder, still_blocked_at_the_end)
{
	calm(0, 10);
	for (int k = 10; k < 20; k++)
		row(k, "controlsd,7,D,0,0,0,50,90,,,,,,,,,,,,");
	find();
	cr_assert_eq(n, 1);
	cr_assert(stalls[0].victims[0].goes_on);
	cr_assert_eq(stalls[0].start_ns, 101000000000);
}

/* The machine was started anew: nothing is put together across that. */
Test(stall_finder, the_monotonic_clock_starts_again)
{
	calm(0, 20);
	row(20, "controlsd,7,D,0,0,0,50,90,,,,,,,,,,,,");
	add("9000.000,5.000,controlsd,7,D,0,0,0,50,90,,,,,,,,,,,,\n");
	add("9000.100,5.100,controlsd,7,S,0,0,80,50,90,,,,,,,,,,,,\n");
	add("9000.200,5.200,SYS,0,-,,,,,,0,0,0,1,1,1,1,,,,,\n");
	find();
	cr_assert_eq(n, 0);
	cr_assert_eq(summary.runs, 2);
}

Test(stall_finder, the_wall_clock_jumps)
{
	calm(0, 20);
	for (int k = 20; k < 24; k++)
		add("%.3f,%.3f,controlsd,7,D,0,0,0,50,90,,,,,,,,,,,,\n", 50 + k / 10.0,
		    100 + k / 10.0);
	add("52.400,102.400,controlsd,7,S,0,0,400,50,90,,,,,,,,,,,,\n");
	find();
	cr_assert_eq(n, 1);
	cr_assert_eq(stalls[0].start_ns, 102000000000);
	cr_assert_eq(stalls[0].wall_offset_ns, -50000000000);
}

Test(stall_finder, two_victims_of_one_stall)
{
	calm(0, 30);
	for (int k = 30; k < 36; k++) {
		if (k < 34)
			row(k, "ui,9,D,0,0,0,50,90,,,,,,,,,,,,");
		row(k, k < 35 ? "controlsd,7,D,0,0,0,50,90,,,,,,,,,,,,"
			      : "controlsd,7,S,0,0,520,50,90,,,,,,,,,,,,");
		if (k == 34)
			row(k, "ui,9,S,0,0,410,50,90,,,,,,,,,,,,");
	}
	calm(36, 40);
	find();
	cr_assert_eq(n, 1);
	cr_assert_eq(stalls[0].n_victims, 2);
	cr_assert_str_eq(stalls[0].victims[0].name, "controlsd");
	cr_assert_str_eq(stalls[0].victims[1].name, "ui");
	cr_assert_eq(stalls[0].victims[1].blocked_ms, 410);
}

/* In pieces of a minute, each time told once. */
Test(stall_finder, a_very_long_wait)
{
	double sum_ms = 0;

	calm(0, 10);
	for (int k = 10; k < 1510; k++)
		row(k, "controlsd,7,D,0,0,0,50,90,,,,,,,,,,,,");
	row(1510, "controlsd,7,S,0,0,150000,50,90,,,,,,,,,,,,");
	calm(1511, 1520);
	find();
	cr_assert_eq(n, 3);
	for (size_t i = 0; i < n; i++) {
		sum_ms += stalls[i].victims[0].blocked_ms;
		cr_assert_eq(stalls[i].victims[0].goes_on, i < 2);
	}
	cr_assert_float_eq(sum_ms, 150000, 300);
}

Test(stall_finder, a_moment)
{
	options.window_ns = 500000000;
	options.at = (struct stall_moment){true, true, 1103200000000};
	calm(0, 30);
	for (int k = 30; k < 34; k++)
		row(k, "controlsd,7,D,0,0,0,50,90,,,,,,,,,,,,");
	row(34, "controlsd,7,S,0,0,420,50,90,,,,,,,,,,,,");
	calm(35, 60);
	find();
	cr_assert(has_moment);
	cr_assert_eq(n, 1);
	cr_assert(stalls[0].is_moment);
	cr_assert_eq(stalls[0].start_ns, 102700000000);
	cr_assert_eq(stalls[0].end_ns, 103700000000);
	cr_assert_eq(stalls[0].victims[0].blocked_ms, 420);
	options.at.ns = 1200000000000;
	n = 0;
	find();
	cr_assert(!has_moment);
	cr_assert_eq(n, 0);
	options.at = (struct stall_moment){true, false, 100000000000};
	find();
	cr_assert(has_moment);
}

/* Memory is bounded by the window: a day of samples goes through, and only what is near is kept. */
Test(stall_finder, disks_by_name)
{
	options.window_ns = 1000000000;
	calm(0, 20);
	for (int k = 20; k < 24; k++) {
		row(k, "controlsd,7,D,0,0,0,60,150,,,,,,,,,,,,");
		row(k, "DISK,0,-,,,,50,90,,,,,,,,,,,,sda");
		row(k, "DISK,0,-,,,,10,60,,,,,,,,,,,,\"sd,b\"");
	}
	row(24, "controlsd,7,S,0,0,400,60,150,,,,,,,,,,,,");
	calm(24, 30);
	find();
	cr_assert_eq(n, 1);
	cr_assert_eq(stalls[0].n_disks, 2);
	cr_assert_str_eq(stalls[0].disks[0].name, "sda");
	cr_assert_str_eq(stalls[0].disks[1].name, "sd,b");
	cr_assert_float_eq(stalls[0].disks[1].busy_ms[1], 180, 0.1);
	cr_assert_float_eq(stalls[0].disks[1].known_ms[1], 300, 0.1);
}

/* A parent in vfork() is in state D for as long as its child takes, and waits for no I/O. */
Test(stall_finder, a_parent_in_vfork_is_no_victim)
{
	calm(0, 20);
	for (int k = 20; k < 30; k++) {
		row(k, "make,7,D,0,0,0,50,90,,,,,,,,7,make,kernel_clone,100,");
		row(k, "sh,8,D,0,0,0,50,90,,,,,,,,8,sh,wait_for_vfork_done,100,");
	}
	calm(30, 40);
	find();
	cr_assert_eq(n, 0);
}
