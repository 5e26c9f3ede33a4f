/* SPDX-License-Identifier: MIT */
#include "iso_time.h"

#include <criterion/criterion.h>

Test(iso_time, formats_as_date_does)
{
	/* date -u -d @1700000000.000000123 +%FT%T.%NZ */
	cr_assert_str_eq(iso_time_format(1700000000000000123, 9).text,
			 "2023-11-14T22:13:20.000000123Z");
	cr_assert_str_eq(iso_time_format(1700000000999999999, 6).text,
			 "2023-11-14T22:13:20.999999Z");
	cr_assert_str_eq(iso_time_format(1700000000999999999, 0).text, "2023-11-14T22:13:20Z");
	cr_assert_str_eq(iso_time_format(0, 1).text, "1970-01-01T00:00:00.0Z");
	cr_assert_str_eq(iso_time_format(UINT64_MAX, 9).text, "2554-07-21T23:34:33.709551615Z");
}
