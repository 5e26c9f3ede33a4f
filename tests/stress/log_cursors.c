/* SPDX-License-Identifier: MIT */
/* Many threads read one log at once, each all of its channels: every byte must be right. */
#include "log_reader.h"
#include "log_writer.h"

#include <pthread.h>
#include <string.h>
#include <sys/mman.h>

enum {
	THREADS = 8,
	CHANNELS = 4,
	BLOCKS = 300,
	BLOCK_BYTES = 3000,
};

static uint8_t byte_at(uint32_t channel, uint64_t offset)
{
	return (uint8_t)(channel + offset / 7);
}

static int write_log(int fd)
{
	struct log_writer_options options = {.compress = true};
	struct log_writer *writer;
	uint8_t bytes[BLOCK_BYTES];
	int r = log_writer_create(fd, &options, &writer, NULL);

	if (r < 0)
		return r;
	for (uint32_t i = 0; i < CHANNELS && r == 0; i++) {
		struct log_channel channel = {i, LOG_NO_CHANNEL, i, LOG_FTRACE_PAGES};

		r = log_writer_channels(writer, &channel, 1, NULL);
	}
	for (uint64_t block = 0; block < BLOCKS && r == 0; block++) {
		for (uint32_t i = 0; i < CHANNELS && r == 0; i++) {
			for (size_t at = 0; at < BLOCK_BYTES; at++)
				bytes[at] = byte_at(i, block * BLOCK_BYTES + at);
			r = log_writer_data(writer, i, bytes, BLOCK_BYTES, NULL);
		}
	}
	if (r == 0)
		r = log_writer_finish(writer, LOG_END_TIME, NULL);
	log_writer_destroy(writer);
	return r;
}

static bool channel_is_right(struct log_reader *reader, uint32_t channel)
{
	struct log_cursor *cursor;
	struct log_span span;
	uint64_t at = 0;
	bool right = true;

	if (log_cursor_create(reader, channel, &cursor) < 0)
		return false;
	while (right && log_cursor_next(cursor, &span, NULL) > 0) {
		for (size_t i = 0; i < span.size; i++)
			right &= span.bytes[i] == byte_at(channel, at + i);
		at += span.size;
	}
	log_cursor_destroy(cursor);
	return right && at == (uint64_t)BLOCKS * BLOCK_BYTES;
}

static void *read_all(void *data)
{
	for (uint32_t i = 0; i < CHANNELS; i++) {
		if (!channel_is_right(data, i))
			return data;
	}
	return NULL;
}

int main(void)
{
	int fd = memfd_create("log", MFD_CLOEXEC);
	pthread_t threads[THREADS];
	struct log_reader *reader;
	int bad = 0;

	if (fd < 0 || write_log(fd) < 0 || log_reader_adopt_open(fd, &reader, NULL) < 0) {
		fputs("cannot make a log\n", stderr);
		return 1;
	}
	for (int i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, read_all, reader);
	for (int i = 0; i < THREADS; i++) {
		void *result;

		pthread_join(threads[i], &result);
		bad |= result != NULL;
	}
	log_reader_close(reader);
	if (bad)
		fputs("a thread read wrong bytes\n", stderr);
	return bad;
}
