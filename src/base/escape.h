/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Text from the kernel (process names, notes) made safe for terminals and for one line of output.
 */
#ifndef BLKBOX_BASE_ESCAPE_H
#define BLKBOX_BASE_ESCAPE_H

#include <stddef.h>

enum {
	ESCAPE_FACTOR = 4, /* output is at most this many times as long as the input */
	ESCAPE_NEXT_MAX = ESCAPE_FACTOR * 4, /* of one character */
};

/**
 * Copies @n bytes: printable ASCII and well-formed UTF-8 as they are, everything else (control
 * characters, escape sequences, broken UTF-8) as \xNN. No terminating NUL.
 *
 * @to: room for ESCAPE_FACTOR * @n bytes
 * Returns how many were written.
 */
size_t escape_text(char *to, const char *from, size_t n);

/** The same for one character: @to has room for ESCAPE_NEXT_MAX; moves *@from behind it. */
size_t escape_next(char *to, const char **from, size_t n);

/**
 * The same for a name of up to @n bytes or to its NUL, cut behind the last character that fits
 * into @room, with a NUL. What is escaped already stays as it is.
 */
void escape_name(char *to, size_t room, const char *from, size_t n);

#endif
