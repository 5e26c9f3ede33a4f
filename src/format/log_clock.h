/* SPDX-License-Identifier: MIT */
/**
 * @file
 * The clocks of the recording machine, as a log keeps them.
 */
#ifndef BLKBOX_FORMAT_LOG_CLOCK_H
#define BLKBOX_FORMAT_LOG_CLOCK_H

#include "log_format.h"

/** Both clocks at one moment, now. */
void log_clock_sample(struct log_clock *ret);

/** Which boot the clock belongs to; left alone if the machine does not say. */
void log_clock_boot_id(uint8_t ret[static 16]);

#endif
