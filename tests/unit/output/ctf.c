/* SPDX-License-Identifier: MIT */
#include "ctf.h"

#include "../trace_builder.h"
#include "log_writer.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

enum {
	SDA = 8 << 20
};

/* Two CPUs with an event each second from 1 to 9; losses are the caller's. */
static void write_log(const struct log_drops *drops, size_t n)
{
	int fd = open(test_path("log"), O_CREAT | O_RDWR | O_TRUNC, 0600);
	struct log_writer_options options = {.compress = true};
	struct log_device device = {.device = SDA, .disk = SDA, .protocol = 2, .name = "sda"};
	struct log_channel channels[] = {
		{.channel = 0, .cpu = 0, .kind = LOG_RELAY_RECORDS},
		{.channel = 1, .cpu = 1, .kind = LOG_RELAY_RECORDS},
	};
	struct log_writer *writer;

	cr_assert_eq(log_writer_create(fd, &options, &writer, NULL), 0);
	cr_assert_eq(log_writer_devices(writer, &device, 1, NULL), 0);
	cr_assert_eq(log_writer_channels(writer, channels, 2, NULL), 0);
	for (uint32_t cpu = 0; cpu < 2; cpu++) {
		struct trace t = {0};

		for (int second = 1; second < 10; second++)
			TRACE(&t, .protocol = 2, .act = 'Q', .rwbs = "W", .sector = 8, .bytes = 512,
			      .cpu = cpu, .t = second * 1e6, .device = SDA);
		cr_assert_eq(log_writer_data(writer, cpu, t.bytes, t.n, NULL), 0);
		trace_free(&t);
	}
	if (n)
		cr_assert_eq(log_writer_drops(writer, drops, n, NULL), 0);
	cr_assert_eq(log_writer_finish(writer, LOG_END_TIME, NULL), 0);
	log_writer_destroy(writer);
	close(fd);
}

static void export_filtered(struct filter *filter)
{
	struct recording *recording = NULL;
	struct merge_item item;
	struct scene scene;
	struct sink *sink;
	struct why why = {""};
	char *path = (char *)test_path("log");

	cr_assert_eq(recording_open(&path, 1, &recording, &why), 0, "%s", why.text);
	scene_init_recording(&scene, recording);
	cr_assert_eq(filter_resolve(filter, recording, &why), 0, "%s", why.text);
	scene.filter = filter;
	cr_assert_eq(ctf_sink_create(test_path("ctf/"), true, &scene, recording, &sink, &why), 0,
		     "%s", why.text);
	while (recording_next(recording, &item, NULL) == 1) {
		if (filter_passes(filter, &item, NULL))
			cr_assert_eq(sink_event(sink, &item, NULL), 0);
	}
	cr_assert_eq(sink_finish(sink, &why), 0, "%s", why.text);
	sink_destroy(sink);
	recording_close(recording);
}

static void export_log(void)
{
	struct filter filter = {0};

	export_filtered(&filter);
	filter_deinit(&filter);
}

/* All that a command prints. */
static const char *run(const char *command)
{
	static char text[16384];
	FILE *pipe = popen(command, "r");
	size_t n = fread(text, 1, sizeof(text) - 1, pipe);

	text[n] = '\0';
	cr_assert_eq(pclose(pipe), 0, "%s: %s", command, text);
	return text;
}

/* What babeltrace2 says of the trace: how many events, and which were discarded. */
static const char *babeltrace(size_t *ret_events)
{
	char command[512];

	if (system("command -v babeltrace2 >/dev/null") != 0)
		cr_skip_test("babeltrace2 is not installed");
	snprintf(command, sizeof(command), "babeltrace2 %s 2>/dev/null | wc -l", test_path("ctf"));
	*ret_events = strtoul(run(command), NULL, 10);
	snprintf(command, sizeof(command), "babeltrace2 %s 2>&1 >/dev/null", test_path("ctf"));
	return run(command);
}

TestSuite(ctf, .fini = test_dir_remove);

Test(ctf, losses_of_a_cpu_are_discarded_events_in_their_window)
{
	struct log_drops drops[] = {
		{.cpu = 1, .from_ns = 3500000000, .to_ns = 5500000000, .count = 7},
		{.cpu = 1, .from_ns = 8500000000, .to_ns = 8600000000, .count = 100},
		{.cpu = 0, .from_ns = 9500000000, .to_ns = 9600000000, .count = 1000},
		{.cpu = 0,
		 .from_ns = 9600000000,
		 .to_ns = 9700000000,
		 .count = 5,
		 .flags = LOG_DROPS_AT_STOP},
	};
	const char *text;
	size_t events;

	write_log(drops, 4);
	export_log();
	text = babeltrace(&events);
	cr_assert_eq(events, 18);
	cr_assert_not_null(strstr(text, "7 events"), "%s", text);
	cr_assert_not_null(strstr(text, "100 events"), "%s", text);
	cr_assert_not_null(strstr(text, "1000 events"), "%s", text);
	cr_assert_null(strstr(text, "5 events"), "%s", text);
}

Test(ctf, losses_of_a_device_and_before_the_first_event_are_told)
{
	struct log_drops drops[] = {
		{.cpu = LOG_NO_CPU, .from_ns = 100, .to_ns = 200, .count = 7},
		{.cpu = 12, .from_ns = 300, .to_ns = 400, .count = 9},
	};
	const char *text;
	size_t events;

	write_log(drops, 2);
	export_log();
	text = babeltrace(&events);
	cr_assert_eq(events, 18);
	cr_assert_not_null(strstr(text, "7 events"), "%s", text);
	cr_assert_not_null(strstr(text, "9 events"), "%s", text);
}

Test(ctf, only_a_trace_is_overwritten)
{
	struct recording *recording = NULL;
	struct scene scene;
	struct sink *sink;
	struct why why = {""};
	char *path;

	write_log(NULL, 0);
	export_log();
	export_log();
	path = (char *)test_path("log");
	cr_assert_eq(recording_open(&path, 1, &recording, NULL), 0);
	scene_init_recording(&scene, recording);
	cr_assert_eq(ctf_sink_create(test_path("ctf"), false, &scene, recording, &sink, &why),
		     -EEXIST);
	cr_assert_eq(ctf_sink_create(test_path("none/ctf"), false, &scene, recording, &sink, &why),
		     -ENOENT);
	recording_close(recording);
}

/*
 * What babeltrace2 prints of discarded events: how many, and the ends of the window in tenths of
 * a second since the first event.
 */
static const char *discarded(void)
{
	static const char awk[] =
		"awk -F '[^0-9.]+' '"
		"/^\\[/ && !first { first = $4 } "
		"/discarded/ { sub(/.*discarded /, \"\"); count[++n] = $1; from[n] = $4; to[n] = "
		"$7 } "
		"function tenths(s) { return int(10 * (s - first + 60) + 0.5) % 600 } "
		"END { for (i = 1; i <= n; i++) "
		"print count[i] \",\" tenths(from[i]) \",\" tenths(to[i]) }'";
	char command[1024];

	snprintf(command, sizeof(command), "babeltrace2 %s 2>&1 | %s", test_path("ctf"), awk);
	return run(command);
}

Test(ctf, windows_have_their_own_ends)
{
	struct log_drops drops[] = {
		/* With an event in it; between two events; two that overlap; one right behind. */
		{.cpu = 1, .from_ns = 1500000000, .to_ns = 2500000000, .count = 11},
		{.cpu = 1, .from_ns = 3200000000, .to_ns = 3400000000, .count = 12},
		{.cpu = 1, .from_ns = 5100000000, .to_ns = 5300000000, .count = 10},
		{.cpu = 1, .from_ns = 5100000000, .to_ns = 5400000000, .count = 3},
		{.cpu = 1, .from_ns = 5600000000, .to_ns = 5700000000, .count = 14},
	};
	const char *text;
	size_t events;

	write_log(drops, 5);
	export_log();
	babeltrace(&events);
	cr_assert_eq(events, 18);
	text = discarded();
	cr_assert_str_eq(text, "11,5,15\n12,22,24\n13,41,44\n14,46,47\n");
}

Test(ctf, losses_outside_of_the_filter_are_not_told)
{
	struct log_drops drops[] = {
		{.cpu = 1, .from_ns = 1500000000, .to_ns = 1600000000, .count = 11},
		{.cpu = 1, .from_ns = 4500000000, .to_ns = 4600000000, .count = 12},
		{.cpu = 0, .from_ns = 4500000000, .to_ns = 4600000000, .count = 13},
		{.cpu = 1, .from_ns = 7500000000, .to_ns = 7600000000, .count = 14},
	};
	struct filter filter = {
		.cpus = malloc(sizeof(uint32_t)),
		.n_cpus = 1,
		/* Since the first event, which is at 1 s. */
		.from = {.is_set = true, .ns = 2000000000},
		.to = {.is_set = true, .ns = 5000000000},
	};
	const char *text;
	size_t events;

	filter.cpus[0] = 1;
	write_log(drops, 4);
	export_filtered(&filter);
	filter_deinit(&filter);
	babeltrace(&events);
	cr_assert_eq(events, 4);
	text = discarded();
	cr_assert_eq(strncmp(text, "12,", 3), 0, "%s", text);
	cr_assert_str_eq(strchr(text, '\n'), "\n");
}

/* A folder that has a metadata of somebody else's is not ours to empty. */
Test(ctf, force_spares_folders_that_hold_anything_else)
{
	static const char *const others[] = {"photo", "cpu_01", "cpu_1_of", "cpu_ 1", "cpu_1.old"};
	struct recording *recording = NULL;
	struct scene scene;
	struct sink *sink;
	char path[512];
	char *log;

	write_log(NULL, 0);
	log = (char *)test_path("log");
	cr_assert_eq(recording_open(&log, 1, &recording, NULL), 0);
	scene_init_recording(&scene, recording);
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		struct why why = {""};

		export_log();
		snprintf(path, sizeof(path), "%s/%s", test_path("ctf"), others[i]);
		close(open(path, O_CREAT | O_WRONLY, 0600));
		cr_assert_eq(ctf_sink_create(test_path("ctf"), true, &scene, recording, &sink,
					     &why),
			     -EEXIST);
		cr_assert_not_null(strstr(why.text, others[i]), "%s", why.text);
		cr_assert_eq(access(test_path("ctf/metadata"), F_OK), 0);
		cr_assert_neq(access(test_path("ctf.part"), F_OK), 0);
		cr_assert_eq(unlink(path), 0);
	}
	recording_close(recording);
}
