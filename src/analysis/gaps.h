/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Losses that only sequence numbers tell. Kernels with protocol v2 count an event before they find
 * room for it: there a gap means lost events; older kernels leave none when they lose some.
 */
#ifndef BLKBOX_ANALYSIS_GAPS_H
#define BLKBOX_ANALYSIS_GAPS_H

#include "merge.h"

struct gaps;

/** For devices 0 to @n_devices - 1. */
int gaps_create(size_t n_devices, struct gaps **ret);
void gaps_destroy(struct gaps *gaps);
DEFINE_CLEANUP(struct gaps, gaps_destroy);

/** What an event says of the events before it. */
struct gap {
	int64_t missing;   /* before it; -1: it is one that was missed before, and came late */
	uint64_t since_ns; /* when the last event before the gap was */
};

/** The next event, of device @place. 1 = @ret is set; 0 = it is where it belongs; -ENOMEM. */
int gaps_event(struct gaps *gaps, size_t place, const struct merge_item *item, struct gap *ret);

#endif
