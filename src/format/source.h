/* SPDX-License-Identifier: MIT */
/**
 * @file
 * A source: the bytes of one channel, span by span, wherever they come from.
 */
#ifndef BLKBOX_FORMAT_SOURCE_H
#define BLKBOX_FORMAT_SOURCE_H

#include "cleanup.h"
#include "why.h"

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/** Bytes of a channel; records may be cut at its ends. */
struct span {
	const uint8_t *bytes; /* valid until the next call */
	size_t size;
	uint64_t offset;	/* of its first byte in the channel (a foreign file: in the file) */
	uint64_t missing_bytes; /* of the channel, lost in front of it */
};

struct source;

struct source_ops {
	/**
	 * 1 = @ret is set, 0 = end, -EAGAIN = nothing now, more may come; else an error.
	 */
	int (*next)(struct source *source, struct span *ret, struct why *why);
	void (*destroy)(struct source *source);
};

/** Every kind of source starts with this. */
struct source {
	const struct source_ops *ops;
};

static inline int source_next(struct source *source, struct span *ret, struct why *why)
{
	return source->ops->next(source, ret, why);
}

static inline void source_destroy(struct source *source)
{
	if (source)
		source->ops->destroy(source);
}

DEFINE_CLEANUP(struct source, source_destroy);

/** Reads a seekable file from @from on, without moving its offset. @fd and @name are borrowed. */
int source_file_create(int fd, const char *name, uint64_t from, struct source **ret);

/** A queue that its owner fills: spans that arrive during a recording. */
int source_queue_create(struct source **ret);
/** Appends a copy of @bytes. */
int source_queue_append(struct source *source, const void *bytes, size_t size);
/** Nothing will follow: the queue then ends instead of answering -EAGAIN. */
void source_queue_end(struct source *source);

struct log_reader;
/** One channel of a log. @reader is borrowed. */
int source_log_create(struct log_reader *reader, uint32_t channel, struct source **ret);

#endif
