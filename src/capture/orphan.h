/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Traces of recorders that were killed together with their guardians: nobody reads or ends them.
 */
#ifndef BLKBOX_CAPTURE_ORPHAN_H
#define BLKBOX_CAPTURE_ORPHAN_H

#include "device.h"
#include "kernel.h"
#include "news.h"
#include "state.h"
#include "sysroot.h"
#include "why.h"

#include <stdbool.h>
#include <stddef.h>

struct orphan_search {
	const struct sysroot *root;
	const struct kernel_ops *kernel;
	const char *debugfs; /* its mount point; NULL: looked for */
	struct news *news;   /* what was done; may be NULL */
};

/**
 * The relay trace of @disk that is there now was left behind by a recorder of ours, and by its
 * guardian. *@ret is its note.
 */
bool orphan_find(const struct orphan_search *search, uint32_t disk, struct trace_state *ret);

/**
 * Takes everything of the dead recorder @pid over: ends its traces, puts ftrace's settings back,
 * and finishes its log with what was left in the kernel's buffers. What was done becomes news.
 * Returns the number of traces and settings that were ended, or < 0 with the sentence.
 */
int orphan_take(const struct orphan_search *search, pid_t pid, struct why *why);

/**
 * Before a recording of @devices: a dead recorder's guardian is waited for, 2 s at most; notes of
 * earlier boots are removed; orphans that are in the way are taken over if @takeover, else -EBUSY
 * with the sentence.
 */
int orphans_settle(const struct orphan_search *search, const struct block_device *devices, size_t n,
		   bool takeover, struct why *why);

#endif
