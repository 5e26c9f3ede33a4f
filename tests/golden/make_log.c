/* SPDX-License-Identifier: MIT */
/*
 * Writes a log with random records and prints what is in it, counted while the records are made.
 * make_log FILE SEED COMPRESS KIND: for comparison with a reader that knows only blkbox-log(5).
 * KIND: whole: nothing was dropped; drops: events were; pages: so they were, and one channel has
 * pages of the ftrace source (which are none: for readers that do not decode). ftrace=PAGES: real
 * ones, of CPU 1 of a 6.18 kernel, of loop0; events were dropped, too. large: 80 MiB on one
 * channel. small: as drops, a few kilobytes.
 */
#include "log_writer.h"

#include "blktrace.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum {
	CHANNELS = 4,
	STREAM_BYTES = 1 << 20
};

struct stream {
	uint8_t bytes[STREAM_BYTES];
	size_t size;	/* made */
	size_t written; /* to the log */
	size_t starts[STREAM_BYTES / 48];
	bool notes[STREAM_BYTES / 48];
	size_t records;
	size_t head; /* bytes of a record's head */
};

static void make_stream(struct stream *stream, uint32_t channel, unsigned *seed)
{
	stream->head = channel % 2 ? 48 : 64;
	while (stream->size + 64 + 100 <= STREAM_BYTES) {
		bool note = rand_r(seed) % 4 == 0;
		uint32_t action = note ? 0x4000002 : 0x00410007;
		uint16_t pdu_len = (uint16_t)(rand_r(seed) % 100);
		uint8_t *to = stream->bytes + stream->size;

		if (stream->head == 48) {
			struct bt_record1 r = {.magic = BT_MAGIC | 7,
					       .action = action,
					       .pdu_len = pdu_len};
			memcpy(to, &r, sizeof(r));
		} else {
			struct bt_record2 r = {.magic = BT_MAGIC | 8,
					       .action = action,
					       .pdu_len = pdu_len};
			memcpy(to, &r, sizeof(r));
		}
		for (size_t i = 0; i < pdu_len; i++)
			to[stream->head + i] = (uint8_t)(rand_r(seed) % 7);
		stream->starts[stream->records] = stream->size;
		stream->notes[stream->records++] = note;
		stream->size += stream->head + pdu_len;
	}
}

/* Bytes that the record lacks in whose middle the writing stopped. */
static size_t rest_of_record(const struct stream *stream)
{
	for (size_t i = 0; i < stream->records; i++) {
		if (stream->starts[i] >= stream->written)
			return stream->starts[i] - stream->written;
	}
	return stream->size - stream->written;
}

static void print_channel(const struct stream *stream, const struct log_channel *channel)
{
	uint64_t events = 0;
	uint64_t notes = 0;

	for (size_t i = 0; channel->kind == LOG_RELAY_RECORDS && i < stream->records; i++) {
		if (stream->starts[i] + stream->head > stream->written)
			break;
		if (stream->notes[i])
			notes++;
		else
			events++;
	}
	printf("channel %u device %u cpu %u kind %u bytes %zu events %" PRIu64 " notes %" PRIu64
	       "\n",
	       channel->channel, channel->device_index, channel->cpu, channel->kind,
	       stream->written, events, notes);
}

static int write_log(struct log_writer *writer, struct stream *streams, unsigned *seed,
		     const char *kind, struct why *why)
{
	static const char meta[] = "host=box\0source=relay\0command=fio '--name=a b'";
	static const struct log_device devices[] = {
		{.index = 0,
		 .device = 8u << 20 | 1,
		 .flags = LOG_DEVICE_PARTITION,
		 .protocol = 1,
		 .disk = 8u << 20,
		 .start_sector = 2048,
		 .sectors = 99,
		 .name = "sda1"},
		{.index = 1,
		 .device = 259u << 20 | 3,
		 .protocol = 2,
		 .disk = 259u << 20 | 3,
		 .sectors = 7814037168,
		 .name = "nvme0n1"},
	};
	const bool whole = !strcmp(kind, "whole"), pages = !strcmp(kind, "pages"),
		   small = !strcmp(kind, "small");
	const struct log_channel channels[CHANNELS] = {
		{0, 1, 0, LOG_RELAY_RECORDS},
		{1, 0, 0, LOG_RELAY_RECORDS},
		{2, 1, 3, LOG_RELAY_RECORDS},
		{3, pages ? LOG_NO_CHANNEL : 0, 1, pages ? LOG_FTRACE_PAGES : LOG_RELAY_RECORDS},
	};
	static const struct log_drops drops[] = {
		{0, 7, 1000, 2000, 33, 0, 0},
		{1, LOG_NO_CPU, 3000, 4000, 1, LOG_DROPS_AT_STOP, 0},
	};
	static const struct log_name name = {.time_ns = 1234, .pid = 42, .comm = "kworker/u8:0-fl"};
	const uint64_t spans = small ? 12 : 100;
	const size_t span_max = small ? 200 : 20000;
	uint64_t blocks = 0;
	int r = log_writer_meta(writer, meta, sizeof(meta), why);

	if (r == 0)
		r = log_writer_devices(writer, devices, 2, why);
	if (r == 0)
		r = log_writer_channels(writer, channels, CHANNELS, why);
	for (blocks = 3; r == 0 && blocks < 3 + spans; blocks++) {
		uint32_t i = (uint32_t)rand_r(seed) % CHANNELS;
		size_t n = 1 + (size_t)rand_r(seed) % span_max;

		if (n > streams[i].size - streams[i].written)
			n = 1;
		r = log_writer_data(writer, i, streams[i].bytes + streams[i].written, n, why);
		streams[i].written += n;
	}
	for (uint32_t i = 0; r == 0 && i < CHANNELS; i++) {
		size_t n = rest_of_record(&streams[i]);

		if (!n)
			continue;
		r = log_writer_data(writer, i, streams[i].bytes + streams[i].written, n, why);
		streams[i].written += n;
		blocks++;
	}
	if (r == 0 && !whole)
		r = log_writer_drops(writer, drops, 2, why);
	if (r == 0)
		r = log_writer_names(writer, &name, 1, why);
	if (r == 0)
		r = log_writer_clock(writer, why);
	if (r == 0)
		r = log_writer_finish(writer, LOG_END_SIGNAL, why);
	printf("meta host=box\nmeta source=relay\nmeta command=fio '--name=a b'\n"
	       "device 0 sda1 8:1 flags 1 protocol 1 disk 8:0 start 2048 sectors 99\n"
	       "device 1 nvme0n1 259:3 flags 0 protocol 2 disk 259:3 start 0 sectors 7814037168\n");
	for (int i = 0; i < CHANNELS; i++)
		print_channel(&streams[i], &channels[i]);
	if (!whole)
		printf("drops device 0 cpu 7 from 1000 to 2000 count 33 flags 0\n"
		       "drops device 1 cpu 4294967295 from 3000 to 4000 count 1 flags 1\n");
	printf("name 42 kworker/u8:0-fl at 1234\nend reason 3 blocks %" PRIu64 "\n",
	       blocks + 2 + !whole);
	return r;
}

static int write_ftrace(struct log_writer *writer, const char *path, struct why *why)
{
	static const char meta[] = "source=ftrace\0ftrace_data_offset=16\0ftrace_data_bytes=4080\0"
				   "ftrace_commit_offset=8\0ftrace_type_id=14\0ftrace_protocol=1";
	static const struct log_device loop = {.device = 7u << 20,
					       .protocol = 1,
					       .disk = 7u << 20,
					       .name = "loop0"};
	static const struct log_channel channel = {0, LOG_NO_CHANNEL, 1, LOG_FTRACE_PAGES};
	static const struct log_drops drops = {
		LOG_NO_CHANNEL, 1, 2645800000000, 2645850000000, 77, 0, 0};
	static const struct log_name names[] = {
		{.time_ns = 1, .pid = 18829, .comm = "dd"},
		{.time_ns = 1, .pid = 18830, .comm = "dd"},
		{.time_ns = 1, .pid = 18831, .comm = "blkdiscard"},
		{.time_ns = 1, .pid = 18833, .comm = "dd"},
		{.time_ns = 1, .pid = 18834, .comm = "dd"},
		{.time_ns = 1, .pid = 22, .comm = "ksoftirqd/1"},
		{.time_ns = 1, .pid = 24, .comm = "kworker/1:0H"},
	};
	static char pages[1 << 20];
	FILE *file = fopen(path, "r");
	size_t n = file ? fread(pages, 1, sizeof(pages), file) : 0;
	int r = n ? log_writer_meta(writer, meta, sizeof(meta), why) : -ENOENT;

	if (file)
		fclose(file);
	if (r == 0)
		r = log_writer_devices(writer, &loop, 1, why);
	if (r == 0)
		r = log_writer_channels(writer, &channel, 1, why);
	if (r == 0)
		r = log_writer_data(writer, 0, pages, n, why);
	if (r == 0)
		r = log_writer_drops(writer, &drops, 1, why);
	if (r == 0)
		r = log_writer_names(writer, names, sizeof(names) / sizeof(names[0]), why);
	return r == 0 ? log_writer_finish(writer, LOG_END_SIGNAL, why) : r;
}

static int write_large(struct log_writer *writer, const struct stream *stream, struct why *why)
{
	static const struct log_device device = {.device = 8u << 20,
						 .disk = 8u << 20,
						 .name = "sda"};
	static const struct log_channel channel = {0, 0, 0, LOG_RELAY_RECORDS};
	int r = log_writer_devices(writer, &device, 1, why);

	if (r == 0)
		r = log_writer_channels(writer, &channel, 1, why);
	for (int i = 0; i < 80 && r == 0; i++)
		r = log_writer_data(writer, 0, stream->bytes, stream->size, why);
	printf("records %zu\n", 80 * stream->records);
	return r == 0 ? log_writer_finish(writer, LOG_END_SIGNAL, why) : r;
}

int main(int argc, char **argv)
{
	static struct stream streams[CHANNELS];
	struct why why = {""};
	struct log_writer *writer;
	unsigned seed;
	int fd;
	int r;

	if (argc != 5)
		return 2;
	seed = (unsigned)atoi(argv[2]);
	fd = open(argv[1], O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd < 0)
		return 1;
	for (uint32_t i = 0; i < CHANNELS; i++)
		make_stream(&streams[i], i, &seed);
	r = log_writer_create(fd, &(struct log_writer_options){.compress = atoi(argv[3])}, &writer,
			      &why);
	if (r == 0 && !strncmp(argv[4], "ftrace=", 7))
		r = write_ftrace(writer, argv[4] + 7, &why);
	else if (r == 0 && !strcmp(argv[4], "large"))
		r = write_large(writer, &streams[0], &why);
	else if (r == 0)
		r = write_log(writer, streams, &seed, argv[4], &why);
	if (r < 0) {
		fprintf(stderr, "make_log: %s\n", why.text);
		return 1;
	}
	log_writer_destroy(writer);
	close(fd);
	return 0;
}
