/* SPDX-License-Identifier: MIT */
#include "names.h"

#include <criterion/criterion.h>

/* NAME-MISSING */
Test(names, change_with_time_and_late_ones_count)
{
	struct names *names;

	cr_assert_eq(names_create(&names), 0);
	cr_assert_null(names_find(names, 7, 3, 5));
	cr_assert_eq(names_add(names, 7, 3, 20, "second"), 0);
	cr_assert_eq(names_add(names, 7, 3, 10, "first"), 0);
	cr_assert_eq(names_add(names, 7, 3, 15, "first"), 0);
	cr_assert_eq(names_add(names, 7, 3, 18, "second"), 0);
	cr_assert_eq(names_add(names, 8, 3, 1, "sixteen letters!"), 0);
	cr_assert_str_eq(names_find(names, 7, 3, 5), "first");
	cr_assert_str_eq(names_find(names, 7, 3, 10), "first");
	cr_assert_str_eq(names_find(names, 7, 3, 17), "first");
	cr_assert_str_eq(names_find(names, 7, 3, 18), "second");
	cr_assert_str_eq(names_find(names, 7, 3, UINT64_MAX), "second");
	cr_assert_str_eq(names_find(names, 8, 3, 1), "sixteen letters!");
	cr_assert_eq(names_add(names, 7, 3, 30, "third"), 0);
	cr_assert_eq(names_add(names, 7, 3, 12, "between"), 0);
	cr_assert_eq(names_add(names, 7, 3, 40, "between"), 0);
	cr_assert_eq(names_add(names, 7, 3, 14, "between"), 0);
	cr_assert_str_eq(names_find(names, 7, 3, 11), "first");
	cr_assert_str_eq(names_find(names, 7, 3, 17), "between");
	cr_assert_str_eq(names_find(names, 7, 3, 18), "second");
	cr_assert_str_eq(names_find(names, 7, 3, 39), "third");
	cr_assert_str_eq(names_find(names, 7, 3, 40), "between");
	cr_assert_eq(names_add(names, 0, 0, 1, "swapper/0"), 0);
	cr_assert_eq(names_add(names, 0, 1, 2, "swapper/1"), 0);
	cr_assert_str_eq(names_find(names, 0, 0, 9), "swapper/0");
	cr_assert_str_eq(names_find(names, 0, 1, 9), "swapper/1");
	cr_assert_str_eq(names_find(names, 0, 2, 9), "swapper");
	names_destroy(names);
}

/* Names that come from the newest to the oldest must not take a time each. */
Test(names, a_million_in_the_wrong_order, .timeout = 20)
{
	struct names *names;
	char comm[16];

	cr_assert_eq(names_create(&names), 0);
	for (uint32_t i = 1000000; i; i--) {
		snprintf(comm, sizeof(comm), "n%u", i);
		cr_assert_eq(names_add(names, 7, 0, i, comm), 0);
	}
	cr_assert_str_eq(names_find(names, 7, 0, 1), "n1");
	cr_assert_str_eq(names_find(names, 7, 0, 654321), "n654321");
	cr_assert_str_eq(names_find(names, 7, 0, UINT64_MAX), "n1000000");
	names_destroy(names);
}
