/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Wall clock as text.
 */
#ifndef BLKBOX_BASE_ISO_TIME_H
#define BLKBOX_BASE_ISO_TIME_H

#include <stdint.h>

struct iso_time {
	char text[40];
};

/**
 * "2026-01-31T12:00:00.000000123Z": UTC, as ISO 8601 has it.
 * @decimals: of the seconds, 0 to 9; the rest is cut off
 */
struct iso_time iso_time_format(uint64_t real_ns, int decimals);

#endif
