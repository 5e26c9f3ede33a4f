/* SPDX-License-Identifier: MIT */
#include "task_stat.h"

#include "figure.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

static struct task_stat stat;

static int parse(const char *text)
{
	return task_stat_parse(text, strlen(text), &stat);
}

/* As a kernel wrote it, but for the fields that are asked for. */
#define FIELDS                                                                                     \
	" 1 0 0 0 -1 4194560 146233 600495759 31 29723 5394 12724 2874650 1584159 10 -10 3 0 4711 " \
	"45494272 "                                                                                \
	"3123 18446744073709551615 1 1 0 0 0 0 0 4096 1256 0 0 0 17 0 0 0 42 0 0 0 0 0 0 0 0 0 "   \
	"0\n"

Test(task_stat, fields)
{
	cr_assert_eq(parse("5 (name) S" FIELDS), 0);
	cr_expect_str_eq(stat.name, "name");
	cr_expect_eq(stat.state, 'S');
	cr_expect_eq(stat.parent, 1);
	cr_expect_eq(stat.major_faults, 31);
	cr_expect_eq(stat.threads, 3);
	cr_expect_eq(stat.start_ticks, 4711);
	cr_expect_eq(stat.blkio_ticks, 42);
}

Test(task_stat, names_of_any_bytes)
{
	static const char *const names[] = {"a b",
					    "a) R 1 (",
					    ")",
					    "(",
					    "",
					    "a\nb",
					    "f\xc3\xbcnf\xc3",
					    ") D 1 2",
					    "kworker/u4:3-events_unbound"};
	char text[512];

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		snprintf(text, sizeof(text), "5 (%s) D" FIELDS, names[i]);
		cr_assert_eq(parse(text), 0, "%s", names[i]);
		cr_expect_str_eq(stat.name, names[i]);
		cr_expect_eq(stat.state, 'D');
		cr_expect_eq(stat.blkio_ticks, 42);
	}
}

Test(task_stat, what_is_none_is_refused)
{
	static const char *const texts[] = {"",
					    "5",
					    "5 (name",
					    "5 name) S 1",
					    "5 )name( S 1 2 3",
					    "5 (name) S",
					    "5 (name) S 1 5 5 0 -1",
					    "5 (name)",
					    "5 (n) S 1 2 3 4 5 6 7 8 9 a b c d e f g h i j k l m"};

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		cr_expect_eq(parse(texts[i]), -EBADMSG, "%s", texts[i]);
}

Test(task_stat, a_cut_off_file_has_no_time_blocked)
{
	cr_assert_eq(parse("5 (name) S 1 5 5 0 -1 4194560 4 3 2 1 50 60 7 8 20 0 3 0 4711 1000\n"),
		     0);
	cr_expect_eq(stat.start_ticks, 4711);
	cr_expect_eq(stat.blkio_ticks, FIGURE_UNKNOWN);
}
