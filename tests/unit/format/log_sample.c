/* SPDX-License-Identifier: MIT */
#include "log_sample.h"

#include "blktrace.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum {
	STREAM_BYTES = 4 << 20
};

/* Random records of both protocols; counts them while it makes them. */
static void make_channel(struct sample *sample, uint32_t channel, unsigned *seed)
{
	uint8_t *out = malloc(STREAM_BYTES);
	size_t at = 0;

	while (at + 64 + 200 < STREAM_BYTES) {
		bool note = rand_r(seed) % 5 == 0;
		uint16_t pdu_len = rand_r(seed) % 3 ? 0 : (uint16_t)(rand_r(seed) % 200);
		uint32_t action = note ? 0x4000002 : 0x00410007;
		size_t head;

		if (channel % 2) {
			struct bt_record1 r = {.magic = BT_MAGIC | 7,
					       .sequence = (uint32_t)rand_r(seed),
					       .sector = (uint64_t)rand_r(seed),
					       .action = action,
					       .pdu_len = pdu_len};
			head = sizeof(r);
			memcpy(out + at, &r, head);
		} else {
			struct bt_record2 r = {.magic = BT_MAGIC | 8,
					       .sequence = (uint32_t)rand_r(seed),
					       .sector = (uint64_t)rand_r(seed),
					       .action = action,
					       .pdu_len = pdu_len};
			head = sizeof(r);
			memcpy(out + at, &r, head);
		}
		for (size_t i = 0; i < pdu_len; i++)
			out[at + head + i] = (uint8_t)rand_r(seed);
		at += head + pdu_len;
	}
	sample->channel[channel] = out;
}

/* What a reader of these bytes must count: whole heads. */
static void count_channel(struct sample *sample, uint32_t channel)
{
	const uint8_t *bytes = sample->channel[channel];
	size_t head = channel % 2 ? 48 : 64;

	for (size_t at = 0; at + head <= sample->channel_bytes[channel];) {
		uint16_t pdu_len;
		uint32_t action;

		memcpy(&pdu_len, bytes + at + (channel % 2 ? 46 : 50), 2);
		memcpy(&action, bytes + at + (channel % 2 ? 28 : 32), 4);
		if (action == 0x4000002)
			sample->notes[channel]++;
		else
			sample->events[channel]++;
		at += head + pdu_len;
	}
}

/* Bytes up to the end of the record that the channel's last byte is in. */
static size_t rest_of_record(const struct sample *sample, uint32_t channel)
{
	const uint8_t *bytes = sample->channel[channel];
	size_t at = 0;

	while (at < sample->channel_bytes[channel]) {
		uint16_t pdu_len;

		memcpy(&pdu_len, bytes + at + (channel % 2 ? 46 : 50), 2);
		at += (channel % 2 ? 48 : 64) + pdu_len;
	}
	return at - sample->channel_bytes[channel];
}

static void cut_here(struct sample *sample, struct log_writer *writer, uint32_t channel)
{
	struct sample_cut *cut = &sample->cuts[sample->n_cuts++];

	cr_assert_leq(sample->n_cuts, SAMPLE_BLOCKS_MAX);
	cut->file_bytes = log_writer_file_bytes(writer);
	cut->channel = channel;
	memcpy(cut->channel_bytes, sample->channel_bytes, sizeof(cut->channel_bytes));
}

static void write_heading(struct sample *sample, struct log_writer *writer)
{
	static const char meta[] = "host=box\0kernel=6.1.0\0source=relay\0empty=\0no pair";
	struct log_device devices[2] = {
		{.index = 0, .device = 8 << 20, .disk = 8 << 20, .protocol = 1, .name = "sda"},
		{.index = 1,
		 .device = 259 << 20,
		 .disk = 259 << 20,
		 .protocol = 2,
		 .name = "nvme0n1"},
	};
	struct log_channel channels[SAMPLE_CHANNELS] = {
		{0, 1, 0, LOG_RELAY_RECORDS},
		{1, 0, 0, LOG_RELAY_RECORDS},
		{2, 1, 1, LOG_RELAY_RECORDS},
	};

	cut_here(sample, writer, LOG_NO_CHANNEL);
	cr_assert_eq(log_writer_meta(writer, meta, sizeof(meta), NULL), 0);
	cut_here(sample, writer, LOG_NO_CHANNEL);
	cr_assert_eq(log_writer_devices(writer, devices, 2, NULL), 0);
	cut_here(sample, writer, LOG_NO_CHANNEL);
	cr_assert_eq(log_writer_channels(writer, channels, 2, NULL), 0);
	cut_here(sample, writer, LOG_NO_CHANNEL);
	cr_assert_eq(log_writer_channels(writer, channels + 2, 1, NULL), 0);
	cut_here(sample, writer, LOG_NO_CHANNEL);
}

static void write_other(struct sample *sample, struct log_writer *writer, unsigned *seed)
{
	struct log_drops drops = {
		.device_index = 1, .cpu = LOG_NO_CPU, .from_ns = 10, .to_ns = 20, .count = 7};
	struct log_name name = {.time_ns = 15, .pid = 42, .comm = "sixteen bytes ab"};

	switch (rand_r(seed) % 12) {
	case 0:
		cr_assert_eq(log_writer_drops(writer, &drops, 1, NULL), 0);
		break;
	case 1:
		cr_assert_eq(log_writer_names(writer, &name, 1, NULL), 0);
		break;
	case 2:
		cr_assert_eq(log_writer_clock(writer, NULL), 0);
		break;
	default:
		return;
	}
	cut_here(sample, writer, LOG_NO_CHANNEL);
}

static void write_span(struct sample *sample, struct log_writer *writer, uint32_t channel, size_t n)
{
	const uint8_t *bytes = sample->channel[channel] + sample->channel_bytes[channel];

	cr_assert_eq(log_writer_data(writer, channel, bytes, n, NULL), 0);
	sample->channel_bytes[channel] += n;
	cut_here(sample, writer, channel);
}

void sample_make(struct sample *sample, unsigned seed, bool compress, size_t spans, size_t span_max)
{
	struct log_writer_options options = {.compress = compress};
	struct log_writer *writer;

	*sample = (struct sample){.fd = memfd_create("log", MFD_CLOEXEC)};
	for (uint32_t i = 0; i < SAMPLE_CHANNELS; i++)
		make_channel(sample, i, &seed);
	cr_assert_eq(log_writer_create(sample->fd, &options, &writer, NULL), 0);
	write_heading(sample, writer);
	for (size_t i = 0; i < spans; i++) {
		uint32_t channel = (uint32_t)rand_r(&seed) % SAMPLE_CHANNELS;
		size_t n = 1 + (size_t)rand_r(&seed) % span_max;

		cr_assert_leq(sample->channel_bytes[channel] + n, STREAM_BYTES - 300);
		write_span(sample, writer, channel, n);
		write_other(sample, writer, &seed);
	}
	for (uint32_t i = 0; i < SAMPLE_CHANNELS; i++) {
		if (rest_of_record(sample, i))
			write_span(sample, writer, i, rest_of_record(sample, i));
	}
	cr_assert_eq(log_writer_finish(writer, LOG_END_COMMAND, NULL), 0);
	cut_here(sample, writer, LOG_NO_CHANNEL);
	sample->size = log_writer_file_bytes(writer);
	log_writer_destroy(writer);
	for (uint32_t i = 0; i < SAMPLE_CHANNELS; i++)
		count_channel(sample, i);
	sample->bytes = malloc(sample->size);
	cr_assert_eq(pread(sample->fd, sample->bytes, sample->size, 0), (ssize_t)sample->size);
}

void sample_free(struct sample *sample)
{
	close(sample->fd);
	free(sample->bytes);
	for (uint32_t i = 0; i < SAMPLE_CHANNELS; i++)
		free(sample->channel[i]);
}

int sample_file(const uint8_t *bytes, size_t size)
{
	int fd = memfd_create("log", MFD_CLOEXEC);

	cr_assert_geq(fd, 0);
	cr_assert_eq(write(fd, bytes, size), (ssize_t)size);
	return fd;
}

uint64_t sample_read(const struct sample *sample, struct log_reader *reader, uint32_t channel,
		     uint64_t *ret_missing)
{
	struct log_cursor *cursor;
	struct log_span span;
	uint64_t bytes = 0;
	uint64_t at = 0;
	uint64_t missing = 0;
	int r;

	cr_assert_eq(log_cursor_create(reader, channel, &cursor), 0);
	while ((r = log_cursor_next(cursor, &span, NULL)) > 0) {
		cr_assert_eq(span.channel_offset, at + span.missing_bytes);
		cr_assert_leq(span.channel_offset + span.size, sample->channel_bytes[channel]);
		cr_assert(!memcmp(span.bytes, sample->channel[channel] + span.channel_offset,
				  span.size),
			  "wrong data given as good");
		at = span.channel_offset + span.size;
		bytes += span.size;
		missing += span.missing_bytes;
	}
	cr_assert_eq(r, 0);
	log_cursor_destroy(cursor);
	if (ret_missing)
		*ret_missing = missing;
	return bytes;
}
