/* SPDX-License-Identifier: MIT */
#include "sequence.h"

#include <criterion/criterion.h>

static struct sequence_count follow(const uint32_t *numbers, size_t n)
{
	const struct sequence_count *counts;
	struct sequence_count count;
	struct sequence *sequence;

	cr_assert_eq(sequence_create(&sequence), 0);
	for (size_t i = 0; i < n; i++) {
		struct blkbox_event event = {.sequence = numbers[i], .time_ns = i, .cpu = 1};
		struct blkbox_event note = {.categories = BLKBOX_CAT_NOTIFY, .cpu = 1};

		cr_assert_eq(sequence_add(sequence, 0, &event), 0);
		cr_assert_eq(sequence_add(sequence, 0, &note), 0);
	}
	cr_assert_eq(sequence_counts(sequence, &counts), 1);
	count = counts[0];
	sequence_destroy(sequence);
	return count;
}

#define FOLLOW(...)                             \
	follow((const uint32_t[]){__VA_ARGS__}, \
	       sizeof((const uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t))

/* LOSS-SEQ-GAPS */
Test(sequence, an_event_out_of_order_is_no_loss_of_four_billion)
{
	struct sequence_count c = FOLLOW(5, 6, 9, 8, 10);

	cr_assert_eq(c.events, 5);
	cr_assert_eq(c.gaps, 1);
	cr_assert_eq(c.missing, 2);
	cr_assert_eq(c.first_gap_ns, 2);
	cr_assert_eq(c.backwards, 1);
	cr_assert_eq(c.repeats, 0);
}

Test(sequence, may_start_anywhere_and_wrap)
{
	struct sequence_count c = FOLLOW(0xfffffffe, 0xffffffff, 0, 1);

	cr_assert_eq(c.gaps + c.backwards + c.repeats, 0);
	c = FOLLOW(0xffffffff, 2);
	cr_assert_eq(c.missing, 2);
	c = FOLLOW(1000, 1001);
	cr_assert_eq(c.gaps, 0);
}

Test(sequence, repeats_and_new_starts)
{
	struct sequence_count c = FOLLOW(7, 7, 8);

	cr_assert_eq(c.repeats, 1);
	cr_assert_eq(c.gaps + c.backwards, 0);
	c = FOLLOW(100, 101, 1, 2, 3, 5);
	cr_assert_eq(c.backwards, 1);
	cr_assert_eq(c.gaps, 1);
	cr_assert_eq(c.missing, 1);
}

Test(sequence, devices_cpus_and_recordings_count_apart)
{
	const struct sequence_count *counts;
	struct sequence *sequence;

	cr_assert_eq(sequence_create(&sequence), 0);
	for (uint32_t i = 1; i <= 3; i++) {
		for (uint32_t lane = 0; lane < 8; lane++) {
			struct blkbox_event event = {
				.sequence = i * (lane + 1),
				.cpu = lane & 1,
				.device = lane & 2,
			};

			cr_assert_eq(sequence_add(sequence, lane >> 2, &event), 0);
		}
	}
	cr_assert_eq(sequence_counts(sequence, &counts), 8);
	for (uint32_t lane = 0; lane < 8; lane++)
		cr_assert_eq(counts[lane].missing, 2 * lane);
	sequence_destroy(sequence);
}
