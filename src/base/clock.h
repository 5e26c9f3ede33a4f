/* SPDX-License-Identifier: MIT */
/**
 * @file
 * The clocks: monotonic, which stamps events, and wall clock.
 */
#ifndef BLKBOX_BASE_CLOCK_H
#define BLKBOX_BASE_CLOCK_H

#include <stdint.h>
#include <time.h>

enum {
	NS_PER_MS = 1000000,
	NS_PER_S = 1000000000
};

static inline uint64_t clock_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
}

/** CLOCK_MONOTONIC, the clock of relay events. */
static inline uint64_t clock_mono_ns(void)
{
	return clock_ns(CLOCK_MONOTONIC);
}

/** CLOCK_REALTIME since 1970. */
static inline uint64_t clock_real_ns(void)
{
	return clock_ns(CLOCK_REALTIME);
}

#endif
