/* SPDX-License-Identifier: MIT */
#include "number.h"

#include <criterion/criterion.h>
#include <string.h>

enum {
	COUNT,
	SIZE_IN_KIB,
	DURATION
};

struct number {
	const char *text;
	int result;
	uint64_t value;
};

static void check(int kind, const struct number *cases, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct why why = {""};
		uint64_t value = 4711;
		int r = kind == COUNT	      ? count_parse(cases[i].text, &value, &why)
			: kind == SIZE_IN_KIB ? size_parse(cases[i].text, 1024, &value, &why)
					      : duration_parse(cases[i].text, &value, &why);

		cr_expect_eq(r, cases[i].result, "'%s' gave %d, '%s'", cases[i].text, r, why.text);
		cr_expect_eq(value, r == 0 ? cases[i].value : 4711, "'%s' is %lu", cases[i].text,
			     value);
		cr_expect(r == 0 || strstr(why.text, cases[i].text), "'%s'", why.text);
	}
}

#define CHECK(kind, cases) check(kind, cases, sizeof(cases) / sizeof((cases)[0]))

Test(number, counts)
{
	static const struct number cases[] = {
		{"0", 0, 0},
		{"007", 0, 7},
		{"18446744073709551615", 0, UINT64_MAX},
		{"18446744073709551616", -ERANGE},
		{"99999999999999999999999", -ERANGE},
		{"", -EINVAL},
		{"-", -EINVAL},
		{"-1", -EINVAL},
		{"+1", -EINVAL},
		{" 1", -EINVAL},
		{"1 ", -EINVAL},
		{"1k", -EINVAL},
		{"0x10", -EINVAL},
		{"1.0", -EINVAL},
		{"many", -EINVAL},
		{"99999999999999999999999x", -EINVAL},
	};

	CHECK(COUNT, cases);
}

Test(number, sizes)
{
	static const struct number cases[] = {
		{"512", 0, 512 * 1024},
		{"4096B", 0, 4096},
		{"4k", 0, 4096},
		{"4K", 0, 4096},
		{"4KiB", 0, 4096},
		{"3M", 0, 3 << 20},
		{"2G", 0, 2ull << 30},
		{"16777215T", 0, 16777215ull << 40},
		{"16777216T", -ERANGE},
		{"18014398509481984", -ERANGE},
		{"99999999999999999999", -ERANGE},
		{"4KB", -EINVAL},
		{"k", -EINVAL},
		{"", -EINVAL},
		{"1.5M", -EINVAL},
		{"4 k", -EINVAL},
		{"-4k", -EINVAL},
		{"4kk", -EINVAL},
	};

	CHECK(SIZE_IN_KIB, cases);
}

Test(number, durations)
{
	static const struct number cases[] = {
		{"10", 0, 10000000000},
		{"0", 0, 0},
		{"1.5", 0, 1500000000},
		{"0.000000001", 0, 1},
		{"0.0000000019", 0, 1},
		{"1.999999999999", 0, 1999999999},
		{"500ms", 0, 500000000},
		{"2.5ms", 0, 2500000},
		{"7us", 0, 7000},
		{"9ns", 0, 9},
		{"2m", 0, 120000000000},
		{"1.5h", 0, 5400000000000},
		{"1d", 0, 86400000000000},
		{"18446744073", 0, 18446744073000000000u},
		{"18446744074", -ERANGE},
		{"18446744073.709551616", -ERANGE},
		{"213504d", -ERANGE},
		{"99999999999999999999", -ERANGE},
		{"", -EINVAL},
		{".5", -EINVAL},
		{"1.", -EINVAL},
		{"1.s", -EINVAL},
		{"1.5.5", -EINVAL},
		{"-1", -EINVAL},
		{"1e3", -EINVAL},
		{"10 s", -EINVAL},
		{"10x", -EINVAL},
		{"inf", -EINVAL},
	};

	CHECK(DURATION, cases);
}

Test(number, sector_ranges)
{
	static const char *const bad[] = {"",	 "5",	 "5-",	 "-5",	  "5-4-3",
					  "a-b", "1-2k", "1--2", "1 - 2", "-1-2"};
	struct sector_range range = {1, 2};
	struct why why;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		cr_expect_eq(sector_range_parse(bad[i], &range, &why), -EINVAL, "'%s'", bad[i]);
	cr_assert_eq(sector_range_parse("5-4", &range, &why), -EINVAL);
	cr_assert_str_eq(why.text, "the range '5-4' ends before it starts");
	cr_assert_eq(sector_range_parse("0-18446744073709551616", &range, &why), -ERANGE);
	cr_assert_eq(sector_range_parse("18446744073709551616-0", &range, &why), -ERANGE);
	cr_assert(range.first == 1 && range.last == 2);
	cr_assert_eq(sector_range_parse("2048-4095", &range, &why), 0);
	cr_assert(range.first == 2048 && range.last == 4095);
	cr_assert_eq(sector_range_parse("7-7", &range, &why), 0);
}

Test(number, what_is_wrong_is_said)
{
	struct why why;
	uint64_t value;

	count_parse("-3", &value, &why);
	cr_assert_str_eq(why.text, "'-3' is negative");
	count_parse("99999999999999999999", &value, &why);
	cr_assert_str_eq(why.text, "'99999999999999999999' is too large");
	count_parse("ten", &value, &why);
	cr_assert_str_eq(why.text, "'ten' is not a whole number");
}

Test(number, sizes_as_people_read_them)
{
	cr_assert_str_eq(size_format(0).text, "0 bytes");
	cr_assert_str_eq(size_format(1023).text, "1023 bytes");
	cr_assert_str_eq(size_format(1024).text, "1 KiB");
	cr_assert_str_eq(size_format(32 << 20).text, "32 MiB");
	cr_assert_str_eq(size_format(3ull << 29).text, "1.5 GiB");
	cr_assert_str_eq(size_format((1 << 20) - 1).text, "1 MiB");
	cr_assert_str_eq(size_format(100 << 10).text, "100 KiB");
	cr_assert_str_eq(size_format(UINT64_MAX).text, "16 EiB");
}
