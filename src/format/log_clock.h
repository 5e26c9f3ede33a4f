/* SPDX-License-Identifier: MIT */
/**
 * @file
 * The clocks of the recording machine, as a log keeps them.
 */
#ifndef BLKBOX_FORMAT_LOG_CLOCK_H
#define BLKBOX_FORMAT_LOG_CLOCK_H

#include "log_format.h"

#include <time.h>

uint64_t log_clock_ns(clockid_t clock);

/** Both clocks at one moment, now. */
void log_clock_sample(struct log_clock *ret);

/** Which boot the clock belongs to; left alone if the machine does not say. */
void log_clock_boot_id(uint8_t ret[static 16]);

#endif
