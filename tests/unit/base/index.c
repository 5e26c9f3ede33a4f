/* SPDX-License-Identifier: MIT */
#include "index.h"

#include <criterion/criterion.h>

Test(index, finds_what_was_added_and_nothing_else)
{
	struct index index = {0};
	size_t at = 99;

	cr_assert_not(index_find(&index, 0, &at));
	for (uint32_t i = 0; i < 10000; i++)
		cr_assert_eq(index_add(&index, index_pair(i % 7, i * 4096), i), 0);
	for (uint32_t i = 0; i < 10000; i++) {
		cr_assert(index_find(&index, index_pair(i % 7, i * 4096), &at));
		cr_assert_eq(at, i);
		cr_assert_not(index_find(&index, index_pair(i % 7, i * 4096 + 1), &at));
		cr_assert_eq(at, i, "untouched");
	}
	index_deinit(&index);
	cr_assert_not(index_find(&index, 0, &at));
}
