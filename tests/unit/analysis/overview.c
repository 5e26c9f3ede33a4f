/* SPDX-License-Identifier: MIT */
#include "overview.h"

#include "log_writer.h"
#include "../trace_builder.h"

#include <criterion/criterion.h>
#include <fcntl.h>

enum {
	SDA = 8 << 20,
	SDB = 8 << 20 | 16
};

static void open_overview(const char *name, struct input **ret_input, struct overview *ret)
{
	struct why why = {""};

	cr_assert_eq(input_open(test_path(name), ret_input, &why), 0, "%s", why.text);
	cr_assert_eq(overview_init(ret, *ret_input, &why), 0, "%s", why.text);
}

/* Events of a CPU: a note, @n events. */
static void add_cpu(struct trace *trace, uint32_t device, uint32_t cpu, int n)
{
	TRACE(trace, .t = 1, .act = 'n', .text = "fio", .cpu = cpu, .device = device);
	for (int i = 0; i < n; i++)
		TRACE(trace, .t = 10 + i, .act = 'Q', .rwbs = "R", .sector = 8, .bytes = 512,
		      .cpu = cpu, .device = device);
}

static struct log_writer *begin_log(const char *name, int *ret_fd)
{
	static const struct log_device devices[] = {
		{.index = 0, .device = SDA, .disk = SDA, .protocol = 1, .name = "sda"},
		{.index = 1, .device = SDB, .disk = SDB, .protocol = 1, .name = "sdb"},
	};
	static const struct log_channel channels[] = {
		{0, 0, 1, LOG_RELAY_RECORDS},
		{1, 0, 0, LOG_RELAY_RECORDS},
		{2, 1, 0, LOG_RELAY_RECORDS},
	};
	struct log_writer *writer;
	int fd = open(test_path(name), O_CREAT | O_TRUNC | O_RDWR, 0600);

	cr_assert_eq(log_writer_create(fd, &(struct log_writer_options){0}, &writer, NULL), 0);
	cr_assert_eq(log_writer_devices(writer, devices, 2, NULL), 0);
	cr_assert_eq(log_writer_channels(writer, channels, 3, NULL), 0);
	for (uint32_t i = 0; i < 3; i++) {
		struct trace trace = {0};

		add_cpu(&trace, channels[i].device_index ? SDB : SDA, channels[i].cpu, 3 + (int)i);
		cr_assert_eq(log_writer_data(writer, i, trace.bytes, trace.n, NULL), 0);
		trace_free(&trace);
	}
	*ret_fd = fd;
	return writer;
}

static void expect_counts(const struct overview *overview)
{
	cr_assert_eq(overview->events, 3 + 4 + 5);
	cr_assert_eq(overview->notes, 3);
	cr_assert_eq(overview->bytes, 15 * 48 + 3 * 16);
	cr_assert_eq(overview->n_devices, 2);
	cr_assert_str_eq(overview->devices[0].name, "sda");
	cr_assert_eq(overview->devices[0].events, 7);
	cr_assert_eq(overview->devices[0].n_cpus, 2);
	cr_assert_eq(overview->devices[0].cpus[0].cpu, 0);
	cr_assert_eq(overview->devices[0].cpus[0].events, 4);
	cr_assert_eq(overview->devices[0].cpus[1].cpu, 1);
	cr_assert_eq(overview->devices[0].cpus[1].events, 3);
	cr_assert_eq(overview->devices[0].cpus[1].notes, 1);
	cr_assert_eq(overview->devices[0].cpus[1].bytes, 4 * 48 + 16);
	cr_assert_eq(overview->devices[1].events, 5);
}

Test(overview, a_whole_log_tells_its_figures, .fini = test_dir_remove)
{
	struct overview overview;
	struct input *input;
	int fd;
	struct log_writer *writer = begin_log("log", &fd);

	cr_assert_eq(log_writer_finish(writer, LOG_END_TIME, NULL), 0);
	log_writer_destroy(writer);
	close(fd);
	open_overview("log", &input, &overview);
	expect_counts(&overview);
	cr_assert(!overview.counted);
	cr_assert(overview.has_real);
	cr_assert_gt(overview.end_ns, overview.start_ns);
	cr_assert(overview_complete(&overview, input));
	overview_deinit(&overview);
	input_close(input);
}

Test(overview, a_log_that_was_cut_off_is_counted, .fini = test_dir_remove)
{
	struct overview overview;
	struct input *input;
	int fd;
	struct log_writer *writer = begin_log("log", &fd);

	log_writer_destroy(writer);
	close(fd);
	open_overview("log", &input, &overview);
	expect_counts(&overview);
	cr_assert(overview.counted);
	cr_assert_eq(overview.end_ns, log_reader_last_ns(input_log(input)));
	cr_assert(!overview_complete(&overview, input));
	overview_deinit(&overview);
	input_close(input);
}

Test(overview, what_the_kernel_counts_while_it_stops_is_no_loss, .fini = test_dir_remove)
{
	static const struct log_drops at_stop = {.device_index = 0,
						 .cpu = LOG_NO_CPU,
						 .count = 2,
						 .flags = LOG_DROPS_AT_STOP};
	static const struct log_drops loss[] = {
		{.device_index = 1, .cpu = LOG_NO_CPU, .from_ns = 5, .to_ns = 6, .count = 7},
		{.device_index = LOG_NO_CHANNEL, .cpu = 1, .from_ns = 7, .to_ns = 8, .count = 3},
	};

	for (size_t n = 0; n < 3; n++) {
		struct overview overview;
		struct input *input;
		int fd;
		struct log_writer *writer = begin_log("log", &fd);

		cr_assert_eq(log_writer_drops(writer, &at_stop, 1, NULL), 0);
		cr_assert_eq(log_writer_drops(writer, loss, n, NULL), 0);
		cr_assert_eq(log_writer_finish(writer, LOG_END_TIME, NULL), 0);
		log_writer_destroy(writer);
		close(fd);
		open_overview("log", &input, &overview);
		cr_assert_eq(overview.dropped_at_stop, 2);
		cr_assert_eq(overview.n_losses, n);
		cr_assert_eq(overview.dropped, n == 0 ? 0 : n == 1 ? 7 : 10);
		cr_assert_eq(overview.devices[0].dropped, 0);
		cr_assert_eq(overview.devices[1].dropped, n ? 7 : 0);
		cr_assert_eq(overview_complete(&overview, input), n == 0);
		overview_deinit(&overview);
		input_close(input);
	}
}

Test(overview, blktrace_files_are_counted, .fini = test_dir_remove)
{
	struct overview overview;
	struct trace trace = {0};
	struct input *input;

	add_cpu(&trace, SDA, 0, 4);
	TRACE(&trace, .t = 5, .act = 't', .sector = 1700000000, .cpu = 0);
	trace_file(&trace, "sda.blktrace.0");
	trace_free(&trace);
	trace = (struct trace){0};
	add_cpu(&trace, SDA, 3, 2);
	trace_bytes(&trace, "garbage", 7);
	trace_file(&trace, "sda.blktrace.3");
	trace_free(&trace);
	open_overview("sda", &input, &overview);
	cr_assert_eq(overview.events, 6);
	cr_assert_eq(overview.notes, 3);
	cr_assert_eq(overview.n_devices, 1);
	cr_assert_str_eq(overview.devices[0].name, "sda");
	cr_assert_eq(overview.devices[0].n_cpus, 2);
	cr_assert_eq(overview.devices[0].cpus[1].cpu, 3);
	cr_assert_eq(overview.devices[0].cpus[1].events, 2);
	cr_assert_eq(overview.start_ns, 10000); /* notes may be on another clock */
	cr_assert_eq(overview.end_ns, 13000);
	cr_assert(overview.has_real);
	cr_assert_eq(overview.real_offset_ns, 1700000000000000000 - 5000);
	cr_assert(!overview_complete(&overview, input));
	overview_deinit(&overview);
	input_close(input);
}

Test(overview, nothing_was_recorded, .fini = test_dir_remove)
{
	struct overview overview;
	struct input *input;

	test_file("sda.blktrace.0", "", 0);
	open_overview("sda", &input, &overview);
	cr_assert_eq(overview.events, 0);
	cr_assert_eq(overview.start_ns, 0);
	cr_assert_eq(overview.end_ns, 0);
	cr_assert(overview_complete(&overview, input));
	overview_deinit(&overview);
	input_close(input);
}

/* Set-up and the closing of the log are not the workload's time. */
Test(overview, a_recording_lasts_from_start_to_stop, .fini = test_dir_remove)
{
	static const char meta[] = LOG_META_RECORDED_FROM "=5000\0" LOG_META_RECORDED_TO "=9000";
	static const char broken[] = LOG_META_RECORDED_FROM "=5000\0" LOG_META_RECORDED_TO "=soon";

	for (int variant = 0; variant < 2; variant++) {
		struct overview overview;
		struct input *input;
		int fd;
		struct log_writer *writer = begin_log("log", &fd);

		cr_assert_eq(variant ? log_writer_meta(writer, broken, sizeof(broken), NULL)
				     : log_writer_meta(writer, meta, sizeof(meta), NULL),
			     0);
		cr_assert_eq(log_writer_finish(writer, LOG_END_TIME, NULL), 0);
		log_writer_destroy(writer);
		close(fd);
		open_overview("log", &input, &overview);
		cr_expect_eq(overview.start_ns == 5000, !variant);
		cr_expect_eq(overview.end_ns == 9000, !variant);
		overview_deinit(&overview);
		input_close(input);
	}
}
