/* SPDX-License-Identifier: MIT */
#include "watch_list.h"

#include <criterion/criterion.h>

static const char *names[] = {"car.c", "ui", "selfd", "controlsd", "selfdrive.car.card"};

static const char *label(const char *name)
{
	const struct watch_list list = {.names = names, .n_names = 5};

	return watch_list_label(&list, 1, name);
}

Test(watch_list, exactly_then_a_whole_word_then_the_longest_part)
{
	cr_expect_str_eq(label("ui"), "ui");
	cr_expect_str_eq(label("./ui"), "ui");
	/* Not ui, which is part of it, too, and comes first. */
	cr_expect_str_eq(label("build-selfd"), "selfd");
	cr_expect_str_eq(label("xcontrolsdui"), "controlsd");
	/* The kernel has cut it off. */
	cr_expect_str_eq(label("selfdrive.car.c"), "selfdrive.car.card");
	cr_expect_null(label("systemd"));
	cr_expect_null(label(""));
}

Test(watch_list, by_number_and_everybody)
{
	const pid_t pids[] = {7, 9};
	const struct watch_list by_number = {.pids = pids, .n_pids = 2};
	const struct watch_list all = {0};
	const struct watch_list both = {.names = names, .n_names = 5, .everybody = true};

	cr_expect_str_eq(watch_list_label(&by_number, 9, "x"), "x");
	cr_expect_null(watch_list_label(&by_number, 8, "x"));
	cr_expect_str_eq(watch_list_label(&all, 8, "x"), "x");
	cr_expect_str_eq(watch_list_label(&both, 8, "x"), "x");
	cr_expect_str_eq(watch_list_label(&both, 8, "x ui"), "ui");
}
