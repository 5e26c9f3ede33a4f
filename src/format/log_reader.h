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

/** What is wrong with a log: nothing, if log_health_whole() says so. */
struct log_health {
	bool has_end;	     /* false: cut off */
	bool header_damaged; /* its clocks are made up from the blocks; counted as damaged bytes too
			      */
	uint64_t file_bytes;
	uint64_t good_bytes;	      /* a cut-off log: end of its last whole block */
	uint64_t damaged_blocks;      /* or stretches that may have held several */
	uint64_t damaged_bytes;	      /* in the file */
	uint64_t first_damage_offset; /* in the file; if there is any */
	uint64_t unknown_blocks; /* of kinds that this program does not know; skipped: no fault */
	uint64_t missing_blocks; /* END counted them and they are not there, or damaged */
	uint64_t missing_data_bytes; /* raw bytes of channels that must have been in lost blocks */
	uint64_t total_mismatches; /* END's totals (a channel's, or of blocks) that are not what was
				      read */
	/* Known only to log_reader_verify(), which reads the records. */
	uint64_t garbage_bytes; /* among records, and none themselves */
	uint64_t cut_channels;	/* that end within a record */
};

/** True if nothing is cut off, damaged, missing or contradictory. */
static inline bool log_health_whole(const struct log_health *health)
{
	return health->has_end && !health->damaged_bytes && !health->missing_blocks &&
	       !health->missing_data_bytes && !health->total_mismatches && !health->garbage_bytes &&
	       !health->cut_channels;
}

typedef void (*log_health_sentence)(void *context, const char *sentence);

/** Tells what is wrong, and which blocks are unknown: nothing for a whole log. @name: of the log.
 */
void log_health_tell(const struct log_health *health, const char *name, log_health_sentence tell,
		     void *context);

/** True if the file starts with a log's header, whole or damaged. The file offset is left alone. */
bool log_reader_probe(int fd);

/**
 * Opens the log in @fd, adopting it. It must be seekable (the caller spools a pipe).
 *
 * A log that is cut off or damaged opens as far as anything of it can be read. The sentence of a
 * failure is made to stand behind "NAME: ".
 *
 * -ENODATA: empty file; -EISDIR; -EBADMSG: not a log, or nothing of it can be read; -ENOTSUP: made
 * by a newer program; -E2BIG: a table in it is over a limit; or an error of reading.
 */
int log_reader_adopt_open(int fd, struct log_reader **ret, struct why *why);
void log_reader_close(struct log_reader *reader);

/** A time that nothing tells any more (header_damaged) is 0. */
const struct log_header *log_reader_header(const struct log_reader *reader);
/** Value of a META key, or NULL; the last one if it was written again. Borrowed. */
const char *log_reader_meta(const struct log_reader *reader, const char *key);
/** All META strings in order: false when @i is past the last. */
bool log_reader_meta_at(const struct log_reader *reader, size_t i, const char **ret_key,
			const char **ret_value);
/**
 * Device i has the index i: a device whose block was lost is there with an empty name. The index of
 * a device in what the other tables give is that of one of these, or LOG_NO_CHANNEL.
 */
size_t log_reader_devices(const struct log_reader *reader, const struct log_device **ret);
/**
 * Channel i has the number i. If what announced it was lost, its device_index is LOG_NO_CHANNEL,
 * its cpu LOG_NO_CPU and its kind what META's source says.
 */
size_t log_reader_channels(const struct log_reader *reader, const struct log_channel **ret);
size_t log_reader_drops(const struct log_reader *reader, const struct log_drops **ret);
size_t log_reader_names(const struct log_reader *reader, const struct log_name **ret);
size_t log_reader_clocks(const struct log_reader *reader, const struct log_clock **ret);
/** NULL if the log was cut off, or its END is damaged. */
const struct log_end *log_reader_end(const struct log_reader *reader);
/** END's totals of a channel; false if the log has none. */
bool log_reader_total(const struct log_reader *reader, uint32_t channel, struct log_total *ret);
/** Raw bytes of a channel that are there, from the block heads. */
uint64_t log_reader_channel_bytes(const struct log_reader *reader, uint32_t channel);
/** Memory that a cursor in every channel takes together: the largest block of each. */
uint64_t log_reader_cursors_bytes(const struct log_reader *reader);
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
 * A block whose payload is damaged is passed over: the next span tells the gap in @missing_bytes,
 * and behind the last block an empty span does (its @file_offset is 0).
 */
int log_cursor_next(struct log_cursor *cursor, struct log_span *ret, struct why *why);

/** Called now and then during long work; @done of @all bytes. */
struct log_progress {
	void (*tell)(void *data, uint64_t done, uint64_t all);
	void *data;
};

/**
 * Reads and checks every byte: all heads, all payload checksums, decompression, continuity of the
 * channels, END's totals against a recount. 0 = done, the result is in @ret (a superset of
 * log_reader_health()).
 *
 * @progress: may be NULL
 */
int log_reader_verify(struct log_reader *reader, const struct log_progress *progress,
		      struct log_health *ret, struct why *why);

/**
 * Somebody else may have taken events away while it was recorded, or the output failed then: how
 * many are missing, nobody has counted.
 */
bool log_reader_disturbed(const struct log_reader *reader);
/** The sentence for it; %s: the log's name. */
#define LOG_DISTURBED_TEXT \
	"%s: the recording was disturbed: events may be missing that nobody has counted"

#endif
