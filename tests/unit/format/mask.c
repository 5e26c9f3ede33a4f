/* SPDX-License-Identifier: MIT */
#include "mask.h"

#include <criterion/criterion.h>
#include <linux/blktrace_api.h>
#include <string.h>

static void expect_names(const char *text, uint32_t mask)
{
	struct why why = {""};
	uint32_t got = 0;

	cr_expect_eq(mask_parse_names(text, &got, &why), 0, "%s: %s", text, why.text);
	cr_expect_eq(got, mask, "%s: %x", text, got);
}

Test(mask, names_are_the_kernels_bits)
{
	expect_names("read", BLK_TC_READ);
	expect_names("write", BLK_TC_WRITE);
	expect_names("flush", BLK_TC_FLUSH);
	expect_names("barrier", BLK_TC_FLUSH);
	expect_names("sync", BLK_TC_SYNC);
	expect_names("queue", BLK_TC_QUEUE);
	expect_names("requeue", BLK_TC_REQUEUE);
	expect_names("issue", BLK_TC_ISSUE);
	expect_names("complete", BLK_TC_COMPLETE);
	expect_names("fs", BLK_TC_FS);
	expect_names("pc", BLK_TC_PC);
	expect_names("notify", BLK_TC_NOTIFY);
	expect_names("ahead", BLK_TC_AHEAD);
	expect_names("meta", BLK_TC_META);
	expect_names("discard", BLK_TC_DISCARD);
	expect_names("drv_data", BLK_TC_DRV_DATA);
	expect_names("fua", BLK_TC_FUA);
	expect_names("zone_append", 1 << 16);
	expect_names("zone_reset", 1 << 17);
	expect_names("zone_reset_all", 1 << 18);
	expect_names("zone_finish", 1 << 19);
	expect_names("zone_open", 1 << 20);
	expect_names("zone_close", 1 << 21);
	expect_names("write_zeroes", 1 << 22);
	expect_names("Issue,COMPLETE", BLK_TC_ISSUE | BLK_TC_COMPLETE);
}

Test(mask, a_name_that_is_none)
{
	static const char *const bad[] = {"", ",", "read,", ",read", "reads", "rea", "read write"};
	struct why why;
	uint32_t mask = 7;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		cr_expect_eq(mask_parse_names(bad[i], &mask, &why), -EINVAL, "'%s'", bad[i]);
	cr_assert_eq(mask_parse_names("read,wriite", &mask, &why), -EINVAL);
	cr_assert_str_eq(
		why.text,
		"there is no category 'wriite'; there are "
		"read,write,flush,sync,queue,requeue,issue,complete,fs,pc,notify,ahead,meta,"
		"discard,drv_data,fua,zone_append,zone_reset,zone_reset_all,zone_finish,"
		"zone_open,zone_close,write_zeroes");
	cr_assert_eq(mask, 7);
}

Test(mask, hexadecimal)
{
	static const char *const bad[] = {"",	"0x",	"0",	  "0x0",
					  "-1", "12g",	"800000", "ffffffffffffffffffff",
					  " 1", "0x 1", "read"};
	struct why why;
	uint32_t mask = 7;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		cr_expect_eq(mask_parse_hex(bad[i], &mask, &why), -EINVAL, "'%s'", bad[i]);
	cr_assert_eq(mask, 7);
	cr_assert_eq(mask_parse_hex("c0", &mask, &why), 0);
	cr_assert_eq(mask, BLK_TC_ISSUE | BLK_TC_COMPLETE);
	cr_assert_eq(mask_parse_hex("0X7FFFFF", &mask, &why), 0);
	cr_assert_eq(mask, MASK_ALL);
}

Test(mask, as_text)
{
	char text[MASK_TEXT_MAX], small[6];

	mask_format(BLK_TC_ISSUE | BLK_TC_COMPLETE, text, sizeof(text));
	cr_assert_str_eq(text, "issue,complete");
	mask_format(0, text, sizeof(text));
	cr_assert_str_eq(text, "none");
	mask_format(0x80000001, text, sizeof(text));
	cr_assert_str_eq(text, "read,0x80000000");
	mask_format(UINT32_MAX, text, sizeof(text));
	cr_assert(strstr(text, "write_zeroes,0xff800000"));
	mask_format(MASK_ALL, small, sizeof(small));
	cr_assert_str_eq(small, "read,");
}
