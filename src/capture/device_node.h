/* SPDX-License-Identifier: MIT */
/**
 * @file
 * From what a person types to a device node.
 */
#ifndef BLKBOX_CAPTURE_DEVICE_NODE_H
#define BLKBOX_CAPTURE_DEVICE_NODE_H

#include "sysroot.h"
#include "why.h"

#include <limits.h>
#include <sys/types.h>

struct device_node {
	char path[PATH_MAX]; /* absolute */
	dev_t number;
};

/** Finds the block device node that @spec names; specs and errors as in device_resolve(). */
int device_node_find(const struct sysroot *root, const char *spec, struct device_node *ret,
		     struct why *why);

/** The node in /dev that the kernel names for a device; *@ret untouched if it is not there. */
int device_node_by_number(const struct sysroot *root, dev_t number, struct device_node *ret);

/** Reads "8:0" from @text, which holds nothing else. -EINVAL if it does not. */
int device_number_parse(const char *text, dev_t *ret);

/** The kernel's name, from its uevent file ("cciss/c0d0"). @below: "" or "/.." for its disk. */
int device_kernel_name(const struct sysroot *root, dev_t number, const char *below, char *ret,
		       size_t size);

#endif
