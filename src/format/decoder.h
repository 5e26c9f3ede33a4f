/* SPDX-License-Identifier: MIT */
/**
 * @file
 * From a channel's spans to events: puts together what span ends cut, and finds the next record
 * behind bytes that are none.
 */
#ifndef BLKBOX_FORMAT_DECODER_H
#define BLKBOX_FORMAT_DECODER_H

#include "source.h"

#include <blkbox/event.h>

struct decoder;

/** What a channel's bytes were. Conservation: good + skipped + cut bytes = all bytes. */
struct decoder_health {
	uint64_t events; /* without notes */
	uint64_t notes;
	uint64_t good_bytes;
	uint64_t skips; /* runs of bytes that are no record */
	uint64_t skipped_bytes;
	uint64_t first_skip_offset;
	uint64_t unknown_versions; /* record heads of a protocol that this program does not know */
	uint64_t first_unknown_offset;
	uint8_t first_unknown_version;
	uint64_t cut_bytes; /* an incomplete record at the end */
	uint64_t cut_offset;
	uint64_t missing_bytes; /* lost with damaged blocks of a log */
	uint64_t gaps;
};

/** Adopts @source, also on failure. */
int decoder_adopt_create(struct source *source, struct decoder **ret);
void decoder_destroy(struct decoder *decoder);
DEFINE_CLEANUP(struct decoder, decoder_destroy);

/**
 * The channel's next event, in the order in which the kernel wrote them. 1 = @ret is set (its
 * payload is valid until the next call), 0 = end, -EAGAIN = nothing now (of a queue), else an
 * error. Unless 1 is returned, @ret is undefined.
 */
int decoder_next(struct decoder *decoder, struct blkbox_event *ret, struct why *why);

/**
 * As many of the next events as lie in one piece of memory, at most @room: faster than one at a
 * time. Their number, at least 1 = @ret is set (all payloads are valid until the next call), else
 * as decoder_next().
 */
int decoder_next_events(struct decoder *decoder, size_t room, struct blkbox_event *ret,
			struct why *why);

/** So far. */
const struct decoder_health *decoder_health(const struct decoder *decoder);

/** True if everything that was there could be read: nothing skipped, cut or missing. */
bool decoder_health_is_whole(const struct decoder_health *health);

#endif
