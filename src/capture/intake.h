/* SPDX-License-Identifier: MIT */
/**
 * @file
 * All channels of a recording and the threads that read them; more come when a CPU comes online.
 */
#ifndef BLKBOX_CAPTURE_INTAKE_H
#define BLKBOX_CAPTURE_INTAKE_H

#include "reader.h"
#include "span_sink.h"

struct intake {
	struct reader_shared *shared; /* borrowed */
	size_t ring_bytes;
	/* Changed by the collector's thread alone (before it runs: by the session's). */
	struct channel **channels; /* by number */
	size_t n_channels;
	/* The same, but others look at these, under the lock. */
	pthread_mutex_t readers_lock;
	struct reader **readers;
	size_t n_readers;
};

/** @ring_bytes: of each channel; power of two */
void intake_init(struct intake *intake, struct reader_shared *shared, size_t ring_bytes);
/** Joins whatever runs: set the phase and kick first. */
void intake_deinit(struct intake *intake);

/**
 * Takes up the channels that the source has by now, tells @sink of them, starts their readers. What
 * was found before an error is taken up all the same.
 *
 * @ret_sink_failed: set if it was the sink that failed, which ends the recording; else left alone
 */
int intake_find_channels(struct intake *intake, const struct span_sink *sink, bool *ret_sink_failed,
			 struct why *why);

/** Waits, at most @timeout_ms, until what is finished in the kernel at this moment is in the rings.
 */
void intake_settle(struct intake *intake, int timeout_ms);
/** Wakes all readers, to look at the phase. */
void intake_kick(struct intake *intake);
/** Waits until all readers have ended, and closes the channels' files. */
void intake_join(struct intake *intake);
/** True if no reader will add anything any more. Collector's thread. */
bool intake_ended(const struct intake *intake);

#endif
