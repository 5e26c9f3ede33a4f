/* SPDX-License-Identifier: MIT */
#include "log_writer.h"

#include "clock.h"
#include "log_clock.h"
#include "log_out.h"
#include "log_pack.h"
#include "log_reader_impl.h"
#include "log_repeat.h"
#include "record_count.h"

#include <string.h>
#include <xxhash.h>
#include <zstd.h>

enum {
	ZSTD_LEVEL = 1
};

struct channel {
	enum log_channel_kind kind;
	uint64_t bytes;
	uint64_t skipped_bytes; /* that the kernel handed out and nobody has */
	struct record_count count;
};

struct log_writer {
	struct log_out out;
	uint64_t blocks;
	struct channel *channels;
	size_t n_channels;
	struct log_repeat tables;
	ZSTD_CCtx *zstd; /* NULL: no compression */
	struct log_packer *packer;
	uint8_t *compressed; /* LOG_DATA_TARGET bytes */
	bool finished;
};

/* Fills in what depends on the payload, seals the head and writes both at once. */
static int write_block(struct log_writer *writer, struct log_block_head *head, const void *payload,
		       struct why *why)
{
	struct iovec iov[2] = {
		{.iov_base = head, .iov_len = sizeof(*head)},
		{.iov_base = (void *)payload, .iov_len = head->stored_bytes},
	};
	int r;

	assert(!writer->finished);
	assert(head->raw_bytes <= LOG_BLOCK_MAX && head->stored_bytes <= head->raw_bytes);
	head->sync = LOG_BLOCK_SYNC;
	head->payload_check = XXH3_64bits(payload, head->stored_bytes);
	head->written_mono_ns = clock_mono_ns();
	head->head_check = 0;
	head->head_check = (uint32_t)XXH3_64bits(head, sizeof(*head));
	r = log_out_write(&writer->out, iov, 2, why);
	if (r < 0)
		return r;
	writer->blocks++;
	return 0;
}

static int write_once(struct log_writer *writer, enum log_block_type type, const void *payload,
		      size_t size, struct why *why)
{
	struct log_block_head head = {
		.type = (uint16_t)type,
		.channel = LOG_NO_CHANNEL,
		.raw_bytes = (uint32_t)size,
		.stored_bytes = (uint32_t)size,
	};

	return write_block(writer, &head, payload, why);
}

static int out_of_memory(struct log_writer *writer, struct why *why)
{
	why_errno(&writer->out.why, -ENOMEM, "cannot write to the log");
	return log_out_give_up(&writer->out, -ENOMEM, why);
}

static int write_plain(struct log_writer *writer, enum log_block_type type, const void *payload,
		       size_t size, struct why *why)
{
	if (log_repeat_keep(&writer->tables, type, payload, size) < 0)
		return out_of_memory(writer, why);
	return write_once(writer, type, payload, size, why);
}

int log_writer_repeat(struct log_writer *writer, struct why *why)
{
	int r = log_out_state(&writer->out, why);

	for (size_t i = 0; r >= 0 && i < writer->tables.n; i++) {
		const struct log_kept *block = &writer->tables.blocks[i];

		r = write_once(writer, block->type, block->payload, block->size, why);
	}
	return r;
}

/* Writes an array of items, in as many blocks as it needs. */
static int write_items(struct log_writer *writer, enum log_block_type type, const void *items,
		       size_t item_bytes, size_t n, struct why *why)
{
	const uint8_t *at = items;
	size_t most = LOG_BLOCK_MAX / item_bytes;
	int r = log_out_state(&writer->out, why);

	while (n && r >= 0) {
		size_t now = n < most ? n : most;

		r = write_plain(writer, type, at, now * item_bytes, why);
		at += now * item_bytes;
		n -= now;
	}
	return r;
}

DEFINE_CLEANUP(struct log_writer, log_writer_destroy);
#define _cleanup_writer_ _cleanup_(cleanup_log_writer_destroy)

static int writer_alloc(bool compress, struct log_writer **ret)
{
	_cleanup_writer_ struct log_writer *writer = calloc(1, sizeof(*writer));

	if (!writer)
		return -ENOMEM;
	if (compress) {
		writer->zstd = ZSTD_createCCtx();
		writer->compressed = malloc(LOG_DATA_TARGET);
		if (!writer->zstd || !writer->compressed ||
		    log_packer_create(LOG_DATA_TARGET, &writer->packer) < 0)
			return -ENOMEM;
	}
	*ret = take_ptr(writer);
	return 0;
}

int log_writer_create(int fd, const struct log_writer_options *options, struct log_writer **ret,
		      struct why *why)
{
	_cleanup_writer_ struct log_writer *writer = NULL;
	struct log_header header = {
		.magic = LOG_MAGIC,
		.version = LOG_VERSION,
		.header_bytes = sizeof(header),
	};
	struct iovec iov = {.iov_base = &header, .iov_len = sizeof(header)};
	struct log_clock clock;
	int r = writer_alloc(options->compress, &writer);

	if (r < 0)
		return why_errno(why, r, "cannot write a log");
	r = log_out_init(&writer->out, fd, why);
	if (r < 0)
		return r;
	log_clock_sample(&clock);
	header.start_mono_ns = clock.mono_ns;
	header.start_real_ns = clock.real_ns;
	log_clock_boot_id(header.boot_id);
	header.check = XXH3_64bits(&header, offsetof(struct log_header, check));
	r = log_out_write(&writer->out, &iov, 1, why);
	if (r < 0)
		return r;
	*ret = take_ptr(writer);
	return 0;
}

static int recount_channel(struct log_reader *reader, uint32_t number, struct channel *channel,
			   struct why *why)
{
	struct log_cursor *cursor;
	struct log_span span;
	int r = log_cursor_create(reader, number, &cursor);

	if (r < 0)
		return why_errno(why, r, "cannot go on with a log");
	while ((r = log_cursor_next(cursor, &span, why)) > 0) {
		if (span.missing_bytes)
			record_count_gap(&channel->count);
		if (channel->kind == LOG_RELAY_RECORDS)
			record_count_feed(&channel->count, span.bytes, span.size);
		channel->bytes += span.size;
		channel->skipped_bytes += span.missing_bytes;
	}
	log_cursor_destroy(cursor);
	return r;
}

static int recount(struct log_writer *writer, struct log_reader *reader, struct why *why)
{
	const struct log_channel *channels;
	size_t n = log_reader_channels(reader, &channels);
	int r = 0;

	writer->channels = calloc(n + 1, sizeof(*writer->channels));
	if (!writer->channels)
		return why_errno(why, -ENOMEM, "cannot go on with a log");
	writer->n_channels = n;
	for (uint32_t i = 0; r >= 0 && i < n; i++) {
		writer->channels[i].kind = (enum log_channel_kind)channels[i].kind;
		r = recount_channel(reader, i, &writer->channels[i], why);
	}
	return r;
}

int log_writer_resume(int fd, struct log_reader *reader, struct log_writer **ret, struct why *why)
{
	const struct log_health *health = log_reader_health(reader);
	_cleanup_writer_ struct log_writer *writer = NULL;
	int r;

	if (health->has_end || health->header_damaged)
		return why_set(why, -EALREADY, "the log is whole, or its beginning is damaged");
	r = writer_alloc(false, &writer);
	if (r < 0)
		return why_errno(why, r, "cannot go on with a log");
	r = log_out_init(&writer->out, fd, why);
	if (r >= 0)
		r = recount(writer, reader, why);
	if (r < 0)
		return r;
	writer->out.start_offset = 0;
	writer->out.bytes = health->good_bytes;
	writer->blocks = reader->blocks;
	if (ftruncate(fd, (off_t)health->good_bytes) < 0 ||
	    lseek(fd, (off_t)health->good_bytes, SEEK_SET) < 0)
		return why_errno(why, -errno, "cannot cut the log off behind its last whole block");
	*ret = take_ptr(writer);
	return 0;
}

uint64_t log_writer_offset(const struct log_writer *writer, uint32_t channel)
{
	assert(channel < writer->n_channels);
	return writer->channels[channel].bytes + writer->channels[channel].skipped_bytes;
}

void log_writer_skip(struct log_writer *writer, uint32_t channel, uint64_t bytes)
{
	assert(channel < writer->n_channels);
	writer->channels[channel].skipped_bytes += bytes;
	record_count_gap(&writer->channels[channel].count);
}

void log_writer_destroy(struct log_writer *writer)
{
	if (!writer)
		return;
	ZSTD_freeCCtx(writer->zstd);
	log_packer_destroy(writer->packer);
	free(writer->compressed);
	free(writer->channels);
	log_repeat_deinit(&writer->tables);
	free(writer);
}

int log_writer_meta(struct log_writer *writer, const char *text, size_t size, struct why *why)
{
	int r = log_out_state(&writer->out, why);

	assert(!size || text[size - 1] == '\0');
	while (size && r >= 0) {
		const char *last = memrchr(text, '\0', size < LOG_BLOCK_MAX ? size : LOG_BLOCK_MAX);
		size_t now;

		if (!last) {
			why_set(&writer->out.why, -E2BIG,
				"cannot write to the log: '%.20s...' is longer than %d bytes", text,
				LOG_BLOCK_MAX);
			return log_out_give_up(&writer->out, -E2BIG, why);
		}
		now = (size_t)(last + 1 - text);
		r = write_plain(writer, LOG_META, text, now, why);
		text += now;
		size -= now;
	}
	return r;
}

int log_writer_devices(struct log_writer *writer, const struct log_device *devices, size_t n,
		       struct why *why)
{
	return write_items(writer, LOG_DEVICES, devices, sizeof(*devices), n, why);
}

int log_writer_channels(struct log_writer *writer, const struct log_channel *channels, size_t n,
			struct why *why)
{
	struct channel *grown;
	int r = log_out_state(&writer->out, why);

	if (r < 0)
		return r;
	if (n > LOG_CHANNELS_MAX - writer->n_channels) {
		why_set(&writer->out.why, -E2BIG,
			"cannot write to the log: it has room for %d channels (devices x CPUs)",
			LOG_CHANNELS_MAX);
		return log_out_give_up(&writer->out, -E2BIG, why);
	}
	grown = reallocarray(writer->channels, writer->n_channels + n + 1, sizeof(*grown));
	if (!grown)
		return out_of_memory(writer, why);
	writer->channels = grown;
	r = write_items(writer, LOG_CHANNELS, channels, sizeof(*channels), n, why);
	if (r < 0)
		return r;
	for (size_t i = 0; i < n; i++) {
		assert(channels[i].channel == writer->n_channels);
		grown[writer->n_channels++] = (struct channel){
			.kind = (enum log_channel_kind)channels[i].kind,
		};
	}
	return 0;
}

/* The payload as it is stored, if that is shorter: @head is set accordingly. */
static const uint8_t *compress(struct log_writer *writer, enum log_channel_kind kind,
			       const uint8_t *bytes, size_t size, struct log_block_head *head)
{
	uint16_t flags = LOG_ZSTD;
	const uint8_t *input = bytes;
	size_t input_bytes = size, n;

	if (kind == LOG_RELAY_RECORDS) {
		input_bytes = log_pack(writer->packer, bytes, size, &input);
		flags |= LOG_PACKED | LOG_MUST_UNDERSTAND;
	}
	/* No room for more than the bytes themselves: fails if it does not help. */
	n = ZSTD_compressCCtx(writer->zstd, writer->compressed, size - 1, input, input_bytes,
			      ZSTD_LEVEL);
	if (ZSTD_isError(n))
		return bytes;
	head->flags |= flags;
	head->stored_bytes = (uint32_t)n;
	return writer->compressed;
}

static int write_data_block(struct log_writer *writer, uint32_t number, const uint8_t *bytes,
			    size_t size, struct why *why)
{
	struct channel *channel = &writer->channels[number];
	const uint8_t *payload = bytes;
	struct log_block_head head = {
		.type = LOG_DATA,
		.channel = number,
		.raw_bytes = (uint32_t)size,
		.stored_bytes = (uint32_t)size,
		.channel_offset = channel->bytes + channel->skipped_bytes,
	};
	int r;

	if (writer->zstd)
		payload = compress(writer, channel->kind, bytes, size, &head);
	r = write_block(writer, &head, payload, why);
	if (r < 0)
		return r;
	channel->bytes += size;
	if (channel->kind == LOG_RELAY_RECORDS)
		record_count_feed(&channel->count, bytes, size);
	return 0;
}

int log_writer_data(struct log_writer *writer, uint32_t channel, const void *bytes, size_t size,
		    struct why *why)
{
	const uint8_t *at = bytes;
	int r = log_out_state(&writer->out, why);

	assert(channel < writer->n_channels);
	while (size && r >= 0) {
		size_t now = size < LOG_DATA_TARGET ? size : LOG_DATA_TARGET;

		r = write_data_block(writer, channel, at, now, why);
		at += now;
		size -= now;
	}
	return r;
}

int log_writer_drops(struct log_writer *writer, const struct log_drops *drops, size_t n,
		     struct why *why)
{
	return write_items(writer, LOG_DROPS, drops, sizeof(*drops), n, why);
}

int log_writer_names(struct log_writer *writer, const struct log_name *names, size_t n,
		     struct why *why)
{
	return write_items(writer, LOG_NAMES, names, sizeof(*names), n, why);
}

int log_writer_clock(struct log_writer *writer, struct why *why)
{
	struct log_clock clock;

	log_clock_sample(&clock);
	return write_items(writer, LOG_CLOCK, &clock, sizeof(clock), 1, why);
}

int log_writer_finish(struct log_writer *writer, enum log_end_reason reason, struct why *why)
{
	size_t size = sizeof(struct log_end) + writer->n_channels * sizeof(struct log_total);
	_cleanup_free_ struct log_end *end = NULL;
	struct log_clock clock;
	struct log_total *totals;
	int r = log_out_state(&writer->out, why);

	if (r < 0)
		return r;
	end = calloc(1, size);
	if (!end)
		return out_of_memory(writer, why);
	log_clock_sample(&clock);
	end->end_mono_ns = clock.mono_ns;
	end->end_real_ns = clock.real_ns;
	end->blocks = writer->blocks;
	end->reason = reason;
	end->totals = (uint32_t)writer->n_channels;
	totals = (struct log_total *)(end + 1);
	for (uint32_t i = 0; i < writer->n_channels; i++)
		log_writer_total(writer, i, &totals[i]);
	r = write_plain(writer, LOG_END, end, size, why);
	if (r < 0)
		return r;
	writer->finished = true;
	return 0;
}

bool log_writer_retry(struct log_writer *writer)
{
	return log_out_retry(&writer->out);
}

void log_writer_total(const struct log_writer *writer, uint32_t channel, struct log_total *ret)
{
	const struct channel *c = &writer->channels[channel];

	assert(channel < writer->n_channels);
	*ret = (struct log_total){
		.channel = channel,
		.bytes = c->bytes,
		.events = c->count.events,
		.notes = c->count.notes,
	};
}

uint64_t log_writer_file_bytes(const struct log_writer *writer)
{
	return writer->out.bytes;
}
