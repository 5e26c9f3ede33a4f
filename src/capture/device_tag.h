/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Devices by what is written on them: LABEL=, UUID=, PARTLABEL=, PARTUUID=.
 */
#ifndef BLKBOX_CAPTURE_DEVICE_TAG_H
#define BLKBOX_CAPTURE_DEVICE_TAG_H

#include "sysroot.h"
#include "why.h"

/**
 * Finds the device that carries a tag, on this machine. @root: to tell a device from its parts.
 * *@ret is a path; the caller frees it. -ENOENT: none; -ENOTUNIQ: several; -EINVAL: no such tag.
 */
int device_tag_find(const struct sysroot *root, const char *spec, char **ret, struct why *why);

#endif
