/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Counts the records in a channel's bytes as they pass by, in pieces that may cut them anywhere.
 *
 * The counts depend on the bytes alone, not on where the pieces end: writer and reader agree.
 */
#ifndef BLKBOX_FORMAT_RECORD_COUNT_H
#define BLKBOX_FORMAT_RECORD_COUNT_H

#include "wire.h"

/** All zero at the start of a channel. */
struct record_count {
	uint64_t events; /* records that are not notes */
	uint64_t notes;
	uint64_t garbage_bytes; /* passed over to find the next record */
	/* Where the last piece ended: inside a record whose size is known, or inside a head. */
	size_t skip_bytes;
	size_t carry_bytes;
	uint8_t carry[WIRE_HEAD_MAX];
};

void record_count_feed(struct record_count *count, const uint8_t *bytes, size_t size);

/** Forgets the record that was begun: the bytes behind it are missing. */
void record_count_gap(struct record_count *count);

#endif
