/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Kernel functions that tasks wait in, as /proc/PID/wchan names them.
 */
#ifndef BLKBOX_BASE_WAIT_CHANNEL_H
#define BLKBOX_BASE_WAIT_CHANNEL_H

#include <stdbool.h>
#include <string.h>

/**
 * True if who waits there in state D never waits for I/O: a parent, until its vfork()ed child calls
 * exec() or ends. (Linux 6.18 tells kernel_clone.)
 */
static inline bool wait_channel_is_no_io(const char *name)
{
	return !strcmp(name, "kernel_clone") || !strcmp(name, "wait_for_vfork_done") ||
	       !strcmp(name, "_do_fork");
}

#endif
