/* SPDX-License-Identifier: MIT */
/**
 * @file
 * The I/Os that a report tells one by one: the slowest, the first that failed, those that were open
 * longest and did not complete. Of an I/O through stacked devices there is one entry, which is the
 * uppermost device's, with its part on the lowest device.
 */
#ifndef BLKBOX_ANALYSIS_STATS_IOS_H
#define BLKBOX_ANALYSIS_STATS_IOS_H

#include "names.h"
#include "owner.h"
#include "track.h"

/** An I/O that is told by itself. */
struct stats_io {
	struct track_io io;
	uint64_t latency_ns; /* Q2C; D2C if it was not seen queued. Not completed: how long open */
	enum track_end end;  /* of what did not complete */
	enum owner_kind owner;
	char comm[NAMES_COMM_BYTES + 1]; /* "" = unknown */
	bool is_part;			 /* of one above it in the list */
	bool has_below;
	struct track_io below; /* of its parts on the lowest device, the one that ended last */
};

/** At most @room of them; the longest first, or as they come. */
struct stats_ios {
	struct stats_io *items;
	size_t n, room;
};

/** -ENOMEM. */
int stats_ios_init(struct stats_ios *ios, size_t room);
void stats_ios_deinit(struct stats_ios *ios);
/** Keeps the longest ones. */
void stats_ios_add_longest(struct stats_ios *ios, const struct stats_io *io);
/** Keeps the first ones. */
void stats_ios_add_first(struct stats_ios *ios, const struct stats_io *io);
/** Gives those of @upper their parts, which are looked for in @lower. */
void stats_ios_join(struct stats_ios *upper, const struct stats_ios *lower);
/** The same within one list; parts that were found leave it. Then at most @room stay. */
void stats_ios_fold(struct stats_ios *ios, size_t room);

#endif
