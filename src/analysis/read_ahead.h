/* SPDX-License-Identifier: MIT */
/**
 * @file
 * A merge that a thread of its own reads ahead: decoding goes on while the caller works on what it
 * has. Order, results and errors are those of the merge.
 */
#ifndef BLKBOX_ANALYSIS_READ_AHEAD_H
#define BLKBOX_ANALYSIS_READ_AHEAD_H

#include "merge.h"

struct read_ahead;

/** Starts the thread. @merge is adopted, also on failure; nobody else may touch it. */
int read_ahead_adopt_start(struct merge *merge, struct read_ahead **ret);
/** Ends the thread wherever it is. NULL is fine. */
void read_ahead_stop(struct read_ahead *ahead);
DEFINE_CLEANUP(struct read_ahead, read_ahead_stop);

/** As merge_next() without a limit. Not to be called again once it has returned 0 or an error. */
int read_ahead_next(struct read_ahead *ahead, struct merge_item *ret, struct why *why);

#endif
