/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Buffered output: formats into one large buffer, writes it in one go. The first failure sticks.
 */
#ifndef BLKBOX_BASE_OUT_H
#define BLKBOX_BASE_OUT_H

#include "cleanup.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum {
	OUT_BUFFER_BYTES = 256 << 10, /* the usual size */
	OUT_ROOM_MAX = 72 << 10,      /* what out_room() gives at once, and the least size */
};

struct out {
	int fd; /* borrowed; -1 = nowhere: bytes are only counted */
	int error;
	char *buffer;
	size_t size;
	size_t n;
	uint64_t written_bytes; /* handed to write(2), or counted */
};

/** Until @fd takes more: somebody may have made our standard output non-blocking. 0 or -errno. */
int wait_for_room(int fd);
/** write(2) until all is written. @ret_done: bytes written, also on failure; may be NULL. */
int write_all(int fd, const void *bytes, size_t n, size_t *ret_done);

/** @size: bytes of the buffer, at least OUT_ROOM_MAX. -ENOMEM; @fd is borrowed. */
int out_init(struct out *out, int fd, size_t size);
void out_deinit(struct out *out);

/** Writes what is buffered. 0, or the first error there was: -ENOSPC, -EPIPE, ... */
int out_flush(struct out *out);

/** Room for @size bytes (at most OUT_ROOM_MAX), to be filled and then counted with out_commit(). */
char *out_room(struct out *out, size_t size);

static inline void out_commit(struct out *out, size_t size)
{
	out->n += size;
}

void out_bytes(struct out *out, const void *bytes, size_t size);
void out_u64(struct out *out, uint64_t value);
void out_i64(struct out *out, int64_t value);
void out_printf(struct out *out, const char *format, ...) _printf_(2, 3);

static inline void out_char(struct out *out, char c)
{
	*out_room(out, 1) = c;
	out->n++;
}

static inline void out_text(struct out *out, const char *text)
{
	out_bytes(out, text, strlen(text));
}

/** Decimal digits of @value at @to (room for 20); returns how many. */
size_t format_u64(char *to, uint64_t value);

#endif
