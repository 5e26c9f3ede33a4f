/* SPDX-License-Identifier: MIT */
#include "merge.h"

#include "../trace_builder.h"

#include <criterion/criterion.h>

static struct source *add_queue(struct merge *merge, uint64_t disorder_ns)
{
	struct merge_channel channel = {.only_cpu = MERGE_ALL_CPUS, .disorder_ns = disorder_ns};
	struct decoder *decoder;
	struct source *source;

	cr_assert_eq(source_queue_create(&source), 0);
	cr_assert_eq(decoder_adopt_create(source, &decoder), 0);
	cr_assert_eq(merge_adopt(merge, decoder, &channel), 0);
	return source;
}

static void give(struct source *source, double t_us, uint32_t cpu)
{
	struct trace t = {0};

	TRACE(&t, .act = 'Q', .rwbs = "R", .t = t_us, .cpu = cpu);
	cr_assert_eq(source_queue_append(source, t.bytes, t.n), 0);
	trace_free(&t);
}

static void expect(struct merge *merge, uint64_t limit_us, double t_us, bool late)
{
	struct merge_item item;

	cr_assert_eq(merge_next(merge, limit_us * 1000, &item, NULL), 1);
	cr_assert_eq(item.event.time_ns, (uint64_t)(t_us * 1000));
	cr_assert_eq(item.late, late, "%g", t_us);
}

static void expect_none(struct merge *merge, uint64_t limit_us)
{
	struct merge_item item;

	cr_assert_eq(merge_next(merge, limit_us * 1000, &item, NULL), 0);
}

/* MERGE-ORDER-PER-CPU-SEQ */
Test(merge, live_events_wait_for_the_limit_and_late_ones_are_marked)
{
	struct merge *merge;
	struct source *cpu0, *cpu1;

	cr_assert_eq(merge_create(&merge), 0);
	cpu0 = add_queue(merge, 0);
	cpu1 = add_queue(merge, 0);
	give(cpu0, 1, 0);
	give(cpu0, 2, 0);
	give(cpu0, 3, 0);
	expect(merge, 2, 1, false);
	expect(merge, 2, 2, false);
	expect_none(merge, 2);
	give(cpu1, 0.5, 1);
	give(cpu1, 2.5, 1);
	expect_none(merge, 2);
	merge_resume(merge);
	expect(merge, 2, 0.5, true);
	expect_none(merge, 2);
	expect(merge, 3, 2.5, false);
	expect(merge, 3, 3, false);
	expect_none(merge, 3);
	source_queue_end(cpu0);
	give(cpu1, 9, 1);
	merge_resume(merge);
	expect(merge, UINT64_MAX / 1000, 9, false);
	expect_none(merge, UINT64_MAX / 1000);
	merge_destroy(merge);
}

Test(merge, a_channel_can_be_added_while_it_runs)
{
	struct merge *merge;
	struct source *cpu0, *cpu1;

	cr_assert_eq(merge_create(&merge), 0);
	cpu0 = add_queue(merge, 0);
	give(cpu0, 1, 0);
	expect(merge, 5, 1, false);
	cpu1 = add_queue(merge, 0);
	give(cpu1, 2, 1);
	give(cpu0, 3, 0);
	expect(merge, 5, 2, false);
	expect(merge, 5, 3, false);
	merge_destroy(merge);
}

Test(merge, ties_go_by_cpu)
{
	struct merge *merge;
	struct source *source;
	struct merge_item item;

	cr_assert_eq(merge_create(&merge), 0);
	source = add_queue(merge, 1);
	for (uint32_t cpu = 5; cpu-- > 0;)
		give(source, 1, cpu);
	source_queue_end(source);
	for (uint32_t cpu = 0; cpu < 5; cpu++) {
		cr_assert_eq(merge_next(merge, UINT64_MAX, &item, NULL), 1);
		cr_assert_eq(item.event.cpu, cpu);
	}
	merge_destroy(merge);
}
