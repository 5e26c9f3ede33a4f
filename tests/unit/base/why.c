/* SPDX-License-Identifier: MIT */
#include "why.h"

#include <criterion/criterion.h>
#include <string.h>

Test(why, hands_the_error_on_and_keeps_the_sentence)
{
	struct why why = {""};

	cr_assert_eq(why_set(&why, -EBUSY, "%s is already being traced", "sda"), -EBUSY);
	cr_assert_str_eq(why.text, "sda is already being traced");
	cr_assert_eq(why_prefix(&why, -EIO, "cannot start"), -EIO);
	cr_assert_str_eq(why.text, "cannot start: sda is already being traced");
}

Test(why, adds_the_text_of_the_errno)
{
	struct why why;

	cr_assert_eq(why_errno(&why, -ENOENT, "cannot open %s", "x"), -ENOENT);
	cr_assert_str_eq(why.text, "cannot open x: No such file or directory");
}

Test(why, without_a_place_only_the_number_goes_on)
{
	cr_assert_eq(why_set(NULL, -EBUSY, "x"), -EBUSY);
	cr_assert_eq(why_errno(NULL, -EIO, "x"), -EIO);
	cr_assert_eq(why_prefix(NULL, -EIO, "x"), -EIO);
}

Test(why, a_long_sentence_is_cut_not_overrun)
{
	struct why why;
	char longer[2 * WHY_MAX];

	memset(longer, 'a', sizeof(longer));
	longer[sizeof(longer) - 1] = '\0';
	why_errno(&why, -EIO, "%s", longer);
	cr_assert_eq(strlen(why.text), WHY_MAX - 1);
	why_prefix(&why, -EIO, "%s", longer);
	cr_assert_eq(strlen(why.text), WHY_MAX - 1);
}
