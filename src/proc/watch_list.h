/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Which processes are watched, and what they are called.
 */
#ifndef BLKBOX_PROC_WATCH_LIST_H
#define BLKBOX_PROC_WATCH_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/** By name, or by number; neither: everybody. */
struct watch_list {
	bool everybody; /* those without one of the names by their own */
	const char *const *names;
	size_t n_names;
	const pid_t *pids;
	size_t n_pids;
};

/**
 * What a process is called if it is watched (may be @name); NULL: it is not. Of the names, the one
 * that it has exactly; else the longest that is a whole word of it; else the longest that is a part
 * of it. The kernel cuts a name off behind 15 bytes, so that a longer one is compared up to there.
 */
const char *watch_list_label(const struct watch_list *list, pid_t pid, const char *name);

#endif
