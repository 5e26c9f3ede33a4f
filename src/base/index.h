/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Where the item with a number stands in its owner's list: for numbers that files name, of which
 * there may be more than anybody would search through.
 */
#ifndef BLKBOX_BASE_INDEX_H
#define BLKBOX_BASE_INDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** All zero is an empty one. */
struct index {
	struct index_entry *entries;
	struct index_entry *last; /* most look-ups ask for what the one before asked for */
};

void index_deinit(struct index *index);

/** True if there is one: *@ret is its place. */
bool index_find(struct index *index, uint64_t number, size_t *ret);
/** @number must not be in it yet. -ENOMEM */
int index_add(struct index *index, uint64_t number, size_t at);

/** One number of two. */
static inline uint64_t index_pair(uint32_t a, uint32_t b)
{
	return (uint64_t)a << 32 | b;
}

#endif
