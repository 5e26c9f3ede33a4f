/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Pairs issue with completion: I/Os as the driver saw them, with the bio that began each.
 *
 * Passthrough commands are left out: they have no place by which they could be found again.
 */
#ifndef BLKBOX_ANALYSIS_IOS_H
#define BLKBOX_ANALYSIS_IOS_H

#include "letters.h"
#include "merge.h"

struct ios;

/** A finished I/O. Times are 0 where that event was not seen. */
struct io {
	uint32_t tag;
	uint32_t device;
	uint64_t sector;
	uint32_t bytes;
	uint32_t categories; /* of the issue, else of the first event */
	enum operation operation;
	uint32_t pid; /* that queued it; else that issued it */
	uint32_t cpu; /* where that was */
	uint64_t cgroup_id;
	uint64_t queued_ns;
	uint64_t issued_ns; /* the last time; 0 = bio-based device */
	uint64_t completed_ns;
	int16_t error;
	uint32_t requeues;
};

int ios_create(struct ios **ret);
void ios_destroy(struct ios *ios);
DEFINE_CLEANUP(struct ios, ios_destroy);

/** 1 = the event finished an I/O, which is in @ret; 0 = it did not; -ENOMEM. */
int ios_event(struct ios *ios, const struct merge_item *item, struct io *ret);

/** Issued and not completed now, of one device. */
uint64_t ios_depth(const struct ios *ios, uint32_t tag, uint32_t device);
/** Issues and completions that found no partner so far; issues in flight are not among them. */
void ios_unmatched(struct ios *ios, uint64_t *ret_issues, uint64_t *ret_completions);
/** Issued and not completed now, of all devices. */
uint64_t ios_in_flight(const struct ios *ios);
/** Finished I/Os whose times are not in order: clocks of CPUs that differ. */
uint64_t ios_inverted(const struct ios *ios);

/** From issue (bio-based: from queue) to completion; 0 where the times are not in order. */
static inline uint64_t io_latency_ns(const struct io *io)
{
	uint64_t from_ns = io->issued_ns ? io->issued_ns : io->queued_ns;

	return io->completed_ns > from_ns ? io->completed_ns - from_ns : 0;
}

#endif
