/* SPDX-License-Identifier: MIT */
/**
 * @file
 * blkparse's -t: times from allocation to insert, insert to issue, issue to complete, by sector.
 */
#ifndef BLKBOX_OUTPUT_TEXT_TRACK_H
#define BLKBOX_OUTPUT_TEXT_TRACK_H

#include "cleanup.h"

#include <blkbox/event.h>

struct text_track;

#define TRACK_NONE UINT64_MAX

/** How long an I/O was in the stage that an event ends. */
struct track_time {
	uint64_t elapsed_ns; /* TRACK_NONE = not known */
	uint32_t pid;	     /* that began the I/O */
};

int text_track_create(struct text_track **ret);
void text_track_destroy(struct text_track *track);

/** Follows the I/O of @event. -ENOMEM. */
int text_track_event(struct text_track *track, uint32_t tag, const struct blkbox_event *event,
		     struct track_time *ret);

#endif
