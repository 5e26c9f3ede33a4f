/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Masks of categories: which events the kernel logs. The names are blktrace's, and v2's new ones.
 *
 * An event passes if any of its categories is in the mask: "read" passes plugs too, for they carry
 * READ. Without "notify" the messages of I/O schedulers and others are not recorded.
 */
#ifndef BLKBOX_FORMAT_MASK_H
#define BLKBOX_FORMAT_MASK_H

#include "why.h"

#include <stddef.h>
#include <stdint.h>

enum {
	MASK_ALL = (1 << 23) - 1,
	MASK_V1 = (1 << 16) - 1, /* the categories that protocol v1 has */
	MASK_TEXT_MAX = 256,	 /* room for the names of any mask */
};

/**
 * Names of categories, separated by commas, in upper or lower case; "barrier" is the old name of
 * "flush". -EINVAL, with a sentence that lists the names, if one is unknown or there is none.
 */
int mask_parse_names(const char *text, uint32_t *ret, struct why *why);

/** blktrace's -A: hexadecimal, "0x" or not. -EINVAL if it is 0, no number, or has unknown bits. */
int mask_parse_hex(const char *text, uint32_t *ret, struct why *why);

/** Names, separated by commas; bits without a name as one hexadecimal number; "none" for 0. */
void mask_format(uint32_t mask, char *ret, size_t size);

#endif
