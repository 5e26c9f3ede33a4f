/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Whole lines on their way from one thread to another. Neither waits for the other.
 */
#ifndef BLKBOX_PROC_ROW_RING_H
#define BLKBOX_PROC_ROW_RING_H

#include "ring.h"

struct row_ring {
	struct ring ring;
	struct ring_sleep sleep; /* where the taker sleeps */
};

/** @size: power of two. 0 or -errno */
int row_ring_init(struct row_ring *rows, size_t size);
/** All zero is taken, too. */
void row_ring_deinit(struct row_ring *rows);

/** Giver: bytes that there is room for. */
size_t row_ring_room(const struct row_ring *rows);
/** Giver: a whole line. False: there is no room. */
bool row_ring_put(struct row_ring *rows, const char *line, size_t n);
/** Taker: up to @size bytes, as they come; the last line may be cut, its rest comes next. */
size_t row_ring_take(struct row_ring *rows, char *to, size_t size);

#endif
