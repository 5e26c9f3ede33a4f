/* SPDX-License-Identifier: MIT */
#include "filter.h"

#include "../trace_builder.h"

#include <criterion/criterion.h>
#include <string.h>

static struct recording *recording;
static struct filter filter;

static void set_up(void)
{
	struct trace t = {0};
	char *path;

	TRACE(&t, .act = 't', .sector = 1000, .t = 1);
	TRACE(&t, .act = 'Q', .rwbs = "W", .t = 1e6, .sector = 100, .bytes = 4096, .pid = 7);
	TRACE(&t, .act = 'D', .rwbs = "WS", .t = 2e6, .sector = 100, .bytes = 4096, .cpu = 1);
	TRACE(&t, .act = 'C', .rwbs = "R", .t = 3e6, .sector = 108, .bytes = 8192,
	      .device = 259 << 20 | 1);
	TRACE(&t, .act = 'P', .t = 4e6, .pid = 7);
	TRACE(&t, .act = 'D', .rwbs = "FN", .t = 5e6);
	TRACE(&t, .act = 'm', .text = "note", .t = 6e6, .pid = 7);
	trace_file(&t, "in");
	trace_free(&t);
	path = (char *)test_path("in");
	cr_assert_eq(recording_open(&path, 1, &recording, NULL), 0);
	filter = (struct filter){0};
}

static void tear_down(void)
{
	recording_close(recording);
	filter_deinit(&filter);
	test_dir_remove();
}

TestSuite(filter, .init = set_up, .fini = tear_down);

/* Letters of the actions that pass. */
static void expect(const char *expected)
{
	struct why why = {""};
	struct merge_item item;
	char got[32] = "";

	cr_assert_eq(filter_resolve(&filter, recording, &why), 0, "%s", why.text);
	while (recording_next(recording, &item, NULL) == 1) {
		if (filter_passes(&filter, &item, item.event.pid == 7 ? "worker/1" : NULL))
			strcat(got, action_letters(&item.event));
	}
	cr_assert_str_eq(got, expected);
}

Test(filter, without_anything_set_all_pass)
{
	expect("tQDCPDm");
	cr_assert_not(filter_is_set(&filter));
}

Test(filter, by_mask_any_category_is_enough)
{
	filter.mask = BLKBOX_CAT_ISSUE | BLKBOX_CAT_COMPLETE;
	expect("DCD");
	cr_assert(filter_is_set(&filter));
}

Test(filter, by_device)
{
	char *names[] = {strdup("/dev/259:1"), NULL};
	struct why why = {""};

	filter.devices = calloc(1, sizeof(*names));
	filter.devices[0] = names[0];
	filter.n_devices = 1;
	expect("C");
	strcpy(filter.devices[0], "259,1");
	expect("C");
	strcpy(filter.devices[0], "sdx");
	cr_assert_eq(filter_resolve(&filter, recording, &why), -ENODEV);
	cr_assert_not_null(strstr(why.text, "it has: 8,0, 259,1"));
}

Test(filter, by_cpu_and_pid)
{
	uint32_t *numbers = malloc(sizeof(*numbers));

	*numbers = 1;
	filter.cpus = numbers;
	filter.n_cpus = 1;
	expect("D");
	filter.n_cpus = 0;
	numbers = malloc(sizeof(*numbers));
	*numbers = 7;
	filter.pids = numbers;
	filter.n_pids = 1;
	expect("QPm");
}

Test(filter, by_process_name_as_in_a_shell)
{
	filter.comms = calloc(1, sizeof(*filter.comms));
	filter.comms[0] = strdup("work*");
	filter.n_comms = 1;
	expect("QPm");
	strcpy(filter.comms[0], "work");
	expect("");
}

Test(filter, by_action_and_operation)
{
	filter.actions = calloc(2, sizeof(*filter.actions));
	cr_assert(action_find("issue", &filter.actions[0]));
	cr_assert(action_find("m", &filter.actions[1]));
	filter.n_actions = 2;
	expect("DDm");
	filter.operations = 1u << OPERATION_FLUSH;
	expect("D");
	filter.n_actions = 0;
	filter.operations = 1u << OPERATION_WRITE | 1u << OPERATION_READ;
	expect("QDC");
}

Test(filter, by_sectors_touched)
{
	filter.has_sectors = true;
	filter.first_sector = filter.last_sector = 107;
	expect("QD");
	filter.first_sector = filter.last_sector = 108;
	expect("C");
	filter.first_sector = 0;
	filter.last_sector = 99;
	expect("D");
}

Test(filter, by_size)
{
	filter.has_bytes = true;
	filter.min_bytes = 4097;
	filter.max_bytes = UINT64_MAX;
	expect("C");
}

Test(filter, by_time_from_the_start_and_by_wall_clock)
{
	filter.from = (struct moment){.is_set = true, .ns = 1000000000};
	filter.to = (struct moment){.is_set = true, .ns = 3000000000};
	expect("DCP");
	filter.from = (struct moment){.is_set = true, .is_wall = true, .ns = 1004000000000};
	filter.to.is_set = false;
	expect("Dm");
	filter.from.ns = 1; /* before the machine was booted */
	expect("tQDCPDm");
}

/* TIME-WALLCLOCK: set forward by an hour between the two. */
Test(filter, by_wall_clock_that_was_set)
{
	struct trace t = {0};
	char *path = (char *)test_path("in");

	TRACE(&t, .act = 't', .sector = 1000, .t = 0);
	TRACE(&t, .act = 'Q', .rwbs = "W", .t = 1e6);
	TRACE(&t, .act = 't', .sector = 4602, .t = 2e6);
	TRACE(&t, .act = 'D', .rwbs = "W", .t = 3e6);
	trace_file(&t, "in");
	trace_free(&t);
	recording_close(recording);
	cr_assert_eq(recording_open(&path, 1, &recording, NULL), 0);
	filter.from = (struct moment){.is_set = true, .is_wall = true, .ns = 4000000000000};
	expect("tD");
	filter.from.ns = 4603000000000;
	filter.to = (struct moment){.is_set = true, .is_wall = true, .ns = 4603000000000};
	expect("D");
	filter.from.ns = 1001000000000;
	filter.to.ns = 1002000000000;
	expect("Q");
}
