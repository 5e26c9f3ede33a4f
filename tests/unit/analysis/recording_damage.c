/* SPDX-License-Identifier: MIT */
/* A log with one wrong byte, any byte, of a recording through ftrace: all but that block is read.
 */
#include "recording.h"

#include "log_writer.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
	PAGE_BYTES = 4096,
	PAGES = 3,
	LOG_BYTES_MAX = 64 << 10
};

static uint8_t log_bytes[LOG_BYTES_MAX];
static size_t log_size;
/* Where the DATA blocks are, and what each holds. */
static size_t data_at[PAGES + 1];
static uint64_t data_events[PAGES];
static uint64_t all_events;

static void write_tables(struct log_writer *writer)
{
	static const char meta[] = "source=ftrace\0ftrace_data_offset=16\0ftrace_data_bytes=4080\0"
				   "ftrace_commit_offset=8\0ftrace_type_id=14\0ftrace_protocol=1";
	static const struct log_device loop = {.device = 7u << 20,
					       .protocol = 1,
					       .disk = 7u << 20,
					       .name = "loop0"};
	static const struct log_channel channel = {0, LOG_NO_CHANNEL, 1, LOG_FTRACE_PAGES};

	cr_assert_eq(log_writer_meta(writer, meta, sizeof(meta), NULL), 0);
	cr_assert_eq(log_writer_devices(writer, &loop, 1, NULL), 0);
	cr_assert_eq(log_writer_channels(writer, &channel, 1, NULL), 0);
}

/* What log_sink does around the data. */
static void write_log(unsigned first, unsigned end)
{
	uint8_t pages[PAGES * PAGE_BYTES];
	int from = open(BLKBOX_TEST_DATA "/linux-6.18/loop-ftrace/cpu1.pages", O_RDONLY);
	int fd = memfd_create("log", MFD_CLOEXEC);
	struct log_writer *writer;

	cr_assert_eq(read(from, pages, sizeof(pages)), (ssize_t)sizeof(pages));
	close(from);
	cr_assert_eq(log_writer_create(fd, &(struct log_writer_options){.compress = true}, &writer,
				       NULL),
		     0);
	write_tables(writer);
	cr_assert_eq(log_writer_repeat(writer, NULL), 0);
	for (unsigned i = first; i < end; i++) {
		data_at[i] = log_writer_file_bytes(writer);
		cr_assert_eq(log_writer_data(writer, 0, pages + i * PAGE_BYTES, PAGE_BYTES, NULL),
			     0);
	}
	data_at[end] = log_writer_file_bytes(writer);
	cr_assert_eq(log_writer_repeat(writer, NULL), 0);
	cr_assert_eq(log_writer_finish(writer, LOG_END_SIGNAL, NULL), 0);
	log_size = log_writer_file_bytes(writer);
	cr_assert_leq(log_size, sizeof(log_bytes));
	cr_assert_eq(pread(fd, log_bytes, log_size, 0), (ssize_t)log_size);
	log_writer_destroy(writer);
	close(fd);
}

static void ignore(void *context, const char *sentence)
{
	(void)context;
	(void)sentence;
}

/* Events that can be read. @ret_whole: nothing to tell. */
static uint64_t count_events(bool *ret_whole)
{
	int fd = memfd_create("log", MFD_CLOEXEC);
	const struct recording_device *devices;
	struct recording *recording;
	struct merge_item item;
	struct why why = {""};
	char path[32], *paths[] = {path};
	uint64_t n = 0;
	int r;

	cr_assert_eq(write(fd, log_bytes, log_size), (ssize_t)log_size);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	cr_assert_eq(recording_open(paths, 1, &recording, &why), 0, "%s", why.text);
	while ((r = recording_next(recording, &item, &why)) == 1) {
		cr_assert_eq(item.event.device, 7u << 20);
		n += !(item.event.categories & BLKBOX_CAT_NOTIFY);
	}
	cr_assert_eq(r, 0, "%s", why.text);
	cr_assert_eq(recording_devices(recording, &devices), 1);
	cr_assert_str_eq(devices[0].name, "loop0");
	*ret_whole = recording_health(recording, ignore, NULL);
	recording_close(recording);
	close(fd);
	return n;
}

static void init(void)
{
	bool whole;

	for (unsigned i = 0; i < PAGES; i++) {
		write_log(i, i + 1);
		data_events[i] = count_events(&whole);
		cr_assert_gt(data_events[i], 0);
		all_events += data_events[i];
	}
	write_log(0, PAGES);
	cr_assert_eq(count_events(&whole), all_events);
	cr_assert(whole);
}

TestSuite(recording_damage, .init = init);

static uint64_t events_hit(size_t at)
{
	for (unsigned i = 0; i < PAGES; i++) {
		if (at >= data_at[i] && at < data_at[i + 1])
			return data_events[i];
	}
	return 0;
}

static void expect_the_rest(size_t at, uint8_t bits)
{
	uint64_t least = all_events - events_hit(at);
	uint64_t n;
	bool whole;

	log_bytes[at] ^= bits;
	n = count_events(&whole);
	log_bytes[at] ^= bits;
	cr_assert_eq(n, least, "byte %zu: %llu events, not %llu", at, (unsigned long long)n,
		     (unsigned long long)least);
}

Test(recording_damage, one_wrong_bit_costs_its_own_block_and_no_more, .timeout = 300)
{
	for (size_t at = 0; at < log_size; at++)
		expect_the_rest(at, (uint8_t)(1u << (at % 8)));
}

/* What all else is read by: every bit of it. */
Test(recording_damage, every_bit_of_the_tables, .timeout = 300)
{
	for (size_t at = 0; at < data_at[0]; at++) {
		for (unsigned bit = 0; bit < 8; bit++)
			expect_the_rest(at, (uint8_t)(1u << bit));
	}
}

Test(recording_damage, a_wrong_byte_in_a_log_that_was_cut_off, .timeout = 300)
{
	log_size = data_at[PAGES];
	for (size_t at = 0; at < data_at[0]; at++)
		expect_the_rest(at, 0xff);
}
