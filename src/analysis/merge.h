/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Merges channels into one stream in order of time; ties by CPU, then sequence, then channel.
 *
 * Holds one event of each channel, and for a channel that is out of order what its window needs.
 * Every event that goes in comes out.
 */
#ifndef BLKBOX_ANALYSIS_MERGE_H
#define BLKBOX_ANALYSIS_MERGE_H

#include "decoder.h"

struct merge;

struct merge_channel {
	int64_t shift_ns;     /* added to the times: aligns recordings with different clocks */
	uint64_t disorder_ns; /* the channel's events are out of order by at most this */
	uint32_t only_cpu;    /* leave out the events of all others; MERGE_ALL_CPUS: take all */
	uint32_t tag;	      /* the caller's, handed back with each event */
};

enum {
	MERGE_ALL_CPUS = UINT32_MAX
};

struct merge_item {
	struct blkbox_event event; /* payload valid until the next call */
	uint32_t tag;
	bool late; /* older than an event that was given out before */
};

int merge_create(struct merge **ret);
void merge_destroy(struct merge *merge);
DEFINE_CLEANUP(struct merge, merge_destroy);

/** Adds a channel; @decoder is adopted, also on failure. Before or between merge_next(). */
int merge_adopt(struct merge *merge, struct decoder *decoder, const struct merge_channel *channel);

/**
 * The oldest event if its time is at most @limit_ns: 1 = @ret is set, 0 = there is none.
 *
 * Whole recordings: UINT64_MAX. A running one: the time up to which every channel was handed in
 * (source_queue_append()); what arrives behind that time all the same is marked late.
 */
int merge_next(struct merge *merge, uint64_t limit_ns, struct merge_item *ret, struct why *why);

/** Channels that had nothing (-EAGAIN) have got more: look at them again. */
void merge_resume(struct merge *merge);

#endif
