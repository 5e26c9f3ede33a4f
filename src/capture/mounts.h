/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Where debugfs and tracefs are, and if they are not, why not.
 */
#ifndef BLKBOX_CAPTURE_MOUNTS_H
#define BLKBOX_CAPTURE_MOUNTS_H

#include "kernel.h"
#include "sysroot.h"
#include "why.h"

/**
 * Finds debugfs and checks that it is debugfs and has the block layer's directory.
 *
 * @given: the mount point that the user named; NULL: looked for
 * *@ret: absolute path, no slash at its end. -ENOENT: not there; -ENODEV: this kernel has none;
 * -ENOTDIR, -EINVAL: something else is there; -EACCES: not for this user.
 */
int debugfs_find(const struct sysroot *root, const struct kernel_ops *kernel, const char *given,
		 char *ret, size_t size, struct why *why);

/** Finds tracefs by itself or inside of debugfs. *@ret and errors as above. */
int tracefs_find(const struct sysroot *root, char *ret, size_t size, struct why *why);

#endif
