/* SPDX-License-Identifier: MIT */
/**
 * @file
 * The inside of a log reader, for the files that share it.
 */
#ifndef BLKBOX_FORMAT_LOG_READER_IMPL_H
#define BLKBOX_FORMAT_LOG_READER_IMPL_H

#include "log_block.h"
#include "log_reader.h"
#include "log_tables.h"

/** A DATA block of a channel. */
struct log_place {
	uint64_t file_offset;	 /* of its head */
	uint64_t channel_offset; /* of its first byte in the channel */
};

/** A channel's DATA blocks, in order and without overlaps. */
struct log_track {
	struct log_list places; /* of struct log_place */
	uint64_t bytes;		/* in these blocks */
	uint64_t end_offset;	/* of the channel, behind the last of them */
	uint32_t largest_bytes; /* of one of them, raw */
};

/** Does not change after opening, but for the pool, which has its own lock. */
struct log_reader {
	int fd;
	struct log_header header;
	struct log_health health;
	struct log_tables tables;
	struct log_track *tracks;
	size_t n_tracks; /* first channels.n of them are used */
	uint64_t blocks; /* walked over */
	uint64_t last_ns;
	struct log_unpacker_pool pool;
};

static inline const struct log_place *log_track_place(const struct log_track *track, size_t i)
{
	return (const struct log_place *)track->places.items + i;
}

#endif
