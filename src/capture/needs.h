/* SPDX-License-Identifier: MIT */
/**
 * @file
 * The single needs of a recording, each looked at by itself; preflight.h puts them together.
 */
#ifndef BLKBOX_CAPTURE_NEEDS_H
#define BLKBOX_CAPTURE_NEEDS_H

#include "preflight.h"

#define NEED_TEXT_LOCKDOWN                                                                         \
	"kernel lockdown (usual with Secure Boot) forbids the relay channels of debugfs, even to " \
	"root"

/* All append to @preflight. -ENOMEM without a sentence. */

/** Privilege, debugfs, lockdown, tracefs, delay accounting. */
int needs_of_machine(const struct sysroot *root, const struct kernel_ops *kernel,
		     const char *debugfs, struct preflight *preflight);

/** For each device: the kernel can trace it, and nobody else does. */
int needs_of_devices(const struct sysroot *root, const struct kernel_ops *kernel,
		     const char *debugfs, const struct block_device *devices, size_t n_devices,
		     struct preflight *preflight, struct why *why);

/** Where no device was named: some device can be traced. */
int need_any_block_tracing(const struct sysroot *root, struct preflight *preflight);

/** A new need, met until something else is said. NULL: out of memory. */
struct need *need_add(struct preflight *preflight, const char *name, unsigned scope);
/** need->why is set by the caller. */
void need_fails(struct need *need, int error);

#endif
