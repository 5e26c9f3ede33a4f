/* SPDX-License-Identifier: MIT */
/**
 * @file
 * What a recorder that runs as root gives up for good when it has what it needs.
 */
#ifndef BLKBOX_CLI_PRIVILEGES_H
#define BLKBOX_CLI_PRIVILEGES_H

#include "why.h"

/** What is still to come. Each costs capabilities; see the table in privileges.c. */
enum privilege_need {
	KEEP_FOR_TRACE = 1 << 0,     /* set up, flush and end traces, put tracefs back */
	KEEP_FOR_PROCESSES = 1 << 1, /* read of every process what only itself may */
	KEEP_FOR_FILES = 1 << 2,     /* make, name and give away files where the user may */
	KEEP_FOR_CHILD = 1 << 3,     /* signal a command that runs as somebody else */
	KEEP_FOR_MEMORY = 1 << 4,    /* lock memory */
	KEEP_FOR_MOUNTS = 1 << 5,    /* a file system of our own */
	KEEP_FOR_SWITCHES = 1 << 6,  /* turn the kernel's delay accounting back */
	KEEP_FOR_TASKSTATS = 1 << 7, /* ask for what /proc does not tell of tasks */
};

/**
 * Drops every capability that no @needs (of enum privilege_need) stands for, from the bounding set
 * too, and sets no_new_privs: nothing that is run from here on gains rights. For this thread and
 * those that it starts: to be called before there are others, and behind child_start().
 * Of a process without capabilities there is nothing to drop.
 */
int privileges_keep(unsigned needs, struct why *why);

#endif
