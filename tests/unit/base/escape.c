/* SPDX-License-Identifier: MIT */
#include "escape.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

static void expect(const char *from, size_t n, const char *expected)
{
	char to[256];
	size_t written = escape_text(to, from, n);

	cr_assert_leq(written, ESCAPE_FACTOR * n);
	to[written] = '\0';
	cr_assert_str_eq(to, expected);
}

#define EXPECT(from, expected) expect(from, sizeof(from) - 1, expected)

Test(escape, leaves_what_can_be_read)
{
	EXPECT("", "");
	EXPECT("kworker/u8:0-flush", "kworker/u8:0-flush");
	EXPECT("caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x92\xbe",
	       "caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x92\xbe");
}

Test(escape, takes_the_power_from_control_characters)
{
	EXPECT("a\033[2Jb", "a\\x1b[2Jb");
	EXPECT("\r\n\t\x7f", "\\x0d\\x0a\\x09\\x7f");
	EXPECT("a\0b", "a\\x00b");
	/* C1: a terminal may take U+009B for the start of a sequence. */
	EXPECT("\xc2\x9b", "\\xc2\\x9b");
	/* Right-to-left override, isolate, zero width space. */
	EXPECT("\xe2\x80\xae", "\\xe2\\x80\\xae");
	EXPECT("\xe2\x81\xa6", "\\xe2\\x81\\xa6");
	EXPECT("\xe2\x80\x8b", "\\xe2\\x80\\x8b");
}

Test(escape, shows_broken_utf8_byte_by_byte)
{
	EXPECT("\x80", "\\x80");
	EXPECT("\xc3", "\\xc3");
	EXPECT("\xc3(", "\\xc3(");
	EXPECT("\xe2\x82", "\\xe2\\x82");
	EXPECT("\xc0\xaf", "\\xc0\\xaf");		    /* overlong */
	EXPECT("\xed\xa0\x80", "\\xed\\xa0\\x80");	    /* surrogate */
	EXPECT("\xf4\x90\x80\x80", "\\xf4\\x90\\x80\\x80"); /* beyond U+10FFFF */
	EXPECT("\xff\xfe", "\\xff\\xfe");
}

Test(escape, never_reads_behind_the_end_nor_writes_more_than_it_says)
{
	srand(3);
	for (int round = 0; round < 20000; round++) {
		size_t n = (size_t)rand() % 20;
		char *from = malloc(n ? n : 1);
		char *to = malloc(ESCAPE_FACTOR * n + 1);
		size_t written;

		for (size_t i = 0; i < n; i++)
			from[i] = (char)rand();
		written = escape_text(to, from, n);
		cr_assert_leq(written, ESCAPE_FACTOR * n);
		for (size_t i = 0; i < written; i++)
			cr_assert((unsigned char)to[i] >= 0x20 && to[i] != 0x7f);
		free(from);
		free(to);
	}
}

Test(escape, names_are_cut_between_characters)
{
	char to[8];

	escape_name(to, sizeof(to), "sda", 64);
	cr_assert_str_eq(to, "sda");
	escape_name(to, sizeof(to), "sda\033[2J", 64);
	cr_assert_str_eq(to, "sda\\x1b");
	escape_name(to, sizeof(to), "sdab\033", 64);
	cr_assert_str_eq(to, "sdab");
	escape_name(to, sizeof(to), "12345\xe2\x82\xac", 64);
	cr_assert_str_eq(to, "12345");
	escape_name(to, sizeof(to), "nvme0n1p1", 5);
	cr_assert_str_eq(to, "nvme0");
}
