/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Numbers that people type: strict, and what is wrong with them told apart.
 *
 * All return 0, -EINVAL (no number, or negative) or -ERANGE (too large), with a sentence that
 * quotes the text; the caller puts the option's name in front.
 */
#ifndef BLKBOX_BASE_NUMBER_H
#define BLKBOX_BASE_NUMBER_H

#include "why.h"

#include <stdint.h>

/** A count: decimal digits and nothing else. */
int count_parse(const char *text, uint64_t *ret, struct why *why);

/**
 * A size: a whole number with B, k, M, G or T ("512k", "4M", "4MiB"; powers of 1024).
 * @unit_bytes: what a number without a letter counts
 */
int size_parse(const char *text, uint64_t unit_bytes, uint64_t *ret_bytes, struct why *why);

/** A time: "10" (seconds), "1.5", "500ms", "2m", "1h"; also us, ns, s, d. */
int duration_parse(const char *text, uint64_t *ret_ns, struct why *why);

struct sector_range {
	uint64_t first, last; /* 512-byte sectors; @last is part of it */
};

/** "A-B", with A <= B. */
int sector_range_parse(const char *text, struct sector_range *ret, struct why *why);

/** A size as people read it: "32 MiB", "1.5 GiB", "100 bytes". */
struct size_text {
	char text[24];
};
struct size_text size_format(uint64_t bytes);

#endif
