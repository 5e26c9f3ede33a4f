/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Wall clock and monotonic clock of a recording's inputs: one time for all of them.
 */
#ifndef BLKBOX_ANALYSIS_CLOCK_ALIGN_H
#define BLKBOX_ANALYSIS_CLOCK_ALIGN_H

#include "recording_private.h"

/**
 * Sets the anchors and the shift of each part, and the recording's wall-clock offset.
 *
 * Inputs whose clocks differ by less than 100 ms are of one boot and stay as they are: the two
 * clocks drift against each other by less, and a reboot takes longer. -EINVAL if an input of
 * several has no anchor.
 */
int clock_align(struct recording *recording, struct why *why);

#endif
