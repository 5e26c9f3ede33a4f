/* SPDX-License-Identifier: MIT */
#include "names.h"

#include <criterion/criterion.h>

/* NAME-MISSING */
Test(names, change_with_time_and_late_ones_count)
{
	struct names *names;

	cr_assert_eq(names_create(&names), 0);
	cr_assert_null(names_find(names, 7, 5));
	cr_assert_eq(names_add(names, 7, 20, "second"), 0);
	cr_assert_eq(names_add(names, 7, 10, "first"), 0);
	cr_assert_eq(names_add(names, 7, 15, "first"), 0);
	cr_assert_eq(names_add(names, 7, 18, "second"), 0);
	cr_assert_eq(names_add(names, 8, 1, "sixteen letters!"), 0);
	cr_assert_str_eq(names_find(names, 7, 5), "first");
	cr_assert_str_eq(names_find(names, 7, 10), "first");
	cr_assert_str_eq(names_find(names, 7, 17), "first");
	cr_assert_str_eq(names_find(names, 7, 18), "second");
	cr_assert_str_eq(names_find(names, 7, UINT64_MAX), "second");
	cr_assert_str_eq(names_find(names, 8, 1), "sixteen letters!");
	names_destroy(names);
}
