/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Processes that the mount of /proc hides from us (its option hidepid).
 */
#ifndef BLKBOX_PROC_HIDDEN_H
#define BLKBOX_PROC_HIDDEN_H

#include <stdbool.h>
#include <stddef.h>

/** We have CAP_SYS_PTRACE. */
bool proc_may_trace_all(void);

/**
 * True if those of others are hidden. Who may trace them all (CAP_SYS_PTRACE), or is in the group
 * of the option gid, sees them.
 * @ret_option: "hidepid=invisible"
 */
bool proc_is_hidden(int proc_fd, char *ret_option, size_t size);

#endif
