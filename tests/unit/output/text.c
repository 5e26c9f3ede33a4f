/* SPDX-License-Identifier: MIT */
#include "text.h"

#include "../trace_builder.h"
#include "blktrace.h"

#include <criterion/criterion.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

static struct trace t;

static void set_up(void)
{
	t = (struct trace){0};
	TRACE(&t, .act = 't', .sector = 1000000000, .bytes = 999999999, .t = 1e6);
	TRACE(&t, .act = 'n', .text = "proc", .pid = 7, .t = 1e6);
}

static void tear_down(void)
{
	trace_free(&t);
	test_dir_remove();
}

TestSuite(text, .init = set_up, .fini = tear_down);

static char *dump_with(const struct text_options *options)
{
	static char got[8192];
	int fd = memfd_create("text", 0);
	struct recording *recording = NULL;
	struct merge_item item;
	struct scene scene;
	struct sink *sink;
	ssize_t n;
	char *path;

	trace_file(&t, "in");
	path = (char *)test_path("in");
	cr_assert_eq(recording_open(&path, 1, &recording, NULL), 0);
	scene_init_recording(&scene, recording);
	cr_assert_eq(text_sink_create(fd, options, &scene, &sink), 0);
	while (recording_next(recording, &item, NULL) == 1)
		cr_assert_eq(sink_event(sink, &item, NULL), 0);
	cr_assert_eq(sink_finish(sink, NULL), 0);
	sink_destroy(sink);
	recording_close(recording);
	n = pread(fd, got, sizeof(got) - 1, 0);
	cr_assert_geq(n, 0);
	got[n] = '\0';
	close(fd);
	return got;
}

static void expect(const char *expected)
{
	struct text_options options = {0};

	cr_assert_str_eq(dump_with(&options), expected);
}

static void expect_format(const char *format, const char *expected)
{
	struct text_options options = {.track = true};
	struct text_formats *formats;
	struct why why = {""};

	cr_assert_eq(text_formats_create(&formats), 0);
	cr_assert_eq(text_formats_all(formats, format, &why), 0, "%s", why.text);
	options.formats = formats;
	cr_assert_str_eq(dump_with(&options), expected);
	text_formats_destroy(formats);
}

/* FMT-CGROUP-BIT: blkparse does not show these at all. */
Test(text, cgroup_ids_leave_the_payload_as_it_is)
{
	TRACE(&t, .act = 'Q', .rwbs = "W", .sector = 8, .bytes = 4096, .pid = 7, .cgroup = 77,
	      .t = 2e6);
	TRACE(&t, .act = 'U', .number = 3, .pid = 7, .cgroup = 77, .t = 2e6 + 1);
	TRACE(&t, .act = 'X', .rwbs = "W", .sector = 8, .bytes = 4096, .number = 12, .pid = 7,
	      .cgroup = 77, .t = 2e6 + 2);
	TRACE(&t, .act = 'A', .rwbs = "W", .sector = 8, .bytes = 4096, .from_device = 254 << 20 | 1,
	      .from_sector = 16, .pid = 7, .cgroup = 77, .t = 2e6 + 3);
	TRACE(&t, .act = 'm', .text = "a note", .cgroup = 1, .t = 2e6 + 4);
	expect("  8,0    0        1     0.000000000     7  Q   W 8 + 8 [proc]\n"
	       "  8,0    0        2     0.000001000     7  U   N [proc] 3\n"
	       "  8,0    0        3     0.000002000     7  X   W 8 / 12 [proc]\n"
	       "  8,0    0        4     0.000003000     7  A   W 8 + 8 <- (254,1) 16\n"
	       "  8,0    0        0     0.000004000     0  m   N a note\n");
}

/* FMT-BAD-ACTION */
Test(text, unknown_actions_are_shown_by_number)
{
	TRACE(&t, .act = 'O', .code = 200, .rwbs = "W", .sector = 8, .bytes = 512, .pid = 7,
	      .pdu = "\x12\x34\0\0", .pdu_bytes = 4, .t = 2e6);
	TRACE(&t, .act = 'O', .code = 16, .rwbs = "W", .sector = 8, .bytes = 512, .pid = 7,
	      .t = 2e6 + 1);
	TRACE(&t, .act = 'O', .code = 17, .pdu = "zfcp", .pdu_bytes = 4, .pid = 7, .t = 2e6 + 2);
	TRACE(&t, .act = 'Q', .rwbs = "W", .sector = 8, .bytes = 512, .pid = 7, .t = 2e6 + 3);
	expect("  8,0    0        1     0.000000000     7 200   W 8 + 1 (12 34 00 ..) [proc]\n"
	       "  8,0    0        2     0.000001000     7 AB   W 8 + 1 [proc]\n"
	       "  8,0    0        3     0.000002000     7 DD   N (7a 66 63 70) [proc]\n"
	       "  8,0    0        4     0.000003000     7  Q   W 8 + 1 [proc]\n");
}

/* v2: nothing else in the field shows these. */
Test(text, zone_operations_have_letters)
{
	TRACE(&t, .protocol = 2, .act = 'Q', .rwbs = "WS", .sector = 524288, .pid = 7,
	      .more_categories = BT_ZONE_RESET, .t = 2e6);
	TRACE(&t, .protocol = 2, .act = 'Z', .sector = 8, .bytes = 4096, .pid = 7, .t = 2e6 + 1);
	TRACE(&t, .protocol = 2, .act = 'z', .sector = 8, .bytes = 4096, .pid = 7, .t = 2e6 + 2);
	TRACE(&t, .protocol = 2, .act = 'C', .rwbs = "W", .sector = 8, .bytes = 4096,
	      .more_categories = BT_ZONE_APPEND, .t = 2e6 + 3);
	TRACE(&t, .protocol = 2, .act = 'O', .code = 8, .rwbs = "W", .sector = 8, .bytes = 4096,
	      .more_categories = BT_ZONE_APPEND | BT_FS, .pid = 7, .t = 2e6 + 4);
	TRACE(&t, .protocol = 2, .act = 'C', .rwbs = "WS", .sector = 524288,
	      .more_categories = BT_ZONE_RESET, .t = 2e6 + 5);
	expect("  8,0    0        1     0.000000000     7  Q ZRS 524288 + 0 [proc]\n"
	       "  8,0    0        2     0.000001000     7 ZP   R 8 + 8 [proc]\n"
	       "  8,0    0        3     0.000002000     7 ZU   R 8 + 8 [proc]\n"
	       "  8,0    0        4     0.000003000     0  C  ZA 8 + 8 [0]\n"
	       "  8,0    0        5     0.000004000     7 ZA  ZA 8 + 8 [proc]\n"
	       "  8,0    0        6     0.000005000     0  C ZRS 524288 + 0 [0]\n");
}

/* FMT-PDU-BOUNDS, FMT-NOTE-PID, NAME-MISSING */
Test(text, kernel_text_is_escaped_and_unknown_names_have_a_placeholder)
{
	TRACE(&t, .act = 'n', .text = "\x1b[2Jsixteen char", .pid = 8, .t = 1e6);
	TRACE(&t, .act = 'Q', .rwbs = "R", .sector = 8, .bytes = 512, .pid = 8, .t = 2e6);
	TRACE(&t, .act = 'Q', .rwbs = "R", .sector = 8, .bytes = 512, .pid = 9, .t = 2e6 + 1);
	TRACE(&t, .act = 'm', .text = "two\nlines\x07", .pid = 8, .t = 2e6 + 2);
	TRACE(&t, .act = 'm', .pdu = "\xff\0", .pdu_bytes = 2, .t = 1e6);
	expect("  8,0    0        0    -1.000000000     0  m   N \\xff\\x00\n"
	       "  8,0    0        1     0.000000000     8  Q   R 8 + 1 [\\x1b[2Jsixteen char]\n"
	       "  8,0    0        2     0.000001000     9  Q   R 8 + 1 [<...>]\n"
	       "  8,0    0        0     0.000002000     8  m   N two\\x0alines\\x07\n");
}

/* FMT-ERROR-FIELD, FMT-EMPTY-REQUEST, FMT-PASSTHROUGH */
Test(text, errors_have_a_sign_and_what_has_no_place_shows_none)
{
	TRACE(&t, .act = 'D', .rwbs = "FN", .sector = UINT64_MAX, .pid = 7, .t = 2e6);
	TRACE(&t, .act = 'C', .rwbs = "FN", .sector = UINT64_MAX, .error = -5, .t = 2e6 + 1);
	TRACE(&t, .act = 'C', .rwbs = "R", .sector = 8, .bytes = 512, .error = 10, .t = 2e6 + 2);
	TRACE(&t, .act = 'D', .rwbs = "RV", .bytes = 36, .pid = 7, .pdu = "\x12\0\0\0\x24\0",
	      .pdu_bytes = 6, .t = 2e6 + 3);
	TRACE(&t, .act = 'C', .rwbs = "RV", .bytes = 36, .error = -121, .t = 2e6 + 4);
	expect("  8,0    0        1     0.000000000     7  D  FN [proc]\n"
	       "  8,0    0        2     0.000001000     0  C  FN [-5]\n"
	       "  8,0    0        3     0.000002000     0  C   R 8 + 1 [10]\n"
	       "  8,0    0        4     0.000003000     7  D   R 36 (12 00 00 00 24 00 ..) [proc]\n"
	       "  8,0    0        5     0.000004000     0  C   R [-121]\n");
}

/* Ours: what blkparse's language does not have. TIME-WALLCLOCK */
Test(text, own_fields)
{
	setenv("TZ", "XYZ-1:30", 1);
	tzset();
	TRACE(&t, .act = 'C', .rwbs = "FWFS", .sector = 8, .bytes = 512, .error = -61, .cgroup = 77,
	      .pid = 7, .t = 2e6, .ns = 1);
	expect_format(
		"%I %L %E %5g|%V|%u\\n",
		"2001-09-09T01:46:42.000000000Z preflush,write,fua,sync ENODATA    77|8,0|-\n");
	expect_format("%J %z\\n", "2001-09-09T03:16:42.000000000+01:30 03:16:42.000000\n");
}

/* Letters and names that blkparse does not know; a name is the same action as its letters. */
Test(text, every_action_can_have_a_format_of_its_own)
{
	static const char *const own[] = {"ZP,one %a\\n", "zone-unplug,two %a\\n", "ZA,three %a\\n",
					  "UT,four %a\\n", "complete,five %a\\n"};
	static const char *const bad[] = {"",	  ",",		"C",	 "ZX,%a",
					  "m,%a", "message,%a", "CC,%a", "c,%a"};
	struct text_options options = {0};
	struct text_formats *formats;

	cr_assert_eq(text_formats_create(&formats), 0);
	for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++)
		cr_assert_eq(text_formats_one(formats, own[i], NULL), 0, "%s", own[i]);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		cr_assert_eq(text_formats_one(formats, bad[i], NULL), -EINVAL, "%s", bad[i]);
	cr_assert_eq(text_formats_all(formats, "%a\\n", NULL), 0);
	options.formats = formats;
	TRACE(&t, .protocol = 2, .act = 'Z', .rwbs = "R", .sector = 8, .bytes = 4096, .t = 1e6);
	TRACE(&t, .protocol = 2, .act = 'z', .rwbs = "R", .sector = 8, .bytes = 4096, .t = 2e6);
	TRACE(&t, .act = 'T', .number = 3, .pid = 7, .t = 3e6);
	TRACE(&t, .act = 'U', .number = 3, .pid = 7, .t = 4e6);
	TRACE(&t, .act = 'C', .rwbs = "R", .sector = 8, .bytes = 4096, .t = 5e6);
	cr_assert_str_eq(dump_with(&options), "one ZP\ntwo ZU\nfour UT\nU\nfive C\n");
	text_formats_destroy(formats);
}

/* TIME-WALLCLOCK: the machine slept, or the trace was started again behind a step of the clock. */
Test(text, the_wall_clock_is_that_of_the_last_note)
{
	TRACE(&t, .act = 'P', .pid = 7, .t = 1e5);
	TRACE(&t, .act = 'P', .pid = 7, .t = 4e6);
	TRACE(&t, .act = 't', .sector = 1000003600, .bytes = 0, .t = 5e6);
	TRACE(&t, .act = 'P', .pid = 7, .t = 5e6);
	TRACE(&t, .act = 'P', .pid = 7, .t = 6e6);
	TRACE(&t, .act = 't', .sector = 999999000, .bytes = 999999999, .t = 7e6);
	TRACE(&t, .act = 'P', .pid = 7, .t = 7e6);
	expect_format("%I\\n", "2001-09-09T01:46:40.099999999Z\n"
			       "2001-09-09T01:46:43.999999999Z\n"
			       "2001-09-09T02:46:40.000000000Z\n"
			       "2001-09-09T02:46:41.000000000Z\n"
			       "2001-09-09T01:30:00.999999999Z\n");
}

/* TIME-WALLCLOCK: an hour that is left out, and one that comes twice. */
Test(text, local_time_has_its_offset)
{
	setenv("TZ", "CET-1CEST,M3.5.0,M10.5.0/3", 1);
	tzset();
	TRACE(&t, .act = 't', .sector = 1774745999, .bytes = 999999999, .t = 2e6);
	TRACE(&t, .act = 'P', .pid = 7, .t = 2e6);
	TRACE(&t, .act = 'P', .pid = 7, .t = 2e6, .ns = 1);
	TRACE(&t, .act = 't', .sector = 1792889999, .bytes = 999999999, .t = 3e6);
	TRACE(&t, .act = 'P', .pid = 7, .t = 3e6);
	TRACE(&t, .act = 'P', .pid = 7, .t = 3e6, .ns = 1);
	expect_format("%J\\n", "2026-03-29T01:59:59.999999999+01:00\n"
			       "2026-03-29T03:00:00.000000000+02:00\n"
			       "2026-10-25T02:59:59.999999999+02:00\n"
			       "2026-10-25T02:00:00.000000000+01:00\n");
}

Test(text, without_a_note_there_is_no_wall_clock)
{
	trace_free(&t);
	t = (struct trace){0};
	TRACE(&t, .act = 'P', .t = 2e6);
	expect_format("%I %J %z\\n", "- - -\n");
}

Test(text, stages_are_timed_and_lost_ones_are_not)
{
	TRACE(&t, .act = 'G', .rwbs = "W", .sector = 8, .bytes = 512, .t = 2e6);
	TRACE(&t, .act = 'I', .rwbs = "W", .sector = 8, .bytes = 512, .t = 2e6 + 10);
	TRACE(&t, .act = 'D', .rwbs = "W", .sector = 8, .bytes = 512, .more_categories = BT_FS,
	      .t = 2e6 + 30);
	TRACE(&t, .act = 'C', .rwbs = "W", .sector = 8, .bytes = 512, .t = 2e6 + 60);
	TRACE(&t, .act = 'C', .rwbs = "W", .sector = 8, .bytes = 512, .t = 2e6 + 70);
	TRACE(&t, .act = 'D', .rwbs = "W", .sector = 16, .bytes = 512, .more_categories = BT_FS,
	      .t = 2e6 + 80);
	expect_format("%a %u\\n", "G -\nI 10\nD 20\nC 30\nC -\nD -\n");
}

static void refuse(const char *format, bool one, const char *words)
{
	struct text_formats *formats;
	struct why why = {""};

	cr_assert_eq(text_formats_create(&formats), 0);
	cr_assert_eq(one ? text_formats_one(formats, format, &why)
			 : text_formats_all(formats, format, &why),
		     -EINVAL, "%s", format);
	cr_assert_not_null(strstr(why.text, words), "%s", why.text);
	text_formats_destroy(formats);
}

Test(text, wrong_formats_are_refused_in_words)
{
	refuse("%k", false, "no field %k");
	refuse("%-12", false, "ends within a field");
	refuse("%99999999999S", false, "wider than");
	refuse("\\q", false, "\\q in the format");
	refuse("\\", false, "in the format");
	refuse("Z,%a", true, "'Z,%a' is no format for an action");
	refuse("", true, "is no format");
	refuse("Q", true, "is no format");
}

Test(text, late_events_of_a_running_trace_are_marked)
{
	struct text_options options = {0};
	struct blkbox_event event = {.action = BLKBOX_PLUG,
				     .device = 8 << 20,
				     .protocol = 1,
				     .time_ns = 5};
	struct merge_item item = {.event = event, .late = true};
	struct recording *recording = NULL;
	int fd = memfd_create("text", 0);
	char got[256] = "", *path;
	struct scene scene;
	struct sink *sink;

	trace_file(&t, "in");
	path = (char *)test_path("in");
	cr_assert_eq(recording_open(&path, 1, &recording, NULL), 0);
	scene_init_recording(&scene, recording);
	scene.start_ns = SCENE_FROM_FIRST;
	cr_assert_eq(text_sink_create(fd, &options, &scene, &sink), 0);
	cr_assert_eq(sink_event(sink, &item, NULL), 0);
	cr_assert_eq(pread(fd, got, sizeof(got), 0), 0);
	cr_assert_eq(sink_flush(sink, NULL), 0);
	cr_assert_gt(pread(fd, got, sizeof(got) - 1, 0), 0);
	cr_assert_str_eq(got,
			 "  8,0    0        0     0.000000000     0  P   N [swapper] (late)\n");
	sink_destroy(sink);
	recording_close(recording);
	close(fd);
}
