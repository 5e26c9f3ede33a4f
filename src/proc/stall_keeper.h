/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Leaves the machine and the output as they should be, whatever ends the sampler: SIGKILL, too.
 */
#ifndef BLKBOX_PROC_STALL_KEEPER_H
#define BLKBOX_PROC_STALL_KEEPER_H

#include "csv_file.h"
#include "guardian.h"

#include <limits.h>

/** What the guardian process has to know; in memory that both see. */
struct stall_shared {
	struct csv_identity identity;
	bool delay_enabled;
	int proc_fd;
	int lease_fd;	     /* see delay_lease.h; -1: none */
	char path[PATH_MAX]; /* of the output; empty: none that could be mended */
};

struct stall_keeper {
	struct guardian guardian;
	struct stall_shared *shared;
	bool enabled; /* delay accounting, by us */
};

/**
 * @path: NULL: standard output
 * @enables: delay accounting will be turned on
 */
int stall_keeper_start(struct stall_keeper *keeper, int proc_fd, const char *path, bool enables,
		       struct why *why);
/** Turns delay accounting on, if it is off. */
int stall_keeper_enable_delay(struct stall_keeper *keeper, struct why *why);
/**
 * Turns it off again if we turned it on, and no other sampler needs it. All zero but for
 * guardian.fd -1 is taken, too.
 */
void stall_keeper_end(struct stall_keeper *keeper);

#endif
