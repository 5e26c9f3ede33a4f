/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Private to the collector's own files.
 */
#ifndef BLKBOX_CAPTURE_COLLECTOR_PARTS_H
#define BLKBOX_CAPTURE_COLLECTOR_PARTS_H

#include "collector.h"

struct collector {
	struct reader_shared *shared;
	const struct span_sink *sink;
	struct intake intake;
	struct ring_sleep sleep;
	int timer_fd;
	int event_fd;
	pthread_t thread;
	bool running;
	uint64_t ticks;

	int failure; /* of the sink */
	struct why failure_why;
	struct remarks remarks;
	bool names_failed;	/* and it was told */
	struct log_name *names; /* learnt, and not written yet */
	size_t n_names;
	bool held; /* the output takes nothing just now: what comes stays in the rings */
	_Atomic int end_reason; /* enum log_end_reason */

	_Atomic uint64_t events;
	_Atomic uint64_t bytes;
	_Atomic uint64_t dropped;
	_Atomic unsigned fill_percent;
};

void collector_remark(struct collector *collector, const struct why *why);

static inline enum phase collector_phase(const struct collector *collector)
{
	/* Acquire pairs with the release of whoever set it. */
	return (enum phase)atomic_load_explicit(&collector->shared->phase, memory_order_acquire);
}

/** True at most once for each tick. */
bool collector_timer_rang(const struct collector *collector);

/** Looks after the trace itself, without the sink. False: the recording ends. */
bool collector_look_around(struct collector *collector);

/**
 * The sink failed. If that may pass, waits a while, the rings being the memory for what comes
 * meanwhile: 0 = what failed is to be done once more. Else @failure.
 */
int collector_hold(struct collector *collector, int failure, struct why *why);
/** The sink took everything. */
void collector_held_no_more(struct collector *collector);

#endif
