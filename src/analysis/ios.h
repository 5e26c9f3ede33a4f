/* SPDX-License-Identifier: MIT */
/**
 * @file
 * A recording's finished I/Os and requests, for exports: those that a filter lets pass, found in
 * all events of the recording, as a report finds them.
 */
#ifndef BLKBOX_ANALYSIS_IOS_H
#define BLKBOX_ANALYSIS_IOS_H

#include "filter.h"
#include "track.h"

/** Results: 0 or < 0, handed on. */
struct ios_ops {
	/** A bio came to its end, or a request whose bios were not seen. */
	int (*io)(void *context, const struct track_io *io);
	/** A request did; what the driver never saw (bio-based devices) has none. */
	int (*request)(void *context, const struct track_io *request);
};

/** How far they may be trusted. */
struct ios_counts {
	uint64_t in_flight_at_end; /* issued requests without a completion: it may come later */
	uint64_t unmatched_issues; /* of which the completion was lost */
	uint64_t unmatched_completions;
	uint64_t open_ios_at_end; /* I/Os that were queued, issued or not: the same of them */
	uint64_t unmatched_ios;
	uint64_t touched_ios;  /* events were lost in their life */
	uint64_t inverted_ios; /* times are not in order: clocks of CPUs that differ */
	uint64_t touched_requests;
	uint64_t inverted_requests;
};

struct ios;

/** @recording and @filter (NULL = all) are borrowed, and @ops with @context. */
int ios_create(const struct ios_ops *ops, void *context, const struct recording *recording,
	       const struct filter *filter, struct ios **ret);
void ios_destroy(struct ios *ios);
DEFINE_CLEANUP(struct ios, ios_destroy);

/** The next event of the recording, all of them. -ENOMEM, or what @ops returned. */
int ios_event(struct ios *ios, const struct merge_item *item);
/** No more events. */
int ios_finish(struct ios *ios);
/** Complete after ios_finish(). */
const struct ios_counts *ios_counts(const struct ios *ios);

enum {
	IOS_COUNTS = 9
};

struct named_count {
	const char *name; /* "in_flight_at_end" ...: as the members above */
	uint64_t n;
};

void ios_name_counts(const struct ios *ios, struct named_count ret[static IOS_COUNTS]);
/** Issued and not completed now, of one device, whatever the filter. */
uint64_t ios_depth(const struct ios *ios, uint32_t tag, uint32_t device);

/** False if a lost event or clocks that differ may have bent its times. */
static inline bool io_is_measured(const struct track_io *io)
{
	return !io->touched && !io->inverted;
}

#endif
