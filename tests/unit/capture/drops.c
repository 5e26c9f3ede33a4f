/* SPDX-License-Identifier: MIT */
#include "drops.h"

#include <criterion/criterion.h>
#include <stdlib.h>

static struct drop_tracker tracker;

static void init(void)
{
	cr_assert_eq(drop_tracker_init(&tracker), 0);
}

static void deinit(void)
{
	drop_tracker_deinit(&tracker);
}

TestSuite(drops, .init = init, .fini = deinit);

static void look(uint64_t value, uint64_t now_ns, bool cpu_came)
{
	cr_assert_eq(drop_tracker_look(&tracker, 0, LOG_NO_CPU, value, now_ns, cpu_came, 0), 0);
}

Test(drops, the_first_look_is_the_base_line)
{
	struct log_drops *windows;

	look(100, 10, false);
	cr_assert_eq(drop_tracker_take(&tracker, &windows), 0);
	cr_assert_eq(drop_tracker_sum(&tracker, 0, false), 0);
}

Test(drops, a_rise_is_dated_by_the_looks_around_it)
{
	struct log_drops *windows;

	look(0, 10, false);
	look(0, 20, false);
	look(3, 30, false);
	look(3, 40, false);
	look(10, 50, false);
	cr_assert_eq(drop_tracker_take(&tracker, &windows), 2);
	cr_assert_eq(windows[0].from_ns, 20);
	cr_assert_eq(windows[0].to_ns, 30);
	cr_assert_eq(windows[0].count, 3);
	cr_assert_eq(windows[1].from_ns, 40);
	cr_assert_eq(windows[1].count, 7);
	free(windows);
	cr_assert_eq(drop_tracker_take(&tracker, &windows), 0);
	cr_assert_eq(drop_tracker_sum(&tracker, 0, false), 10);
}

Test(drops, a_cpu_that_goes_and_comes_back_takes_its_share_along)
{
	look(0, 1, false);
	look(100, 2, false); /* 60 of them on the CPU that goes */
	look(40, 3, false);
	look(45, 4, false); /* lost meanwhile, on the others */
	look(107, 5, true); /* 60 come back, 2 are new */
	cr_assert_eq(drop_tracker_sum(&tracker, 0, false), 107);
	look(110, 6, false);
	cr_assert_eq(drop_tracker_sum(&tracker, 0, false), 110);
}

Test(drops, stop_and_devices_are_told_apart)
{
	look(0, 1, false);
	cr_assert_eq(drop_tracker_look(&tracker, 1, LOG_NO_CPU, 0, 1, false, 0), 0);
	look(4, 2, false);
	cr_assert_eq(drop_tracker_look(&tracker, 0, LOG_NO_CPU, 6, 3, false, 2), 0);
	cr_assert_eq(drop_tracker_look(&tracker, 1, LOG_NO_CPU, 9, 3, false, 0), 0);
	cr_assert_eq(drop_tracker_sum(&tracker, 0, false), 4);
	cr_assert_eq(drop_tracker_sum(&tracker, 0, true), 2);
	cr_assert_eq(drop_tracker_sum(&tracker, 1, false), 9);
}

Test(drops, more_than_stop_can_add_is_loss)
{
	struct log_drops *windows;

	look(0, 1, false);
	cr_assert_eq(drop_tracker_look(&tracker, 0, LOG_NO_CPU, 50, 2, false, 4), 0);
	cr_assert_eq(drop_tracker_sum(&tracker, 0, false), 46);
	cr_assert_eq(drop_tracker_sum(&tracker, 0, true), 4);
	cr_assert_eq(drop_tracker_take(&tracker, &windows), 2);
	cr_assert_eq(windows[0].flags, 0);
	cr_assert_eq(windows[1].flags, LOG_DROPS_AT_STOP);
	free(windows);
}

Test(drops, what_was_learnt_otherwise_counts_too)
{
	const struct log_drops drops = {
		.device_index = LOG_NO_CHANNEL, .cpu = 3, .from_ns = 5, .to_ns = 9, .count = 17};

	cr_assert_eq(drop_tracker_add(&tracker, &drops), 0);
	cr_assert_eq(drop_tracker_sum(&tracker, LOG_NO_CHANNEL, false), 17);
}
