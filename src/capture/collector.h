/* SPDX-License-Identifier: MIT */
/**
 * @file
 * The collector thread: takes the bytes out of all rings and hands them to the sink. It also looks
 * around twice a second: loss counters, new CPUs, a trace that is gone.
 */
#ifndef BLKBOX_CAPTURE_COLLECTOR_H
#define BLKBOX_CAPTURE_COLLECTOR_H

#include "intake.h"

#include <stdbool.h>
#include <stdint.h>

enum {
	COLLECTOR_TICK_MS = 500,
	COLLECTOR_REMARKS_MAX = 16
};

/** Figures of a running recording, at most one tick old. */
struct progress {
	uint64_t events;
	uint64_t bytes;
	uint64_t dropped;
	unsigned fill_percent; /* of the fullest ring */
};

/** What a recording has to say at its end besides its figures. */
struct remarks {
	struct why text[COLLECTOR_REMARKS_MAX];
	size_t n;
};

struct collector;

/**
 * @shared: filled in but for @collector_sleep; borrowed, like @sink
 * @ring_bytes: of each channel; power of two
 */
int collector_create(struct reader_shared *shared, const struct span_sink *sink, size_t ring_bytes,
		     struct collector **ret);
/** Joins whatever runs: set PHASE_ABORTED or PHASE_STOPPED first. */
void collector_destroy(struct collector *collector);

/** Takes up the channels that the source has by now, and starts their readers. */
int collector_find_channels(struct collector *collector, struct why *why);
int collector_start(struct collector *collector, struct why *why);

/** Readable when the recording cannot go on by itself; see collector_end_reason(). */
int collector_event_fd(const struct collector *collector);
/** Why it cannot: LOG_END_UNKNOWN as long as it can. */
enum log_end_reason collector_end_reason(const struct collector *collector);

/** Waits, at most @timeout_ms, until what is finished in the kernel at this moment is in the rings.
 */
void collector_settle(struct collector *collector, int timeout_ms);
/** After the phase was set: wakes everybody. */
void collector_kick(struct collector *collector);
/** Waits until all readers have ended and all rings are empty. */
void collector_join(struct collector *collector);

/** The sink's failure, with its sentence; 0 if there was none. After collector_join(). */
int collector_failure(const struct collector *collector, struct why *why);
/** After that: what is in the rings still was not recorded. The source counts it no more. */
void collector_discount(struct collector *collector);
/** After collector_join(). */
const struct remarks *collector_remarks(const struct collector *collector);
/** Hands what the drop tracker has gathered to the sink. Collector thread, or after its join. */
int collector_write_drops(struct collector *collector, struct why *why);

/** The same for names that the source has learnt. @at_end: look for all that are missing. */
int collector_write_names(struct collector *collector, bool at_end, struct why *why);

void collector_progress(const struct collector *collector, struct progress *ret);
/** The channels, by number. After collector_join(). Borrowed. */
size_t collector_channels(const struct collector *collector, struct channel *const **ret);

#endif
