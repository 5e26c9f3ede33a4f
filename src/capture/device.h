/* SPDX-License-Identifier: MIT */
/**
 * @file
 * A block device that somebody named. Its identity is major:minor; names only describe it.
 */
#ifndef BLKBOX_CAPTURE_DEVICE_H
#define BLKBOX_CAPTURE_DEVICE_H

#include "sysroot.h"
#include "why.h"

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum {
	DEVICE_NAME_BYTES = 64
};

struct block_device {
	const char *spec;		   /* as it was named; borrowed */
	char path[PATH_MAX];		   /* of a node, most often in /dev; absolute */
	char name[DEVICE_NAME_BYTES];	   /* the kernel's: "sda1", "cciss/c0d0p1" */
	char disk_name[DEVICE_NAME_BYTES]; /* the whole disk's; @name if it is one */
	dev_t number;
	uint32_t device; /* major << 20 | minor, as the kernel writes it */
	uint32_t disk;	 /* the whole disk's; @device if it is one */
	bool partition;
	bool zoned;
	uint64_t start_sector; /* on the whole disk */
	uint64_t sectors;      /* of 512 bytes; 0: no medium, or a loop device without a file */
};

/**
 * Finds a block device.
 *
 * @spec: path, symbolic link, LABEL=, UUID=, PARTLABEL=, PARTUUID=, "8:0", or a kernel name ("sda",
 *        "cciss!c0d0", "cciss/c0d0"); must outlive *@ret
 * -ENOENT: there is none; -ENOTBLK: it is something else; -ENOTUNIQ: a label on several devices;
 * -ENXIO: a node without a device behind it; -EINVAL: not understood.
 */
int device_resolve(const struct sysroot *root, const char *spec, struct block_device *ret,
		   struct why *why);

/**
 * Finds @n block devices, each with a request queue of its own: the kernel has one trace for each
 * queue, so that a disk and its partition, or two partitions of a disk, are refused with -EINVAL.
 * @ret: room for @n; untouched on failure
 */
int devices_resolve(const struct sysroot *root, char *const *specs, size_t n,
		    struct block_device *ret, struct why *why);

/** major << 20 | minor. */
uint32_t device_from_number(dev_t number);

#endif
