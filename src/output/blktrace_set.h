/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Files of a blktrace set that are there already. A reader takes BASE.blktrace.* for one recording,
 * so a file that is left from another one would be mixed into a new set.
 */
#ifndef BLKBOX_OUTPUT_BLKTRACE_SET_H
#define BLKBOX_OUTPUT_BLKTRACE_SET_H

#include "why.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** -EEXIST with a sentence if there is a BASE.blktrace.CPU with a CPU that is none of @cpus. */
int blktrace_set_check(const char *base, const uint32_t *cpus, size_t n, struct why *why);

#endif
