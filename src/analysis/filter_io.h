/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Which I/Os are wanted. A filter is made for events; an I/O is judged whole, as if it were its
 * queue event, by who queued it and when. So none of its events is missing where its times come
 * from.
 */
#ifndef BLKBOX_ANALYSIS_FILTER_IO_H
#define BLKBOX_ANALYSIS_FILTER_IO_H

#include "filter.h"
#include "track.h"

/** @filter: resolved, or NULL = all. What it says of actions says nothing of I/Os: each has all. */
bool filter_passes_io(const struct filter *filter, const struct recording *recording,
		      const struct track_io *io);

/** A completion that belongs to nothing, as an I/O. */
struct track_io filter_io_of(const struct merge_item *item);
/**
 * The same for such a one: whose it was is not known (it comes in whatever process and CPU it
 * interrupts), so only when, where and how much are asked.
 */
bool filter_passes_stray(const struct filter *filter, const struct track_io *stray);

#endif
