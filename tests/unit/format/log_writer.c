/* SPDX-License-Identifier: MIT */
#include "log_sample.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>

static const struct log_writer_options plain = {.compress = false};

static int temporary_file(void)
{
	char name[] = "/tmp/blkbox-test-XXXXXX";
	int fd = mkstemp(name);

	cr_assert_geq(fd, 0);
	unlink(name);
	return fd;
}

Test(log_writer, a_full_disk_at_the_start)
{
	int fd = open("/dev/full", O_WRONLY);
	struct log_writer *writer = NULL;
	struct why why = {""};

	cr_assert_eq(log_writer_create(fd, &plain, &writer, &why), -ENOSPC);
	cr_assert_str_eq(why.text, "cannot write to the log: No space left on device");
	cr_assert_null(writer);
	close(fd);
}

static void expect_all_refused(struct log_writer *writer, int error)
{
	struct log_device device = {0};
	struct log_channel channel = {1, 0, 0, LOG_RELAY_RECORDS};
	struct why why;

	why = (struct why){""};
	cr_assert_eq(log_writer_data(writer, 0, "x", 1, &why), error);
	cr_assert_str_eq(why.text, "cannot write to the log: File too large");
	cr_assert_eq(log_writer_meta(writer, "a=b", 4, &why), error);
	cr_assert_eq(log_writer_devices(writer, &device, 1, &why), error);
	cr_assert_eq(log_writer_channels(writer, &channel, 1, &why), error);
	cr_assert_eq(log_writer_drops(writer, NULL, 0, &why), error);
	cr_assert_eq(log_writer_names(writer, NULL, 0, &why), error);
	cr_assert_eq(log_writer_clock(writer, &why), error);
	why = (struct why){""};
	cr_assert_eq(log_writer_finish(writer, LOG_END_FAILURE, &why), error);
	cr_assert_str_eq(why.text, "cannot write to the log: File too large");
}

/* @ahead: bytes in the file before the log. */
static void fill_up(size_t ahead, int flags)
{
	struct rlimit limit = {.rlim_cur = 100000, .rlim_max = 100000};
	struct log_channel channel = {0, LOG_NO_CHANNEL, 0, LOG_FTRACE_PAGES};
	uint8_t bytes[5000];
	int fd = temporary_file();
	struct log_writer *writer;
	struct log_reader *reader;
	struct stat st;
	uint64_t written = 0;
	int r;

	signal(SIGXFSZ, SIG_IGN);
	cr_assert_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
	memset(bytes, 'x', sizeof(bytes));
	cr_assert_eq(write(fd, bytes, ahead), (ssize_t)ahead);
	cr_assert_eq(fcntl(fd, F_SETFL, flags), 0);
	cr_assert_eq(log_writer_create(fd, &plain, &writer, NULL), 0);
	cr_assert_eq(log_writer_channels(writer, &channel, 1, NULL), 0);
	while ((r = log_writer_data(writer, 0, bytes, sizeof(bytes), NULL)) == 0)
		written += sizeof(bytes);
	cr_assert_eq(r, -EFBIG);
	cr_assert_gt(written, 90000);
	cr_assert_eq(fstat(fd, &st), 0);
	cr_assert_eq((uint64_t)st.st_size, ahead + log_writer_file_bytes(writer));
	expect_all_refused(writer, -EFBIG);
	cr_assert_eq(fstat(fd, &st), 0);
	cr_assert_eq((uint64_t)st.st_size, ahead + log_writer_file_bytes(writer));
	log_writer_destroy(writer);
	if (ahead) {
		close(fd);
		return;
	}
	cr_assert_eq(log_reader_adopt_open(fd, &reader, NULL), 0);
	cr_assert_eq(log_reader_channel_bytes(reader, 0), written);
	cr_assert_eq(log_reader_health(reader)->good_bytes, (uint64_t)st.st_size);
	cr_assert_eq(log_reader_health(reader)->damaged_bytes, 0);
	log_reader_close(reader);
}

Test(log_writer, a_full_disk_leaves_whole_blocks)
{
	fill_up(0, 0);
}

Test(log_writer, a_full_disk_leaves_what_was_in_the_file_before)
{
	fill_up(777, 0);
	fill_up(777, O_APPEND);
}

struct drain {
	int fd;
	int file;
};

static void *drain_slowly(void *data)
{
	struct drain *drain = data;
	uint8_t bytes[3000];
	ssize_t n;

	while ((n = read(drain->fd, bytes, sizeof(bytes))) > 0) {
		if (write(drain->file, bytes, (size_t)n) != n)
			break;
		usleep(100);
	}
	return NULL;
}

static void write_to_pipe(int flags)
{
	struct log_channel channel = {0, LOG_NO_CHANNEL, 0, LOG_FTRACE_PAGES};
	struct log_health health;
	struct drain drain = {.file = temporary_file()};
	uint8_t *bytes = calloc(1, 500000);
	struct log_writer *writer;
	struct log_reader *reader;
	pthread_t thread;
	int ends[2];

	cr_assert_eq(pipe2(ends, flags), 0);
	fcntl(ends[0], F_SETFL, 0);
	drain.fd = ends[0];
	cr_assert_eq(pthread_create(&thread, NULL, drain_slowly, &drain), 0);
	cr_assert_eq(log_writer_create(ends[1], &plain, &writer, NULL), 0);
	cr_assert_eq(log_writer_channels(writer, &channel, 1, NULL), 0);
	cr_assert_eq(log_writer_data(writer, 0, bytes, 500000, NULL), 0);
	cr_assert_eq(log_writer_finish(writer, LOG_END_TIME, NULL), 0);
	log_writer_destroy(writer);
	close(ends[1]);
	pthread_join(thread, NULL);
	close(ends[0]);
	cr_assert_eq(log_reader_adopt_open(drain.file, &reader, NULL), 0);
	cr_assert_eq(log_reader_verify(reader, NULL, &health, NULL), 0);
	cr_assert(log_health_whole(&health));
	cr_assert_eq(log_reader_channel_bytes(reader, 0), 500000);
	log_reader_close(reader);
	free(bytes);
}

Test(log_writer, works_on_a_pipe)
{
	write_to_pipe(0);
}

Test(log_writer, works_on_a_pipe_that_does_not_block)
{
	write_to_pipe(O_NONBLOCK);
}

Test(log_writer, a_closed_pipe_is_an_error)
{
	struct log_writer *writer;
	struct why why = {""};
	int ends[2];

	signal(SIGPIPE, SIG_IGN);
	cr_assert_eq(pipe(ends), 0);
	cr_assert_eq(log_writer_create(ends[1], &plain, &writer, NULL), 0);
	close(ends[0]);
	cr_assert_eq(log_writer_clock(writer, &why), -EPIPE);
	cr_assert_str_eq(why.text, "cannot write to the log: Broken pipe");
	log_writer_destroy(writer);
	close(ends[1]);
}

Test(log_writer, facts_go_into_as_many_blocks_as_they_need)
{
	size_t one = 600000;
	char *text = malloc(3 * one);
	int fd = temporary_file();
	struct log_writer *writer;
	struct log_reader *reader;

	memset(text, 'v', 3 * one);
	for (int i = 0; i < 3; i++) {
		text[(size_t)i * one] = (char)('a' + i);
		text[(size_t)i * one + 1] = '=';
		text[(size_t)(i + 1) * one - 1] = '\0';
	}
	cr_assert_eq(log_writer_create(fd, &plain, &writer, NULL), 0);
	cr_assert_eq(log_writer_meta(writer, text, 3 * one, NULL), 0);
	cr_assert_eq(log_writer_finish(writer, LOG_END_TIME, NULL), 0);
	log_writer_destroy(writer);
	cr_assert_eq(log_reader_adopt_open(fd, &reader, NULL), 0);
	cr_assert_eq(log_reader_end(reader)->blocks, 3);
	cr_assert_eq(strlen(log_reader_meta(reader, "c")), one - 3);
	log_reader_close(reader);
	free(text);
}

Test(log_writer, a_fact_that_fits_no_block_is_refused)
{
	size_t size = LOG_BLOCK_MAX + 1;
	char *text = malloc(size);
	int fd = temporary_file();
	struct log_writer *writer;
	struct why why;

	memset(text, 'v', size);
	memcpy(text, "command=", 8);
	text[size - 1] = '\0';
	cr_assert_eq(log_writer_create(fd, &plain, &writer, NULL), 0);
	cr_assert_eq(log_writer_meta(writer, text, size, &why), -E2BIG);
	cr_assert_str_eq(why.text, "cannot write to the log: 'command=vvvvvvvvvvvv...' is longer "
				   "than 1048576 bytes");
	cr_assert_eq(log_writer_clock(writer, NULL), -E2BIG);
	log_writer_destroy(writer);
	close(fd);
	free(text);
}

Test(log_writer, more_channels_than_end_can_hold_are_refused)
{
	struct log_channel *channels = calloc(LOG_CHANNELS_MAX + 1, sizeof(*channels));
	int fd = temporary_file();
	struct log_writer *writer;
	struct log_reader *reader;
	struct log_health health;
	struct log_total total;
	struct why why;

	for (uint32_t i = 0; i <= LOG_CHANNELS_MAX; i++)
		channels[i] = (struct log_channel){i, LOG_NO_CHANNEL, i, LOG_RELAY_RECORDS};
	cr_assert_eq(log_writer_create(fd, &plain, &writer, NULL), 0);
	cr_assert_eq(log_writer_channels(writer, channels, LOG_CHANNELS_MAX, NULL), 0);
	cr_assert_eq(log_writer_finish(writer, LOG_END_TIME, NULL), 0);
	log_writer_destroy(writer);
	cr_assert_eq(log_reader_adopt_open(fd, &reader, NULL), 0);
	cr_assert_eq(log_reader_verify(reader, NULL, &health, NULL), 0);
	cr_assert(log_health_whole(&health));
	cr_assert(log_reader_total(reader, LOG_CHANNELS_MAX - 1, &total));
	log_reader_close(reader);

	fd = temporary_file();
	cr_assert_eq(log_writer_create(fd, &plain, &writer, NULL), 0);
	cr_assert_eq(log_writer_channels(writer, channels, LOG_CHANNELS_MAX + 1, &why), -E2BIG);
	cr_assert(strstr(why.text, "it has room for 32767 channels"));
	log_writer_destroy(writer);
	close(fd);
	free(channels);
}

Test(log_writer, the_header_knows_boot_and_clocks)
{
	int fd = temporary_file();
	struct log_writer *writer;
	struct log_reader *reader;
	const struct log_header *header;
	struct timespec now;
	char text[64] = "";
	char boot[40];
	FILE *file = fopen("/proc/sys/kernel/random/boot_id", "r");

	cr_assert_not_null(file);
	cr_assert_not_null(fgets(text, sizeof(text), file));
	fclose(file);
	cr_assert_eq(log_writer_create(fd, &plain, &writer, NULL), 0);
	log_writer_destroy(writer);
	cr_assert_eq(log_reader_adopt_open(fd, &reader, NULL), 0);
	header = log_reader_header(reader);
	for (int i = 0, at = 0; i < 16; i++) {
		if (i == 4 || i == 6 || i == 8 || i == 10)
			boot[at++] = '-';
		at += sprintf(boot + at, "%02x", header->boot_id[i]);
	}
	cr_assert(!strncmp(boot, text, 36), "%s %s", boot, text);
	clock_gettime(CLOCK_MONOTONIC, &now);
	cr_assert_leq(header->start_mono_ns,
		      (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec);
	cr_assert_geq(header->start_mono_ns, (uint64_t)(now.tv_sec - 10) * 1000000000);
	clock_gettime(CLOCK_REALTIME, &now);
	cr_assert_lt(llabs((long long)header->start_real_ns - (long long)now.tv_sec * 1000000000),
		     10000000000);
	log_reader_close(reader);
}

enum {
	SMALL = 48
};

static const uint8_t small_record[SMALL] = {0x07, 0x74, 0x61, 0x65};

/* A log of a channel with @n records, and behind it @torn bytes of a block. */
static int cut_off_log(int n, size_t torn)
{
	struct log_channel channel = {0, LOG_NO_CHANNEL, 3, LOG_RELAY_RECORDS};
	struct log_writer *writer;
	int fd = temporary_file();
	off_t end;

	cr_assert_eq(log_writer_create(fd, &plain, &writer, NULL), 0);
	cr_assert_eq(log_writer_channels(writer, &channel, 1, NULL), 0);
	for (int i = 0; i < n; i++)
		cr_assert_eq(log_writer_data(writer, 0, small_record, SMALL, NULL), 0);
	end = (off_t)log_writer_file_bytes(writer);
	cr_assert_eq(log_writer_data(writer, 0, small_record, SMALL, NULL), 0);
	if (torn)
		end += (off_t)torn;
	cr_assert_eq(ftruncate(fd, end), 0);
	log_writer_destroy(writer);
	return fd;
}

/* As somebody else would, who has only the file. */
static struct log_writer *resume(int fd)
{
	struct log_writer *writer;
	struct log_reader *reader;
	struct why why;

	cr_assert_eq(log_reader_adopt_open(dup(fd), &reader, &why), 0, "%s", why.text);
	cr_assert_eq(log_writer_resume(fd, reader, &writer, &why), 0, "%s", why.text);
	log_reader_close(reader);
	return writer;
}

Test(log_writer, goes_on_behind_the_last_whole_block)
{
	for (size_t torn = 0; torn < sizeof(struct log_block_head) + SMALL; torn++) {
		int fd = cut_off_log(5, torn);
		struct log_writer *writer = resume(fd);
		struct log_reader *reader;
		struct log_health health;
		struct log_total total;

		cr_assert_eq(log_writer_offset(writer, 0), 5 * SMALL);
		cr_assert_eq(log_writer_data(writer, 0, small_record, SMALL, NULL), 0);
		cr_assert_eq(log_writer_finish(writer, LOG_END_KILLED, NULL), 0);
		log_writer_destroy(writer);
		cr_assert_eq(log_reader_adopt_open(fd, &reader, NULL), 0);
		cr_assert_eq(log_reader_verify(reader, NULL, &health, NULL), 0);
		cr_assert(log_health_whole(&health), "%zu bytes of a block", torn);
		cr_assert(log_reader_total(reader, 0, &total));
		cr_assert_eq(total.events, 6);
		log_reader_close(reader);
	}
}

Test(log_writer, what_is_skipped_is_a_gap_of_known_size)
{
	int fd = cut_off_log(5, 7);
	struct log_writer *writer = resume(fd);
	struct log_reader *reader;
	struct log_health health;

	log_writer_skip(writer, 0, 1000);
	cr_assert_eq(log_writer_data(writer, 0, small_record, SMALL, NULL), 0);
	cr_assert_eq(log_writer_finish(writer, LOG_END_KILLED, NULL), 0);
	log_writer_destroy(writer);
	cr_assert_eq(log_reader_adopt_open(fd, &reader, NULL), 0);
	cr_assert_eq(log_reader_verify(reader, NULL, &health, NULL), 0);
	cr_assert_eq(health.missing_data_bytes, 1000);
	cr_assert_eq(health.total_mismatches, 0);
	cr_assert_eq(health.damaged_bytes, 0);
	cr_assert_eq(health.garbage_bytes, 0);
	log_reader_close(reader);
}

Test(log_writer, does_not_go_on_behind_an_end)
{
	int fd = cut_off_log(1, 0);
	struct log_writer *writer = resume(fd);
	struct log_reader *reader;

	cr_assert_eq(log_writer_finish(writer, LOG_END_KILLED, NULL), 0);
	log_writer_destroy(writer);
	cr_assert_eq(log_reader_adopt_open(dup(fd), &reader, NULL), 0);
	cr_assert_eq(log_writer_resume(fd, reader, &writer, NULL), -EALREADY);
	log_reader_close(reader);
	close(fd);
}
