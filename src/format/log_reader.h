/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Reads a log: whole, cut off or damaged. Never trusts a length.
 *
 * Opening walks all block heads (not the payloads) once, so that every channel can be read on its
 * own, however far apart its blocks are. Memory: 16 bytes a block, one payload for each cursor.
 */
#ifndef BLKBOX_FORMAT_LOG_READER_H
#define BLKBOX_FORMAT_LOG_READER_H

#include "log_format.h"
#include "why.h"

#include <stdbool.h>
#include <stdint.h>

struct log_reader;

/** What is wrong with a log. All zero and @has_end: it is whole. */
struct log_health {
	bool has_end; /* false: cut off */
	uint64_t file_bytes;
	uint64_t good_bytes;	 /* a cut-off log: end of its last whole block */
	uint64_t damaged_blocks; /* skipped by their length or by searching the next head */
	uint64_t damaged_bytes;
	uint64_t first_damage_offset; /* in the file; if there is any */
	uint64_t unknown_blocks;      /* of types that this program does not know; skipped */
	uint64_t missing_data_bytes;  /* raw bytes of channels that must have been in lost blocks */
	uint64_t total_mismatches;    /* channels whose END totals differ from what was read */
};

/** True if the file starts with a log's magic. Reads nothing else; the offset is left alone. */
bool log_reader_probe(int fd);

/**
 * Opens the log in @fd, adopting it. It must be seekable (the caller spools a pipe).
 * -EBADMSG: not a log, or its header is damaged; -ENOTSUP: made by a newer program.
 */
int log_reader_adopt_open(int fd, struct log_reader **ret, struct why *why);
void log_reader_close(struct log_reader *reader);

const struct log_header *log_reader_header(const struct log_reader *reader);
/** Value of a META key, or NULL. Borrowed. */
const char *log_reader_meta(const struct log_reader *reader, const char *key);
/** All META strings in order: false when @i is past the last. */
bool log_reader_meta_at(const struct log_reader *reader, size_t i, const char **ret_key,
			const char **ret_value);
size_t log_reader_devices(const struct log_reader *reader, const struct log_device **ret);
size_t log_reader_channels(const struct log_reader *reader, const struct log_channel **ret);
size_t log_reader_drops(const struct log_reader *reader, const struct log_drops **ret);
size_t log_reader_names(const struct log_reader *reader, const struct log_name **ret);
size_t log_reader_clocks(const struct log_reader *reader, const struct log_clock **ret);
/** NULL for a log that was cut off. */
const struct log_end *log_reader_end(const struct log_reader *reader);
/** END's totals of a channel; false if the log has none. */
bool log_reader_total(const struct log_reader *reader, uint32_t channel, struct log_total *ret);
/** Raw bytes of a channel, from the block heads. */
uint64_t log_reader_channel_bytes(const struct log_reader *reader, uint32_t channel);
/** written_mono_ns of the last good block: the end of the recording as far as a cut-off log tells.
 */
uint64_t log_reader_last_ns(const struct log_reader *reader);
const struct log_health *log_reader_health(const struct log_reader *reader);

/** A place in one channel. Cursors of one reader may be used from different threads. */
struct log_cursor;

int log_cursor_create(struct log_reader *reader, uint32_t channel, struct log_cursor **ret);
void log_cursor_destroy(struct log_cursor *cursor);

struct log_span {
	const uint8_t *bytes; /* valid until the next call */
	size_t size;
	uint64_t file_offset;	 /* of the block it comes from */
	uint64_t channel_offset; /* of its first byte in the channel */
	uint64_t missing_bytes;	 /* of the channel, lost with damaged blocks in front of it */
};

/**
 * The channel's next bytes. 1 = @ret is set, 0 = end, < 0 = read error.
 * A block whose payload is damaged is passed over and counted in log_cursor_damage(); the next
 * span tells the gap in @missing_bytes.
 */
int log_cursor_next(struct log_cursor *cursor, struct log_span *ret, struct why *why);

/** Payloads that were found damaged by this cursor, and their stored bytes. */
void log_cursor_damage(const struct log_cursor *cursor, uint64_t *ret_blocks, uint64_t *ret_bytes);

/**
 * Reads and checks every byte: all heads, all payload checksums, decompression, continuity of the
 * channels, END's totals. 0 = done, the result is in @ret (a superset of log_reader_health()).
 */
int log_reader_verify(struct log_reader *reader, struct log_health *ret, struct why *why);

#endif
