/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Tells at once when somebody has been blocked for long, and who writes most at that moment.
 */
#ifndef BLKBOX_PROC_STALL_ALERT_H
#define BLKBOX_PROC_STALL_ALERT_H

#include "sampler.h"

/** After a sample that was compared with one before. */
void stall_alert_look(struct sampler *sampler);

#endif
