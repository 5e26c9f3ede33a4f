/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Room for one item more in a list that may become long.
 */
#ifndef BLKBOX_BASE_GROW_H
#define BLKBOX_BASE_GROW_H

#include <stdlib.h>

/**
 * @items: a list of @n, which has grown by this function alone
 *
 * The list with room for one more: its room is doubled whenever it is full. NULL: no memory, and
 * @items is as it was.
 */
static inline void *grow_list(void *items, size_t n, size_t item_bytes)
{
	return n & (n - 1) ? items : reallocarray(items, n ? 2 * n : 1, item_bytes);
}

#endif
