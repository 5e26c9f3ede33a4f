/* SPDX-License-Identifier: MIT */
#include "log_sink.h"

#include "fake_tree.h"
#include "log_reader.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static const struct log_sink_options plain = {0};
static const struct log_sink_options force = {.force = true};
static const uint8_t record[48] = {0x07, 0x74, 0x61, 0x65};

static struct fake_tree tree; /* a directory that is removed at the end */
static char path[PATH_MAX], part[PATH_MAX + 8];
static struct log_sink *sink;
static struct why why;

static void init(void)
{
	fake_tree_init(&tree);
	snprintf(path, sizeof(path), "%s/log", tree.path);
	snprintf(part, sizeof(part), "%s.part", path);
	sink = NULL;
	why.text[0] = '\0';
}

static void deinit(void)
{
	log_sink_destroy(sink);
	fake_tree_deinit(&tree);
}

TestSuite(log_sink, .init = init, .fini = deinit);

static bool exists(const char *name)
{
	struct stat st;

	return lstat(name, &st) == 0;
}

static void record_something(void)
{
	const struct span_sink *ops = log_sink_span_sink(sink);
	struct log_device device = {.device = 8 << 20, .protocol = 1, .name = "sda"};
	struct log_channel channel = {.kind = LOG_RELAY_RECORDS};

	cr_assert_eq(ops->meta(ops->context, "host=box", 9, &why), 0, "%s", why.text);
	cr_assert_eq(ops->devices(ops->context, &device, 1, &why), 0, "%s", why.text);
	cr_assert_eq(ops->channels(ops->context, &channel, 1, &why), 0, "%s", why.text);
	cr_assert_eq(ops->data(ops->context, 0, record, sizeof(record), &why), 0, "%s", why.text);
}

static int finish(void)
{
	const struct span_sink *ops = log_sink_span_sink(sink);

	return ops->finish(ops->context, LOG_END_TIME, &why);
}

/* @fd is adopted. */
static void assert_log(int fd, bool whole)
{
	struct log_reader *reader;
	struct log_cursor *cursor;
	struct log_span span;

	cr_assert_eq(log_reader_adopt_open(fd, &reader, &why), 0, "%s", why.text);
	cr_assert_eq(log_health_whole(log_reader_health(reader)), whole);
	cr_assert_str_eq(log_reader_meta(reader, "host"), "box");
	if (whole)
		cr_assert_eq(log_reader_end(reader)->reason, LOG_END_TIME);
	cr_assert_eq(log_cursor_create(reader, 0, &cursor), 0);
	cr_assert_eq(log_cursor_next(cursor, &span, &why), 1);
	cr_assert_eq(span.size, sizeof(record));
	cr_assert_eq(memcmp(span.bytes, record, sizeof(record)), 0);
	log_cursor_destroy(cursor);
	log_reader_close(reader);
}

Test(log_sink, has_its_name_only_when_it_is_whole)
{
	struct log_total total;

	cr_assert_eq(log_sink_create(path, &plain, &sink, &why), 0, "%s", why.text);
	cr_assert(exists(part) && !exists(path));
	cr_assert_str_eq(log_sink_path(sink), part);
	record_something();
	log_sink_span_sink(sink)->total(sink, 0, &total);
	cr_assert_eq(total.events, 1);
	cr_assert_not(log_sink_finished(sink));
	cr_assert_eq(finish(), 0, "%s", why.text);
	cr_assert(exists(path) && !exists(part));
	cr_assert(log_sink_finished(sink));
	cr_assert_str_eq(log_sink_path(sink), path);
	assert_log(open(path, O_RDONLY | O_CLOEXEC), true);
}

/* Facts that all else is read by: one damaged block of them must not be the end of the log. */
Test(log_sink, writes_its_facts_at_the_start_and_at_the_end)
{
	char bytes[8192];
	size_t n = 0, size, first, last = 0;
	int fd;

	cr_assert_eq(log_sink_create(path, &plain, &sink, &why), 0, "%s", why.text);
	record_something();
	cr_assert_eq(finish(), 0, "%s", why.text);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	size = (size_t)read(fd, bytes, sizeof(bytes));
	close(fd);
	for (const char *at = bytes; (at = memmem(at, size - (size_t)(at - bytes), "host=box", 8));
	     at++, n++)
		last = (size_t)(at - bytes);
	first = (size_t)((char *)memmem(bytes, size, record, sizeof(record)) - bytes);
	cr_assert_eq(n, 3);
	cr_assert_gt(last, first, "none behind the data");
}

Test(log_sink, one_that_was_not_finished_is_kept_as_part)
{
	cr_assert_eq(log_sink_create(path, &plain, &sink, &why), 0, "%s", why.text);
	record_something();
	log_sink_destroy(sink);
	sink = NULL;
	cr_assert(exists(part) && !exists(path));
	assert_log(open(part, O_RDONLY | O_CLOEXEC), false);
}

Test(log_sink, one_that_could_not_be_written_on_is_kept_up_to_there)
{
	struct rlimit limit = {.rlim_cur = 4096, .rlim_max = RLIM_INFINITY};
	static uint8_t noise[1 << 16];
	const struct span_sink *ops;

	signal(SIGXFSZ, SIG_IGN);
	cr_assert_eq(log_sink_create(path, &plain, &sink, &why), 0, "%s", why.text);
	ops = log_sink_span_sink(sink);
	record_something();
	getrlimit(RLIMIT_FSIZE, &limit);
	limit.rlim_cur = 4096;
	cr_assert_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
	cr_assert_eq(ops->data(ops->context, 0, noise, sizeof(noise), &why), -EFBIG);
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_FSIZE, &limit);
	cr_assert_lt(finish(), 0, "a log with a hole must not get its name");
	cr_assert_not(log_sink_finished(sink));
	log_sink_destroy(sink);
	sink = NULL;
	cr_assert(exists(part) && !exists(path));
	assert_log(open(part, O_RDONLY | O_CLOEXEC), false);
}

Test(log_sink, a_recording_that_never_began_leaves_nothing)
{
	cr_assert_eq(log_sink_create(path, &plain, &sink, &why), 0, "%s", why.text);
	log_sink_discard(sink);
	log_sink_destroy(sink);
	sink = NULL;
	cr_assert(!exists(part) && !exists(path));
}

Test(log_sink, what_is_there_is_overwritten_only_by_force_and_only_at_the_end)
{
	int old;

	fake_tree_write(&tree, "/log", "old");
	cr_assert_eq(log_sink_create(path, &plain, &sink, &why), -EEXIST);
	cr_assert_not_null(strstr(why.text, "--force"), "%s", why.text);
	cr_assert_not(exists(part));
	old = open(path, O_RDONLY | O_CLOEXEC);
	cr_assert_eq(log_sink_create(path, &force, &sink, &why), 0, "%s", why.text);
	record_something();
	cr_assert_eq(lseek(old, 0, SEEK_END), 3, "it is there until the new one is whole");
	close(old);
	cr_assert_eq(finish(), 0, "%s", why.text);
	assert_log(open(path, O_RDONLY | O_CLOEXEC), true);
}

Test(log_sink, a_name_that_somebody_took_meanwhile_is_theirs)
{
	char text[8] = "";
	int fd;

	cr_assert_eq(log_sink_create(path, &plain, &sink, &why), 0, "%s", why.text);
	record_something();
	fake_tree_write(&tree, "/log", "theirs");
	cr_assert_eq(finish(), -EEXIST);
	cr_assert_str_eq(log_sink_path(sink), part);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	cr_assert_eq(read(fd, text, sizeof(text)), 6);
	cr_assert_str_eq(text, "theirs");
	assert_log(open(part, O_RDONLY | O_CLOEXEC), true);
	close(fd);
}

Test(log_sink, a_pipe_gets_the_log_directly)
{
	static uint8_t bytes[1 << 16];
	char copy[PATH_MAX];
	int fifo, fd;
	ssize_t n;

	cr_assert_eq(mkfifo(path, 0600), 0);
	fifo = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	cr_assert_eq(log_sink_create(path, &plain, &sink, &why), 0, "%s", why.text);
	cr_assert_str_eq(log_sink_path(sink), path);
	record_something();
	cr_assert_eq(finish(), 0, "%s", why.text);
	cr_assert_not(exists(part));
	n = read(fifo, bytes, sizeof(bytes));
	cr_assert_gt(n, 64);
	cr_assert_eq(log_sink_file_bytes(sink), (uint64_t)n);
	snprintf(copy, sizeof(copy), "%s/copy", tree.path);
	fd = open(copy, O_CREAT | O_RDWR | O_CLOEXEC, 0600);
	cr_assert_eq(write(fd, bytes, (size_t)n), n);
	assert_log(fd, true);
	close(fifo);
}

Test(log_sink, a_character_device_stays_where_it_is)
{
	struct stat st;

	cr_assert_eq(log_sink_create("/dev/null", &plain, &sink, &why), 0, "%s", why.text);
	record_something();
	cr_assert_eq(finish(), 0, "%s", why.text);
	cr_assert(stat("/dev/null", &st) == 0 && S_ISCHR(st.st_mode));
	cr_assert_not(exists("/dev/null.part"));
}

Test(log_sink, a_full_device_is_told)
{
	cr_assert_eq(log_sink_create("/dev/full", &plain, &sink, &why), -ENOSPC);
	cr_assert_null(sink);
	cr_assert_not_null(strstr(why.text, "No space left"), "%s", why.text);
}

Test(log_sink, a_directory_is_no_output)
{
	cr_assert_eq(log_sink_create(tree.path, &force, &sink, &why), -EISDIR);
	cr_assert_null(sink);
}

Test(log_sink, in_memory_it_is_a_log_too)
{
	int fd;

	cr_assert_eq(log_sink_create_in_memory(&plain, &sink, &why), 0, "%s", why.text);
	cr_assert_null(log_sink_path(sink));
	record_something();
	cr_assert_eq(finish(), 0, "%s", why.text);
	cr_assert(log_sink_finished(sink));
	fd = log_sink_take_fd(sink);
	cr_assert_geq(fd, 0);
	cr_assert_eq(log_sink_take_fd(sink), -1, "it has been handed out");
	log_sink_destroy(sink);
	sink = NULL;
	assert_log(fd, true);
}
