/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Dates the kernel's loss counters: each rise between two looks becomes a loss window.
 */
#ifndef BLKBOX_CAPTURE_DROPS_H
#define BLKBOX_CAPTURE_DROPS_H

#include "log_format.h"

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct drop_counter;

/** Safe to use from several threads; the looks of one counter must not overlap. */
struct drop_tracker {
	pthread_mutex_t lock;
	struct drop_counter *counters;
	size_t n_counters;
	struct log_drops *windows; /* all of them */
	size_t n_windows;
	size_t room;
	size_t n_taken; /* how many of them were handed out */
};

int drop_tracker_init(struct drop_tracker *tracker);
void drop_tracker_deinit(struct drop_tracker *tracker);

/**
 * A look at a counter, @value being what the kernel shows now. The first look at a counter is its
 * base line. A counter falls when a CPU goes offline and takes its share along (6.17 and later);
 * the share comes back with the CPU and is then no new loss.
 *
 * @cpu_came: a CPU came online since the last look
 * @noise_max: so much of a rise counts as LOG_DROPS_AT_STOP, the rest is loss: STOP adds one for
 *             each CPU whose buffer is full, though nothing was lost; else 0
 */
int drop_tracker_look(struct drop_tracker *tracker, uint32_t device_index, uint32_t cpu,
		      uint64_t value, uint64_t now_ns, bool cpu_came, uint64_t noise_max);

/** Adds a loss that was learnt by other means than a counter. */
int drop_tracker_add(struct drop_tracker *tracker, const struct log_drops *drops);

/** Copies the windows since the last call; free() them. 0 if there are none, or no memory now. */
size_t drop_tracker_take(struct drop_tracker *tracker, struct log_drops **ret);

/** The last @n that were handed out are handed out once more: whoever took them could not keep
 * them.
 */
void drop_tracker_put_back(struct drop_tracker *tracker, size_t n);

/** Lost so far on a device, without what STOP counted (@at_stop: only that). */
uint64_t drop_tracker_sum(struct drop_tracker *tracker, uint32_t device_index, bool at_stop);

#endif
