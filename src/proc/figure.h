/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Counters that may not be had: what is not known is never 0.
 */
#ifndef BLKBOX_PROC_FIGURE_H
#define BLKBOX_PROC_FIGURE_H

#include <stdbool.h>
#include <stdint.h>

/** In place of a number. */
#define FIGURE_UNKNOWN UINT64_MAX

static inline bool figure_known(uint64_t figure)
{
	return figure != FIGURE_UNKNOWN;
}

/** What a counter has grown by. Unknown if either is, or if it has become less: it began anew. */
static inline uint64_t figure_delta(uint64_t now, uint64_t before)
{
	if (!figure_known(now) || !figure_known(before) || now < before)
		return FIGURE_UNKNOWN;
	return now - before;
}

/** Adds what is known: a sum of unknown figures alone is unknown. */
static inline uint64_t figure_sum(uint64_t a, uint64_t b)
{
	if (!figure_known(a))
		return b;
	return figure_known(b) ? a + b : a;
}

#endif
