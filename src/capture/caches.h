/* SPDX-License-Identifier: MIT */
/**
 * @file
 * The page cache, which keeps reads from ever reaching a device.
 */
#ifndef BLKBOX_CAPTURE_CACHES_H
#define BLKBOX_CAPTURE_CACHES_H

#include "sysroot.h"
#include "why.h"

/** Writes out what is dirty and drops clean pages, dentries and inodes of the whole machine. */
int caches_drop(const struct sysroot *root, struct why *why);

#endif
