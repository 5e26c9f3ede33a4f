/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Who uses the machine's trace buffer now. There is one for everybody, and it is not ours.
 */
#ifndef BLKBOX_CAPTURE_TRACING_USERS_H
#define BLKBOX_CAPTURE_TRACING_USERS_H

#include "device.h"
#include "kernel.h"
#include "sysroot.h"
#include "why.h"

#include <stddef.h>

/**
 * 0 if the trace buffer is free: no tracer, no events, nothing that somebody has not read yet, all
 * CPUs recorded, and no relay trace that the blk tracer would silence. Else -EBUSY, and who or
 * what is in the way.
 *
 * @debugfs: its mount point, or NULL: looked for
 */
int tracing_users_check(const struct sysroot *root, const struct kernel_ops *kernel,
			const char *tracefs, const char *debugfs, struct why *why);

/**
 * The sentence for a tracer that the kernel refuses to set: somebody has the buffer open for
 * reading. Returns -EBUSY.
 */
int tracing_explain_busy(const struct sysroot *root, const char *tracefs, struct why *why);

#endif
