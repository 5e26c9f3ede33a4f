/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Follows the sequence numbers of each device and CPU: gaps, repeats, backward steps.
 *
 * 32 bits that wrap; notes carry none. A gap means lost events only on kernels that count before
 * they reserve (6.19 and later, all with protocol v2); older ones leave no gap.
 */
#ifndef BLKBOX_ANALYSIS_SEQUENCE_H
#define BLKBOX_ANALYSIS_SEQUENCE_H

#include "cleanup.h"

#include <blkbox/event.h>
#include <stddef.h>

struct sequence_count {
	uint32_t tag; /* of the recording: sequences of different recordings don't mix */
	uint32_t device;
	uint32_t cpu;
	uint32_t last;	    /* sequence number */
	uint32_t last_back; /* of the last backward step */
	uint64_t events;
	uint64_t gaps;
	uint64_t missing;      /* numbers in the gaps */
	uint64_t repeats;      /* the same number twice in a row */
	uint64_t backwards;    /* steps back: out of order, or a number again */
	uint64_t first_gap_ns; /* time of the first event behind a gap; if there is any */
};

struct sequence;

int sequence_create(struct sequence **ret);
void sequence_destroy(struct sequence *sequence);
DEFINE_CLEANUP(struct sequence, sequence_destroy);

/** The next event in the order of its CPU. */
int sequence_add(struct sequence *sequence, uint32_t tag, const struct blkbox_event *event);

/** One entry for each device and CPU, in the order in which they appeared. Borrowed. */
size_t sequence_counts(const struct sequence *sequence, const struct sequence_count **ret);

#endif
