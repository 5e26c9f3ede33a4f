/* SPDX-License-Identifier: MIT */
#include "json.h"

#include <criterion/criterion.h>
#include <math.h>
#include <sys/mman.h>

static struct out out;
static struct json json;

static void setup(void)
{
	cr_assert_eq(out_init(&out, memfd_create("json", 0), OUT_ROOM_MAX), 0);
	json_init(&json, &out, false);
}

static void teardown(void)
{
	close(out.fd);
	out_deinit(&out);
}

TestSuite(json, .init = setup, .fini = teardown);

static void expect(const char *expected)
{
	char text[4096];
	ssize_t n;

	cr_assert_eq(out_flush(&out), 0);
	n = pread(out.fd, text, sizeof(text) - 1, 0);
	cr_assert_geq(n, 0);
	text[n] = '\0';
	cr_assert_str_eq(text, expected);
}

static void write_some(void)
{
	json_object_begin(&json, NULL);
	json_u64(&json, "u", UINT64_MAX);
	json_i64(&json, "i", INT64_MIN);
	json_double(&json, "d", 2.0 / 3, 3);
	json_double(&json, "nan", NAN, 3);
	json_double(&json, "inf", -INFINITY, 3);
	json_bool(&json, "yes", true);
	json_bool(&json, "no", false);
	json_null(&json, "nothing");
	json_string(&json, "none", NULL);
	json_array_begin(&json, "a");
	json_u64(&json, NULL, 1);
	json_array_begin(&json, NULL);
	json_array_end(&json);
	json_object_begin(&json, NULL);
	json_object_end(&json);
	json_array_end(&json);
	json_string(&json, "s", "x");
	json_object_end(&json);
	json_finish(&json);
}

Test(json, on_one_line)
{
	write_some();
	expect("{\"u\": 18446744073709551615, \"i\": -9223372036854775808, \"d\": 0.667, "
	       "\"nan\": null, \"inf\": null, \"yes\": true, \"no\": false, \"nothing\": null, "
	       "\"none\": null, \"a\": [1, [], {}], \"s\": \"x\"}\n");
}

Test(json, for_people)
{
	json_init(&json, &out, true);
	json_object_begin(&json, NULL);
	json_array_begin(&json, "traces");
	json_array_end(&json);
	json_array_begin(&json, "a");
	json_object_begin(&json, NULL);
	json_u64(&json, "n", 1);
	json_u64(&json, "m", 2);
	json_object_end(&json);
	json_u64(&json, NULL, 3);
	json_array_end(&json);
	json_object_end(&json);
	json_finish(&json);
	expect("{\n  \"traces\": [],\n  \"a\": [\n    {\n      \"n\": 1,\n      \"m\": 2\n    },\n"
	       "    3\n  ]\n}\n");
}

static void expect_string(const char *text, size_t n, const char *expected)
{
	json_bytes(&json, NULL, text, n);
	expect(expected);
	cr_assert_eq(ftruncate(out.fd, 0), 0);
	cr_assert_eq(lseek(out.fd, 0, SEEK_SET), 0);
}

Test(json, strings_of_any_bytes)
{
	expect_string("", 0, "\"\"");
	expect_string("a\"b\\c/", 6, "\"a\\\"b\\\\c/\"");
	expect_string("\n\r\t\x01\x1f\x7f\0x", 8, "\"\\n\\r\\t\\u0001\\u001f\\u007f\\u0000x\"");
	/* Well-formed UTF-8 of each length stays. */
	expect_string("\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80", 9,
		      "\"\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80\"");
	/* Cut off, alone, overlong, half of a pair, beyond Unicode. */
	expect_string("\xc3", 1, "\"\xef\xbf\xbd\"");
	expect_string("\xc3(", 2, "\"\xef\xbf\xbd(\"");
	expect_string("\x80x", 2, "\"\xef\xbf\xbdx\"");
	expect_string("\xc0\xaf", 2, "\"\xef\xbf\xbd\xef\xbf\xbd\"");
	expect_string("\xed\xa0\x80", 3, "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\"");
	expect_string("\xf4\x90\x80\x80", 4,
		      "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\"");
	expect_string("\xff", 1, "\"\xef\xbf\xbd\"");
}

Test(json, keys_are_escaped_too)
{
	json_object_begin(&json, NULL);
	json_u64(&json, "a\"b", 1);
	json_object_end(&json);
	expect("{\"a\\\"b\": 1}");
}

/* Nothing in it ends the <script> that it is in, and it is the same text to a reader. */
Test(json, strings_in_html)
{
	json.in_html = true;
	json_array_begin(&json, NULL);
	json_string(&json, NULL, "</script><!--&amp;\xe2\x80\xa8\xe2\x80\xa9\xe2\x80\xaa");
	json_u64(&json, NULL, 1);
	json_array_end(&json);
	expect("[\"\\u003c/script\\u003e\\u003c!--\\u0026amp;\\u2028\\u2029\\u202a\",1]");
}
