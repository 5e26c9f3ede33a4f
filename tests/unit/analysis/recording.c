/* SPDX-License-Identifier: MIT */
#include "recording.h"

#include "../trace_builder.h"
#include "log_writer.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
	MAX_READ = 20000
};

static struct read_back {
	size_t n;
	uint64_t time_ns[MAX_READ];
	uint32_t cpu[MAX_READ];
	uint32_t sequence[MAX_READ];
	uint32_t tag[MAX_READ];
	size_t late;
} got;

static struct recording *open_all(const char *const *names, size_t n)
{
	struct recording *recording = NULL;
	struct why why = {""};
	char *paths[4];

	for (size_t i = 0; i < n; i++)
		paths[i] = (char *)test_path(names[i]);
	cr_assert_eq(recording_open(paths, n, &recording, &why), 0, "%s", why.text);
	return recording;
}

static void read_all(struct recording *recording)
{
	struct merge_item item;
	int r;

	got.n = got.late = 0;
	while ((r = recording_next(recording, &item, NULL)) == 1) {
		got.time_ns[got.n] = item.event.time_ns;
		got.cpu[got.n] = item.event.cpu;
		got.sequence[got.n] = item.event.sequence;
		got.tag[got.n] = item.tag;
		got.late += item.late;
		got.n++;
	}
	cr_assert_eq(r, 0);
}

static struct recording *read_one(const char *name)
{
	struct recording *recording = open_all(&name, 1);

	read_all(recording);
	return recording;
}

static void expect_order(void)
{
	for (size_t i = 1; i < got.n; i++) {
		bool ordered =
			got.time_ns[i] > got.time_ns[i - 1] ||
			(got.time_ns[i] == got.time_ns[i - 1] && got.cpu[i] >= got.cpu[i - 1]);

		cr_assert(ordered, "event %zu", i);
	}
	cr_assert_eq(got.late, 0);
}

TestSuite(recording, .fini = test_dir_remove);

/* MERGE-READER-SWITCH: count in = count out, strict order, for any interleaving. */
Test(recording, every_record_of_every_cpu_comes_out_once_in_order)
{
	srand(1);
	for (int round = 0; round < 20; round++) {
		struct trace cpus[4] = {0}, stream = {0};
		struct recording *recording;
		double t = 0;

		for (int i = 0; i < 3000; i++) {
			uint32_t cpu = (uint32_t)rand() % 4;

			t += rand() % 3;
			TRACE(&cpus[cpu], .act = i % 2 ? 'C' : 'D', .rwbs = "R", .t = t,
			      .cpu = cpu);
			TRACE(&stream, .act = 'Q', .rwbs = "R", .t = t, .cpu = cpu,
			      .sequence = cpus[cpu].sequence);
		}
		for (uint32_t cpu = 0; cpu < 4; cpu++) {
			char name[32];

			snprintf(name, sizeof(name), "x.blktrace.%u", 3 * cpu);
			trace_file(&cpus[cpu], name);
			trace_free(&cpus[cpu]);
		}
		recording = read_one("x");
		cr_assert_eq(got.n, 3000);
		cr_assert_eq(recording_info(recording)->events, 3000);
		expect_order();
		read_all(recording);
		cr_assert_eq(got.n, 3000, "a second time");
		recording_close(recording);
		trace_file(&stream, "stream");
		recording = read_one("stream");
		cr_assert_eq(got.n, 3000);
		expect_order();
		recording_close(recording);
		trace_free(&stream);
	}
}

/* What blktrace -o - gives: whole buffers of one CPU after the other. */
Test(recording, a_stream_of_buffers_is_put_into_order)
{
	static const double apart[] = {1, 1000}; /* microseconds between events */

	for (int variant = 0; variant < 2; variant++) {
		struct trace t = {0};
		struct recording *recording;

		for (uint32_t buffer = 0; buffer < 8; buffer++) {
			for (uint32_t i = 0; i < 500; i++)
				TRACE(&t, .act = 'Q', .rwbs = "R", .cpu = buffer % 4,
				      .t = apart[variant] * (buffer / 4 * 500 + i));
		}
		trace_file(&t, "stream");
		recording = read_one("stream");
		cr_assert_eq(got.n, 4000);
		expect_order();
		recording_close(recording);
		trace_free(&t);
	}
}

/* Each CPU of such a stream costs a buffer; numbers that no kernel has must not cost memory. */
Test(recording, a_stream_of_more_cpus_than_a_kernel_has_is_refused)
{
	for (uint32_t over = 0; over < 2; over++) {
		struct trace t = {0};
		struct recording *recording = NULL;
		struct why why = {""};
		char *path = (char *)test_path("cpus");
		int r;

		for (uint32_t i = 0; i < 8192 + over; i++)
			TRACE(&t, .act = 'Q', .rwbs = "R", .cpu = i, .t = 2e6 - i * 100.0);
		trace_file(&t, "cpus");
		r = recording_open(&path, 1, &recording, &why);
		cr_assert_eq(r, over ? -E2BIG : 0, "%s", why.text);
		cr_assert(!over || strstr(why.text, "its records name 8193 CPUs"), "%s", why.text);
		recording_close(recording);
		trace_free(&t);
	}
}

Test(recording, more_devices_than_a_log_can_have_are_refused)
{
	struct trace t = {0};
	struct recording *recording = NULL;
	struct why why = {""};
	char *path = (char *)test_path("devices");

	for (uint32_t round = 0; round < 4; round++) {
		for (uint32_t i = 0; i < 1000; i++)
			TRACE(&t, .act = 'Q', .rwbs = "R", .device = 1 + i, .t = i);
	}
	trace_file(&t, "devices");
	cr_assert_eq(recording_open(&path, 1, &recording, &why), 0, "%s", why.text);
	for (uint32_t i = 0; i < 1000; i++) {
		const struct recording_device *devices;

		cr_assert_eq(recording_devices(recording, &devices), 1000);
		cr_assert_eq(devices[i].events, 4);
	}
	recording_close(recording);
	for (uint32_t i = 0; i < 40000; i++)
		TRACE(&t, .act = 'Q', .rwbs = "R", .device = 1 + i, .t = i);
	trace_file(&t, "devices");
	cr_assert_eq(recording_open(&path, 1, &recording, &why), -E2BIG);
	cr_assert_not_null(strstr(why.text, "more than 32767 devices or CPUs"), "%s", why.text);
	trace_free(&t);
}

/* MERGE-CLOCK-SKEW: a jump back in one CPU's own stream. */
Test(recording, a_cpu_that_steps_back_in_time_is_put_into_order)
{
	struct trace a = {0}, b = {0};
	struct recording *recording;

	for (int i = 0; i < 100; i++) {
		TRACE(&a, .act = 'Q', .rwbs = "R", .t = 3e6 + i);
		TRACE(&b, .act = 'Q', .rwbs = "R", .t = (i < 50 ? 3e6 : 1e6) + i, .cpu = 1);
	}
	trace_file(&a, "x.blktrace.0");
	trace_file(&b, "x.blktrace.1");
	recording = read_one("x");
	cr_assert_eq(got.n, 200);
	expect_order();
	recording_close(recording);
	trace_free(&a);
	trace_free(&b);
}

/* FMT-ENDIAN-FILE */
Test(recording, byte_order_is_each_files_own)
{
	struct trace a = {0}, b = {0};
	struct recording *recording;

	for (int i = 0; i < 10; i++) {
		TRACE(&a, .act = 'Q', .rwbs = "R", .t = 2 * i, .swapped = true);
		TRACE(&a, .act = 'm', .text = "odd", .t = 2 * i, .swapped = true);
		TRACE(&b, .act = 'Q', .rwbs = "R", .t = 2 * i + 1, .cpu = 1, .protocol = 2);
	}
	trace_file(&a, "x.blktrace.0");
	trace_file(&b, "x.blktrace.1");
	recording = read_one("x");
	cr_assert_eq(got.n, 30);
	expect_order();
	recording_close(recording);
	trace_free(&a);
	trace_free(&b);
}

/* MERGE-SEVERAL-RUNS */
Test(recording, several_runs_are_aligned_by_wall_clock)
{
	static const char *const orders[][2] = {{"a", "b"}, {"b", "a"}};
	struct trace a = {0}, b = {0};
	struct recording *recording;
	const struct recording_device *devices;

	/* Booted at second 1000 and at second 2000 of the wall clock. */
	TRACE(&a, .act = 't', .sector = 1000, .bytes = 999999999, .ns = 999999999);
	TRACE(&a, .act = 'Q', .rwbs = "R", .t = 1005e6);
	TRACE(&b, .act = 't', .sector = 2001, .t = 1e6, .device = 259 << 20);
	TRACE(&b, .act = 'Q', .rwbs = "R", .t = 4e6, .device = 259 << 20);
	TRACE(&b, .act = 'Q', .rwbs = "R", .t = 6e6, .device = 259 << 20);
	trace_file(&a, "a.blktrace.0");
	trace_file(&b, "b.blktrace.0");
	/* In either order: on the younger machine's clock, the other's times lie before 0. */
	for (int order = 0; order < 2; order++) {
		recording = open_all(orders[order], 2);
		read_all(recording);
		cr_assert_eq(got.n, 5);
		expect_order();
		cr_assert_eq(got.time_ns[2], 1004000000000);
		cr_assert_eq(got.tag[2], !order);
		cr_assert_eq(got.time_ns[3], 1005000000000);
		cr_assert_eq(got.time_ns[4], 1006000000000);
		cr_assert_eq(recording_info(recording)->real_offset_ns, 1000000000000);
		cr_assert_eq(recording_devices(recording, &devices), 2);
		cr_assert_str_eq(devices[1].name, orders[order][1]);
		recording_close(recording);
	}
	trace_free(&a);
	trace_free(&b);
}

Test(recording, runs_of_one_boot_keep_their_clock)
{
	static const char *const names[] = {"a", "b"};
	struct trace a = {0}, b = {0};
	struct recording *recording;

	TRACE(&a, .act = 't', .sector = 1000, .bytes = 0, .t = 5);
	TRACE(&b, .act = 't', .sector = 1000, .bytes = 500000, .t = 300);
	trace_file(&a, "a.blktrace.0");
	trace_file(&b, "b.blktrace.0");
	recording = open_all(names, 2);
	read_all(recording);
	cr_assert_eq(got.time_ns[1], 300000);
	recording_close(recording);
	trace_free(&a);
	trace_free(&b);
}

Test(recording, several_runs_need_a_wall_clock)
{
	struct trace a = {0}, b = {0};
	struct recording *recording = NULL;
	struct why why = {""};
	char *paths[2];

	TRACE(&a, .act = 't', .sector = 1000);
	TRACE(&b, .act = 'Q', .rwbs = "R");
	trace_file(&a, "a");
	trace_file(&b, "b");
	paths[0] = (char *)test_path("a");
	paths[1] = (char *)test_path("b");
	cr_assert_eq(recording_open(paths, 2, &recording, &why), -EINVAL);
	cr_assert_not_null(strstr(why.text, "/b does not tell the wall clock"));
	trace_free(&a);
	trace_free(&b);
}

/* A log without CLOCK whose header, with the clocks and the boot, was damaged. */
static void write_headless(const struct trace *trace, const char *name, const char *device_name)
{
	int fd = open(test_path(name), O_CREAT | O_RDWR | O_TRUNC, 0600);
	struct log_writer_options options = {.compress = false};
	struct log_device device = {.device = 8 << 20, .disk = 8 << 20};
	struct log_channel channel = {.kind = LOG_RELAY_RECORDS};
	struct log_writer *writer;

	strcpy(device.name, device_name);
	cr_assert_eq(log_writer_create(fd, &options, &writer, NULL), 0);
	cr_assert_eq(log_writer_devices(writer, &device, 1, NULL), 0);
	cr_assert_eq(log_writer_channels(writer, &channel, 1, NULL), 0);
	cr_assert_eq(log_writer_data(writer, 0, trace->bytes, trace->n, NULL), 0);
	cr_assert_eq(log_writer_finish(writer, LOG_END_TIME, NULL), 0);
	log_writer_destroy(writer);
	cr_assert_eq(pwrite(fd, "\xff", 1, offsetof(struct log_header, reserved)), 1);
	close(fd);
}

/* Not in 1970: that would be a clock told with certainty. */
Test(recording, a_damaged_header_tells_no_wall_clock)
{
	struct trace t = {0};
	struct recording *recording;

	TRACE(&t, .act = 'Q', .rwbs = "R", .t = 5e6);
	write_headless(&t, "a", "sda");
	recording = read_one("a");
	cr_assert_eq(got.n, 1);
	cr_assert_not(recording_info(recording)->has_real);
	recording_close(recording);
	trace_free(&t);
}

Test(recording, damaged_headers_are_not_of_one_boot)
{
	static const char *const names[] = {"a", "b"};
	struct trace a = {0}, b = {0};
	struct recording *recording;

	TRACE(&a, .act = 't', .sector = 1000, .t = 0);
	TRACE(&b, .act = 't', .sector = 2001, .t = 1e6);
	TRACE(&b, .act = 'Q', .rwbs = "R", .t = 4e6);
	write_headless(&a, "a", "sda");
	write_headless(&b, "b", "sda");
	recording = open_all(names, 2);
	read_all(recording);
	cr_assert_eq(got.n, 3);
	cr_assert_eq(got.time_ns[2], 1004000000000);
	cr_assert_eq(recording_info(recording)->real_offset_ns, 1000000000000);
	recording_close(recording);
	trace_free(&a);
	trace_free(&b);
}

/* A log may come from anybody. */
Test(recording, device_names_are_safe_for_a_terminal)
{
	struct trace t = {0};
	struct recording *recording;

	TRACE(&t, .act = 'Q', .rwbs = "R", .t = 5e6);
	write_headless(&t, "a", "sda\033]0;owned\007");
	recording = read_one("a");
	cr_assert_str_eq(recording_device_name(recording, 0, 8 << 20), "sda\\x1b]0;owned\\x07");
	recording_close(recording);
	trace_free(&t);
}

static void count_tells(void *context, const char *sentence)
{
	(void)sentence;
	++*(int *)context;
}

/* Into 4096 bytes, from where it says what is wrong. */
static void keep_tells(void *context, const char *sentence)
{
	const char *what = strstr(sentence, ": ");
	char *all = context;

	cr_assert_not_null(what);
	cr_assert_lt(strlen(all) + strlen(what), 4096);
	strcat(all, what);
}

/* LOSS-SEQ-GAPS, FMT-NOTE-PID: notes with number 0 in the middle are no step. */
Test(recording, gaps_and_steps_back_are_told_for_each_cpu)
{
	static const uint32_t zero[] = {5, 6, 9, 8, 10, 10, 11};
	static const uint32_t wrap[] = {0xfffffffe, 0xffffffff, 0x0, 1};
	struct trace a = {0}, b = {0};
	struct recording *recording;
	char all[4096] = "";

	for (uint32_t i = 0; i < 7; i++)
		TRACE(&a, .act = 'Q', .rwbs = "R", .t = 1e6 + i, .sequence = zero[i]);
	TRACE(&b, .act = 'Q', .rwbs = "R", .t = 1e6, .cpu = 1, .sequence = 1000);
	for (uint32_t i = 0; i < 2; i++) {
		TRACE(&b, .act = 'm', .text = "note", .cpu = 1, .t = 1e6);
		TRACE(&b, .act = 'Q', .rwbs = "R", .t = 1e6 + i, .cpu = 1);
	}
	trace_file(&a, "x.blktrace.0");
	trace_file(&b, "x.blktrace.1");
	recording = read_one("x");
	cr_assert_not(recording_health(recording, keep_tells, all));
	cr_assert_str_eq(all,
			 ": CPU 0 of x: 2 sequence numbers are missing in 1 places; the first is "
			 "in front of 0.000002000 s"
			 ": CPU 0 of x: 1 events repeat the sequence number in front of them, and "
			 "1 step back: they are out of order or there twice");
	recording_close(recording);
	trace_free(&a);
	trace_free(&b);

	for (uint32_t i = 0; i < 4; i++) {
		/* The builder counts on where it is given 0. */
		b.skipped = i ? 0 : wrap[0] - 1;
		TRACE(&b, .act = 'Q', .rwbs = "R", .t = i, .cpu = 1);
	}
	trace_file(&b, "y");
	all[0] = '\0';
	recording = read_one("y");
	cr_assert(recording_health(recording, keep_tells, all));
	cr_assert_str_empty(all);
	recording_close(recording);
	trace_free(&b);
}

/* One flipped bit of a time between others. (On the first or last event it looks like an idle
 * device.) */
Test(recording, a_time_that_cannot_be_is_told)
{
	for (unsigned bit = 0; bit < 64; bit++) {
		const uint64_t start_ns = UINT64_C(0x123456789abc), wrong_ns = UINT64_C(1) << bit;
		struct trace t = {0};
		struct recording *recording;
		char all[4096] = "";

		TRACE(&t, .act = 'n', .text = "early", .t = 1, .pid = 7);
		for (unsigned i = 0; i < 20; i++)
			TRACE(&t, .act = 'Q', .rwbs = "R", .t = 0,
			      .ns = (start_ns + i * 1000) ^ (i == 9 ? wrong_ns : 0));
		trace_file(&t, "x");
		recording = read_one("x");
		cr_assert_eq(recording_info(recording)->events, 20);
		if (wrong_ns > 2000000000) {
			cr_assert_not(recording_health(recording, keep_tells, all), "bit %u", bit);
			cr_assert_not_null(strstr(all, "step back by"), "bit %u: %s", bit, all);
		} else if (wrong_ns < 500000000) {
			cr_assert(recording_health(recording, keep_tells, all), "bit %u", bit);
		}
		recording_close(recording);
		trace_free(&t);
	}
}

/* TIME-WALLCLOCK: as blkparse -d writes them. */
Test(recording, events_that_begin_at_0_have_no_wall_clock)
{
	struct trace t = {0};
	struct recording *recording;

	TRACE(&t, .act = 't', .sector = 1000000000, .t = 9e6);
	TRACE(&t, .act = 'Q', .rwbs = "R");
	TRACE(&t, .act = 'Q', .rwbs = "R", .t = 1e6);
	trace_file(&t, "x");
	recording = read_one("x");
	cr_assert_eq(recording_info(recording)->start_ns, 0);
	cr_assert_eq(recording_info(recording)->last_ns, 1000000000);
	cr_assert_not(recording_info(recording)->has_real);
	recording_close(recording);
	trace_free(&t);
}

/* MERGE-NO-EVENTS */
Test(recording, without_events)
{
	struct trace t = {0};
	struct recording *recording;
	int tells = 0;

	TRACE(&t, .act = 't', .sector = 1, .t = 5);
	test_file("nothing.blktrace.0", "", 0);
	trace_file(&t, "note");
	recording = read_one("nothing");
	cr_assert_eq(got.n, 0);
	cr_assert(recording_health(recording, count_tells, &tells));
	recording_close(recording);
	recording = read_one("note");
	cr_assert_eq(got.n, 1);
	cr_assert_eq(recording_info(recording)->events, 0);
	cr_assert_eq(recording_info(recording)->start_ns, 5000);
	cr_assert(recording_health(recording, count_tells, &tells));
	cr_assert_eq(tells, 0);
	recording_close(recording);
	trace_free(&t);
}

Test(recording, names_that_come_late_count)
{
	struct trace t = {0};
	struct recording *recording;

	TRACE(&t, .act = 'Q', .rwbs = "R", .t = 1, .pid = 7);
	TRACE(&t, .act = 'n', .text = "late", .t = 2, .pid = 7);
	trace_file(&t, "x");
	recording = read_one("x");
	cr_assert_str_eq(recording_comm(recording, 0, 7, 0, 1000), "late");
	cr_assert_null(recording_comm(recording, 0, 8, 0, 1000));
	recording_close(recording);
	trace_free(&t);
}
