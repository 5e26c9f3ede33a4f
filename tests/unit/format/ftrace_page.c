/* SPDX-License-Identifier: MIT */
#include "ftrace_page.h"

#include "page_builder.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <string.h>

static const char header_page[] = "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n"
				  "\tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;\n"
				  "\tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;\n"
				  "\tfield: char data;\toffset:16;\tsize:4080;\tsigned:0;\n";
static const char header_event[] = "# compressed entry header\n"
				   "\ttype_len    :    5 bits\n"
				   "\ttime_delta  :   27 bits\n"
				   "\tarray       :   32 bits\n"
				   "\n"
				   "\tpadding     : type == 29\n"
				   "\ttime_extend : type == 30\n"
				   "\ttime_stamp : type == 31\n"
				   "\tdata max type_len  == 28\n";
static const struct ftrace_page_layout layout = {16, 4080, 8};

Test(ftrace_page, layout_of_a_kernel)
{
	struct ftrace_page_layout got = {0};

	cr_assert_eq(ftrace_page_layout_parse(header_page, &got), 0);
	cr_expect_eq(got.data_offset, 16);
	cr_expect_eq(got.data_bytes, 4080);
	cr_expect_eq(got.commit_offset, 8);
	cr_expect_eq(ftrace_page_check_entries(header_event), 0);
}

Test(ftrace_page, layouts_that_nobody_has)
{
	struct ftrace_page_layout got;
	char text[sizeof(header_page)], *at;

	cr_expect_eq(ftrace_page_layout_parse("", &got), -EINVAL);
	strcpy(text, header_page);
	memcpy(strstr(text, "offset:16"), "offset:10", 9); /* inside of the commit word */
	cr_expect_eq(ftrace_page_layout_parse(text, &got), -EINVAL);
	strcpy(text, header_page);
	memcpy(strstr(text, "size:4080"), "size:9999999", 9);
	cr_expect_eq(ftrace_page_layout_parse(text, &got), 0, "a larger page is fine");
	strcpy(text, header_event);
	at = strstr(text, "== 29");
	at[4] = '8';
	cr_expect_eq(ftrace_page_check_entries(text), -EINVAL);
	cr_expect_eq(ftrace_page_check_entries(""), -EINVAL);
}

Test(ftrace_page, all_kinds_of_entries)
{
	struct page p;
	struct ftrace_page page;
	struct ftrace_entry entry;

	page_begin(&p, 1000);
	page_head(&p, 2, 5); /* short form: 8 bytes */
	page_word(&p, 0x11111111);
	page_word(&p, 0x22222222);
	page_head(&p, 30, 3); /* extend: (2 << 27) + 3 */
	page_word(&p, 2);
	page_head(&p, 0, 1); /* long form: length 9 counts itself; padded to 12 */
	page_word(&p, 9);
	page_word(&p, 0x33333333);
	page_word(&p, 0x44444444);
	page_head(&p, 29, 1); /* discarded: 4 + 8 bytes */
	page_word(&p, 8);
	page_word(&p, 0x55555555);
	page_head(&p, 31, 7); /* absolute: (100 << 27) + 7 */
	page_word(&p, 100);
	page_head(&p, 1, 2);
	page_word(&p, 0x66666666);
	page_head(&p, 29, 0); /* nothing follows */
	page_word(&p, 0x77777777);
	page_end(&p, 0xffffffff00000000);

	cr_assert_eq(ftrace_page_open(&layout, p.bytes, &page), 0);
	cr_expect_eq(page.lost, FTRACE_NOTHING_LOST);
	cr_assert_eq(ftrace_page_next(&page, &entry), 1);
	cr_expect_eq(entry.time_ns, 1005);
	cr_expect_eq(entry.size, 8);
	cr_expect_eq(entry.data[4], 0x22);
	cr_assert_eq(ftrace_page_next(&page, &entry), 1);
	cr_expect_eq(entry.time_ns, 1005 + (2ull << 27) + 3 + 1);
	cr_expect_eq(entry.size, 5);
	cr_expect_eq(entry.data[4], 0x44);
	cr_assert_eq(ftrace_page_next(&page, &entry), 1);
	cr_expect_eq(entry.time_ns, (100ull << 27) + 7 + 2);
	cr_expect_eq(entry.data[0], 0x66);
	cr_expect_eq(ftrace_page_next(&page, &entry), 0);
}

Test(ftrace_page, absolute_stamp_keeps_the_high_bits)
{
	struct page p;
	struct ftrace_page page;
	struct ftrace_entry entry;

	page_begin(&p, 3ull << 59 | 12345);
	page_head(&p, 31, 7);
	page_word(&p, 1);
	page_head(&p, 1, 0);
	page_word(&p, 0);
	page_end(&p, 0);
	cr_assert_eq(ftrace_page_open(&layout, p.bytes, &page), 0);
	cr_assert_eq(ftrace_page_next(&page, &entry), 1);
	cr_expect_eq(entry.time_ns, (3ull << 59) + (1ull << 27) + 7);
}

Test(ftrace_page, losses)
{
	struct page p;
	struct ftrace_page page;
	uint64_t lost = 321;

	page_begin(&p, 1000);
	page_v1(&p, 0, SDA, 8, QUEUE_WRITE, 0, NULL);
	page_end(&p, 0xffffffff80000000);
	cr_assert_eq(ftrace_page_open(&layout, p.bytes, &page), 0);
	cr_expect_eq(page.lost, FTRACE_LOST);

	page_end(&p, 0xc0000000);
	memcpy(p.bytes + p.at, &lost, 8);
	cr_assert_eq(ftrace_page_open(&layout, p.bytes, &page), 0);
	cr_expect_eq(page.lost, FTRACE_LOST_COUNTED);
	cr_expect_eq(page.lost_count, 321);

	p.at = PAGE - 4; /* says that there is a number, but there is no room for it */
	page_end(&p, 0xc0000000);
	cr_expect_eq(ftrace_page_open(&layout, p.bytes, &page), -EBADMSG);
}

Test(ftrace_page, lengths_that_cannot_be)
{
	static const struct {
		uint32_t type_len, delta, length;
		size_t at; /* of the entry; 0 = at the start */
	} cases[] = {
		{0, 1, 0, 0},	       {0, 1, 3, 0},	       {0, 1, 5000, 0},
		{0, 1, 0xffffffff, 0}, {29, 1, 0xffffffff, 0}, {29, 1, 0, 0},
		{28, 0, 0, PAGE - 32}, {0, 0, 0, PAGE - 4},    {30, 0, 0, PAGE - 4},
		{31, 0, 0, PAGE - 4},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		/* An allocation of its own, so that a sanitizer sees what lies outside. */
		uint8_t *exact = malloc(PAGE);
		struct ftrace_page page;
		struct ftrace_entry entry;
		struct page p;

		page_begin(&p, 0);
		if (cases[i].at) { /* one long entry in front */
			page_head(&p, 0, 0);
			page_word(&p, cases[i].at - DATA - 4);
			p.at = cases[i].at;
		}
		page_head(&p, cases[i].type_len, cases[i].delta);
		if (p.at < PAGE)
			page_word(&p, cases[i].length);
		p.at = PAGE;
		page_end(&p, 0);
		memcpy(exact, p.bytes, PAGE);
		cr_assert_eq(ftrace_page_open(&layout, exact, &page), 0);
		if (cases[i].at)
			cr_assert_eq(ftrace_page_next(&page, &entry), 1, "case %zu", i);
		cr_expect_eq(ftrace_page_next(&page, &entry), -EBADMSG, "case %zu", i);
		free(exact);
	}
}

Test(ftrace_page, more_than_a_page)
{
	struct ftrace_page page;
	struct page p;

	page_begin(&p, 0);
	p.at = PAGE + 4;
	page_end(&p, 0);
	cr_expect_eq(ftrace_page_open(&layout, p.bytes, &page), -EBADMSG);
}
