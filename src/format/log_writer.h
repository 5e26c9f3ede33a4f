/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Writes a log. One thread only; every call writes whole blocks.
 */
#ifndef BLKBOX_FORMAT_LOG_WRITER_H
#define BLKBOX_FORMAT_LOG_WRITER_H

#include "log_format.h"
#include "why.h"

#include <stdbool.h>
#include <stdint.h>

struct log_reader;
struct log_writer;

struct log_writer_options {
	bool compress; /* zstd level 1 for each DATA block */
};

/**
 * Writes the header to @fd, which is borrowed and stays the caller's to close, sync and rename.
 *
 * On failure of this or of any other call the file holds whole blocks up to the last good one (a
 * regular file is cut back to it); the writer then refuses everything but log_writer_destroy(),
 * unless log_writer_retry() allows it.
 */
int log_writer_create(int fd, const struct log_writer_options *options, struct log_writer **ret,
		      struct why *why);
/**
 * Goes on with a log that was cut off: @fd, a regular file open for writing and borrowed, is cut
 * back to its last whole block. @reader: of the same file, opened just now; it may be closed
 * afterwards. -EALREADY: it has its END, or its header is damaged.
 */
int log_writer_resume(int fd, struct log_reader *reader, struct log_writer **ret, struct why *why);
void log_writer_destroy(struct log_writer *writer);

/** @text: "key=value" strings, each ended by a NUL; @size counts the last NUL too. */
int log_writer_meta(struct log_writer *writer, const char *text, size_t size, struct why *why);
int log_writer_devices(struct log_writer *writer, const struct log_device *devices, size_t n,
		       struct why *why);
/** Announces channels; each before its first data, numbered on from the last one. */
int log_writer_channels(struct log_writer *writer, const struct log_channel *channels, size_t n,
			struct why *why);

/**
 * Writes the facts, devices and channels that there are by now once more: to be called before the
 * first data and before the end, so that no single damaged block makes the rest unreadable.
 */
int log_writer_repeat(struct log_writer *writer, struct why *why);

/**
 * Appends bytes of a channel: one block, or more if there are more than LOG_DATA_TARGET of them.
 * Counts the records that pass by (LOG_RELAY_RECORDS). The span may cut a record anywhere.
 */
int log_writer_data(struct log_writer *writer, uint32_t channel, const void *bytes, size_t size,
		    struct why *why);
/** Bytes that the channel has had so far, with those that were skipped. */
uint64_t log_writer_offset(const struct log_writer *writer, uint32_t channel);
/** The channel's next @bytes nobody has any more: what follows is behind a gap. */
void log_writer_skip(struct log_writer *writer, uint32_t channel, uint64_t bytes);
int log_writer_drops(struct log_writer *writer, const struct log_drops *drops, size_t n,
		     struct why *why);
int log_writer_names(struct log_writer *writer, const struct log_name *names, size_t n,
		     struct why *why);
/** Samples both clocks now. */
int log_writer_clock(struct log_writer *writer, struct why *why);

/** Writes END. Nothing can follow. The caller then syncs and renames. */
int log_writer_finish(struct log_writer *writer, enum log_end_reason reason, struct why *why);

/** As log_out_retry(); what failed is to be handed over once more, from its first byte. */
bool log_writer_retry(struct log_writer *writer);

/** Counted so far for @channel. */
void log_writer_total(const struct log_writer *writer, uint32_t channel, struct log_total *ret);
/** Bytes in the file so far. */
uint64_t log_writer_file_bytes(const struct log_writer *writer);

#endif
