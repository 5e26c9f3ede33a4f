/* SPDX-License-Identifier: MIT */
#include "input.h"

#include "../trace_builder.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <sys/stat.h>

static struct trace trace;

static void set_up(void)
{
	trace = (struct trace){0};
	TRACE(&trace, .act = 'Q', .rwbs = "R", .sector = 1, .device = 259 << 20 | 3);
	TRACE(&trace, .act = 'm', .text = "odd");
	test_dir();
}

static void tear_down(void)
{
	trace_free(&trace);
	test_dir_remove();
}

TestSuite(input, .init = set_up, .fini = tear_down);

static uint64_t read_bytes(struct input *input, size_t channel)
{
	struct source *source;
	struct span span;
	uint64_t n = 0;

	cr_assert_eq(input_source(input, channel, &source, NULL), 0);
	while (source_next(source, &span, NULL) == 1)
		n += span.size;
	source_destroy(source);
	return n;
}

static void expect_set(const char *path, const uint32_t *cpus, size_t n_cpus)
{
	const struct input_channel *channels;
	const struct log_device *devices;
	struct input *input;
	struct why why = {""};

	cr_assert_eq(input_open(path, &input, &why), 0, "%s: %s", path, why.text);
	cr_assert_eq(input_kind(input), INPUT_SET);
	cr_assert_eq(input_channels(input, &channels), n_cpus, "%s", path);
	for (size_t i = 0; i < n_cpus; i++)
		cr_assert_eq(channels[i].cpu, cpus[i], "%s", path);
	cr_assert_eq(input_devices(input, &devices), 1);
	cr_assert_str_eq(devices[0].name, "sda");
	cr_assert_eq(devices[0].device, 259 << 20 | 3);
	input_close(input);
}

/* MERGE-EMPTY-FILE: an empty file and holes are normal. */
Test(input, a_set_is_found_by_its_base_and_by_any_of_its_files)
{
	static const uint32_t cpus[] = {0, 3, 12};

	test_file("sda.blktrace.0", "", 0);
	trace_file(&trace, "sda.blktrace.12");
	trace_file(&trace, "sda.blktrace.3");
	trace_file(&trace, "sda1.blktrace.1");
	trace_file(&trace, "sda.blktrace.x");
	expect_set(test_path("sda"), cpus, 3);
	expect_set(test_path("sda.blktrace.0"), cpus, 3);
	expect_set(test_path("sda.blktrace.12"), cpus, 3);
	cr_assert_eq(chdir(test_dir()), 0);
	expect_set("sda", cpus, 3);
	expect_set("./sda", cpus, 3);
	expect_set("./sda.blktrace.3", cpus, 3);
}

Test(input, a_stream_is_told_by_its_content)
{
	const struct input_channel *channels;
	struct input *input;

	trace_file(&trace, "any.name");
	cr_assert_eq(input_open(test_path("any.name"), &input, NULL), 0);
	cr_assert_eq(input_kind(input), INPUT_STREAM);
	cr_assert_eq(input_channels(input, &channels), 1);
	cr_assert_eq(channels[0].cpu, LOG_NO_CPU);
	cr_assert_eq(read_bytes(input, 0), trace.n);
	cr_assert_eq(read_bytes(input, 0), trace.n, "a second time");
	input_close(input);
}

static void *feed(void *path)
{
	int fd = open(path, O_WRONLY);

	for (size_t i = 0; i < trace.n; i++)
		cr_assert_eq(write(fd, trace.bytes + i, 1), 1);
	close(fd);
	return NULL;
}

Test(input, a_fifo_is_read_byte_by_byte_and_can_be_read_again)
{
	const char *path = test_path("fifo");
	struct input *input;
	pthread_t thread;

	cr_assert_eq(mkfifo(path, 0600), 0);
	pthread_create(&thread, NULL, feed, (void *)path);
	cr_assert_eq(input_open(path, &input, NULL), 0);
	pthread_join(thread, NULL);
	cr_assert_eq(input_kind(input), INPUT_STREAM);
	cr_assert_eq(read_bytes(input, 0), trace.n);
	cr_assert_eq(read_bytes(input, 0), trace.n);
	input_close(input);
}

static void expect_failure(const char *path, int error, const char *words)
{
	struct input *input = NULL;
	struct why why = {""};

	cr_assert_eq(input_open(path, &input, &why), error, "%s: %s", path, why.text);
	cr_assert_null(input);
	cr_assert_not_null(strstr(why.text, words), "%s", why.text);
}

/* MERGE-NOT-FOUND-STATUS, MERGE-STDIN, FMT-V8 */
Test(input, what_is_no_recording_is_refused_in_words)
{
	uint8_t other[48];

	memcpy(other, trace.bytes, sizeof(other));
	other[0] = 6;
	test_file("other", other, sizeof(other));
	test_file("text", "no trace at all, but long enough for a head of a record", 55);
	expect_failure(test_path("nothing"), -ENOENT, "nothing.blktrace.CPU");
	expect_failure("no/such/dir/", -ENOENT, "no/such/dir/");
	expect_failure("no/such/dir/name", -ENOENT, "no/such/dir/name");
	expect_failure(test_dir(), -EISDIR, "directory");
	expect_failure(test_path("text"), -EBADMSG, "no recording");
	expect_failure(test_path("other"), -ENOTSUP, "byte 0 is of blktrace protocol version 6");
	close(STDIN_FILENO);
	expect_failure("-", -EBADF, "standard input");
}

Test(input, a_suffix_without_a_name_is_no_set)
{
	struct input *input;
	struct why why = {""};

	test_file(".blktrace.0", trace.bytes, trace.n);
	cr_assert_eq(input_open(test_path(".blktrace.0"), &input, &why), 0, "%s", why.text);
	cr_assert_eq(input_kind(input), INPUT_STREAM);
	cr_assert_eq(read_bytes(input, 0), trace.n);
	input_close(input);
}

Test(input, an_empty_file_is_a_cpu_without_events_or_no_recording)
{
	struct input *input;
	struct why why = {""};

	test_file("x.blktrace.0", "", 0);
	cr_assert_eq(input_open(test_path("x"), &input, NULL), 0);
	cr_assert_eq(read_bytes(input, 0), 0);
	input_close(input);
	test_file("empty", "", 0);
	cr_assert_eq(input_open(test_path("empty"), &input, &why), -EBADMSG);
	cr_assert_not_null(strstr(why.text, "is empty"), "%s", why.text);
}

Test(input, knows_its_own_files)
{
	struct input *input;

	test_file("x.blktrace.0", trace.bytes, trace.n);
	test_file("x.blktrace.1", "", 0);
	test_file("stream", trace.bytes, trace.n);
	cr_assert_eq(symlink(test_path("x.blktrace.1"), test_path("link")), 0);
	cr_assert_eq(input_open(test_path("x"), &input, NULL), 0);
	cr_assert(input_reads(input, test_path("x.blktrace.0")));
	cr_assert(input_reads(input, test_path("link")));
	cr_assert_not(input_reads(input, test_path("stream")));
	cr_assert_not(input_reads(input, test_path("nothing")));
	input_close(input);
	cr_assert_eq(input_open(test_path("stream"), &input, NULL), 0);
	cr_assert(input_reads(input, test_path("stream")));
	cr_assert_not(input_reads(input, test_path("x.blktrace.0")));
	input_close(input);
}
