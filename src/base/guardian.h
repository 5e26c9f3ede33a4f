/* SPDX-License-Identifier: MIT */
/**
 * @file
 * A process that outlives a recorder (or whoever makes it) which dies by any means, and then gives
 * back what that one took: the kernel's traces, files. It sits in a session of its own, so that no
 * terminal's signal reaches both.
 */
#ifndef BLKBOX_BASE_GUARDIAN_H
#define BLKBOX_BASE_GUARDIAN_H

#include "why.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct guardian {
	int fd; /* a byte sends it away; end of file when it has ended; -1: there is none */
	pid_t pid;
};

/**
 * Forks it. Before the first set-up call.
 *
 * @restore: called in the guardian when this process is dead. It sees memory as it is now; what
 *           changes later must be in shared memory.
 * @keep: descriptors that @restore needs; all others are closed in the guardian
 */
int guardian_start(struct guardian *guardian, void (*restore)(void *context), void *context,
		   const int *keep, size_t n_keep, struct why *why);
/** Somebody ended it, while we still need it. Never waits. */
bool guardian_is_gone(const struct guardian *guardian);
/** Everything is given back: sends it away and waits until it is gone, 2 s at most. */
void guardian_release(struct guardian *guardian);
/** Not all could be given back: it stays, and tries once more when this process is dead. */
void guardian_leave(struct guardian *guardian);

#endif
