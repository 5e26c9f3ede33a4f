/* SPDX-License-Identifier: MIT */
#include "crowd.h"

#include <criterion/criterion.h>
#include <stdatomic.h>

struct pieces {
	atomic_int done[1000];
	size_t bad, also_bad;
};

static int do_piece(void *context, size_t i, struct why *why)
{
	struct pieces *pieces = context;

	atomic_fetch_add(&pieces->done[i], 1);
	if (i == pieces->bad || i == pieces->also_bad)
		return why_set(why, -(int)i, "piece %zu is bad", i);
	return 0;
}

Test(crowd, every_piece_is_done_once)
{
	const size_t counts[] = {0, 1, 2, 3, 1000};

	for (int c = 0; c < 5; c++) {
		struct pieces pieces = {.bad = 5000, .also_bad = 5000};

		cr_assert_eq(crowd_work(counts[c], do_piece, &pieces, NULL), 0);
		for (size_t i = 0; i < 1000; i++)
			cr_assert_eq(pieces.done[i], i < counts[c]);
	}
}

Test(crowd, the_first_failure_by_number_is_told_whichever_came_first)
{
	for (int run = 0; run < 50; run++) {
		struct pieces pieces = {.bad = 17, .also_bad = 18};
		struct why why = {""};

		cr_assert_eq(crowd_work(1000, do_piece, &pieces, &why), -17);
		cr_assert_str_eq(why.text, "piece 17 is bad");
		for (size_t i = 0; i <= 17; i++)
			cr_assert_eq(pieces.done[i], 1);
	}
}
