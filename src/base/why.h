/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Why something failed: one sentence for a person, beside the -errno for the program.
 */
#ifndef BLKBOX_BASE_WHY_H
#define BLKBOX_BASE_WHY_H

#include "cleanup.h"

enum {
	WHY_MAX = 512
};

/** Says what failed, on what, and what to do. Empty when nothing failed. */
struct why {
	char text[WHY_MAX];
};

/**
 * Writes the sentence and returns @error unchanged, so that a failure is one statement:
 * `return why_set(why, -EBUSY, "%s is already being traced", name);`
 *
 * @why: may be NULL: then only the number is handed on
 * @error: a negative errno
 */
int why_set(struct why *why, int error, const char *format, ...) _printf_(3, 4);

/** As why_set(), with ": " and the text of the errno behind the sentence. */
int why_errno(struct why *why, int error, const char *format, ...) _printf_(3, 4);

/** Puts "CONTEXT: " in front of the sentence that is there. Returns @error. */
int why_prefix(struct why *why, int error, const char *format, ...) _printf_(3, 4);

#endif
