/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Puts the events of one channel into order of time when the channel itself is out of order by a
 * bounded time. Ties by CPU, then as they came.
 */
#ifndef BLKBOX_ANALYSIS_REORDER_H
#define BLKBOX_ANALYSIS_REORDER_H

#include "cleanup.h"

#include <blkbox/event.h>

enum {
	REORDER_EVENTS_MAX = 512 << 10
};

struct reorder;

/** @window_ns: an event is held until one that is newer by this has been seen. */
int reorder_create(uint64_t window_ns, struct reorder **ret);
void reorder_destroy(struct reorder *reorder);
DEFINE_CLEANUP(struct reorder, reorder_destroy);

/** True if reorder_put() must come before the next reorder_take(), unless the channel has ended. */
bool reorder_is_hungry(const struct reorder *reorder);
/** Takes a copy of @event. */
int reorder_put(struct reorder *reorder, const struct blkbox_event *event);
/** The oldest. 1 = @ret is set, its payload valid until the next call of either; 0 = empty. */
int reorder_take(struct reorder *reorder, struct blkbox_event *ret);

#endif
