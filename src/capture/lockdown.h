/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Kernel lockdown: what a machine with Secure Boot refuses even to root.
 */
#ifndef BLKBOX_CAPTURE_LOCKDOWN_H
#define BLKBOX_CAPTURE_LOCKDOWN_H

#include "kernel.h"
#include "sysroot.h"

enum lockdown {
	LOCKDOWN_UNKNOWN,
	LOCKDOWN_NONE,
	LOCKDOWN_INTEGRITY,	  /* relay files of debugfs do not open; tracefs does */
	LOCKDOWN_CONFIDENTIALITY, /* tracefs does not open either */
};

/**
 * Reads the level from securityfs. Where that is not mounted, tries to open a file of debugfs that
 * lockdown refuses: this tells whether there is a lockdown, but not whether it is the stricter one.
 *
 * @debugfs: mount point; NULL if there is none
 */
enum lockdown lockdown_read(const struct sysroot *root, const struct kernel_ops *kernel,
			    const char *debugfs);

#endif
