/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Records of one DATA block as columns, each field beside those of the other records, and mostly as
 * "the same as before": a fraction of the bytes, before compression. The exact bytes come back,
 * whatever they are.
 *
 * blkbox-log(5) describes the layout; keep both in step. Every block stands for itself.
 */
#ifndef BLKBOX_FORMAT_LOG_PACK_H
#define BLKBOX_FORMAT_LOG_PACK_H

#include "cleanup.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum log_column {
	COLUMN_CONTROL,	    /* a byte for each item: enum log_control */
	COLUMN_SHAPE,	    /* a byte for each record: the slot of its shape */
	COLUMN_NEW_SHAPE,   /* struct log_shape, where CONTROL says that the slot gets a new one */
	COLUMN_ORIGIN,	    /* a byte for each record: the slot of its origin */
	COLUMN_NEW_ORIGIN,  /* struct log_origin */
	COLUMN_TIME,	    /* signed number: since the record before */
	COLUMN_SECTOR_SLOT, /* a byte, with CONTROL_SECTOR_SLOT */
	COLUMN_NEW_SECTOR,  /* the slot, then a signed number: from the new one before */
	COLUMN_SEQUENCE,    /* signed number: what it is off the record before, plus one */
	COLUMN_PAD,	    /* protocol 2: 12 bytes */
	COLUMN_BYTES,	    /* payloads, and bytes that are no record */
	LOG_COLUMNS
};

enum log_control {
	CONTROL_SECTOR_MASK = 3, /* one of these: */
	CONTROL_SECTOR_SAME = 0, /* as the record before */
	CONTROL_SECTOR_NEXT = 1, /* where the record before ends */
	CONTROL_SECTOR_SLOT = 2,
	CONTROL_SECTOR_NEW = 3,
	CONTROL_NEW_SHAPE = 1 << 2,
	CONTROL_NEW_ORIGIN = 1 << 3,
	CONTROL_SEQUENCE = 1 << 4, /* it is not one more than that of the record before */
	CONTROL_PAD = 1 << 5,	   /* it is not that of the record before */
	CONTROL_BYTES = 0xff,	   /* no record: a number in SEQUENCE, and so many bytes */
};

enum {
	LOG_SLOTS = 256,
	LOG_PACKED_MAX = 4 << 20, /* bytes of a block's columns */
};

/** In front of the columns, which follow each other in their order. */
struct log_packed_head {
	uint32_t column_bytes[LOG_COLUMNS];
};

struct log_shape {
	uint64_t action;
	uint32_t magic;
	uint32_t device;
	uint32_t cpu;
	uint16_t error;
	uint16_t pdu_len;
};

struct log_origin {
	uint32_t pid;
	uint32_t bytes;
};

struct log_packer;

/** Room for blocks of up to @most raw bytes. */
int log_packer_create(size_t most, struct log_packer **ret);
void log_packer_destroy(struct log_packer *packer);
DEFINE_CLEANUP(struct log_packer, log_packer_destroy);

/** Packs a block. Returns the number of bytes; they are @packer's, up to its next call. */
size_t log_pack(struct log_packer *packer, const uint8_t *raw, size_t size, const uint8_t **ret);

/** True: @raw holds the @size bytes that were packed. False: these bytes are not of log_pack(). */
bool log_unpack(const uint8_t *packed, size_t packed_bytes, uint8_t *raw, size_t size);

#endif
