/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Pieces of work that do not depend on each other, done by as many threads as there are CPUs.
 */
#ifndef BLKBOX_BASE_CROWD_H
#define BLKBOX_BASE_CROWD_H

#include "why.h"

#include <stddef.h>

/** Does piece @i: 0 or -errno and a sentence. On any thread, many at once. */
typedef int (*crowd_piece)(void *context, size_t i, struct why *why);

/**
 * Calls @piece once for each number below @n; the caller's thread works, too. Once one has failed,
 * those behind it may be left out. The result is that of the first one, by number, that failed; or
 * 0.
 */
int crowd_work(size_t n, crowd_piece piece, void *context, struct why *why);

#endif
