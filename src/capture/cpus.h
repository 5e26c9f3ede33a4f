/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Sets of CPUs as the kernel lists them. Their numbers may have holes, and no upper end is assumed.
 */
#ifndef BLKBOX_CAPTURE_CPUS_H
#define BLKBOX_CAPTURE_CPUS_H

#include "sysroot.h"

#include <stdbool.h>
#include <stddef.h>

struct cpus {
	unsigned *numbers; /* ascending */
	size_t n;
};

/** Reads a list such as "0-3,5". -EINVAL if it is none, -ENOMEM. The caller deinits *@ret. */
int cpus_parse(const char *list, struct cpus *ret);
void cpus_deinit(struct cpus *cpus);

/** The CPUs that run now, and those that there can ever be. -errno if sysfs does not say. */
int cpus_online(const struct sysroot *root, struct cpus *ret);
int cpus_possible(const struct sysroot *root, struct cpus *ret);

bool cpus_contain(const struct cpus *cpus, unsigned number);

#endif
