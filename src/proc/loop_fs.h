/* SPDX-License-Identifier: MIT */
/**
 * @file
 * A fresh file system on a loop device, mounted where nobody but this process and its children sees
 * it. Device, image and mount go with the last of them, whatever ends it.
 */
#ifndef BLKBOX_PROC_LOOP_FS_H
#define BLKBOX_PROC_LOOP_FS_H

#include "scratch.h"
#include "watch.h"

#include <limits.h>
#include <stdbool.h>

struct loop_fs {
	int device_fd;
	int dir_fd;	 /* the root of the mounted file system */
	char device[32]; /* its path */
	char mount[PATH_MAX];
};

/** Can @type be made? "ext4", "xfs", "btrfs". */
bool loop_fs_is_type(const char *type);

/**
 * Makes the image in @scratch, and mounts the file system over it. From then on this process is in
 * a mount namespace of its own.
 * -EPERM: needs root; -ENOENT: no such mkfs, or no loop devices
 */
int loop_fs_create(struct loop_fs *fs, const char *type, const struct scratch *scratch,
		   const struct watch *watch, struct why *why);
/** Unmounts, and waits until the device is free again. */
void loop_fs_destroy(struct loop_fs *fs);

#endif
