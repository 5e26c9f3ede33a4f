/* SPDX-License-Identifier: MIT */
/**
 * @file
 * A binary heap of small numbers (indices of whatever the caller sorts); the least is on top.
 */
#ifndef BLKBOX_BASE_HEAP_H
#define BLKBOX_BASE_HEAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** True if @a belongs before @b. */
typedef bool (*heap_before)(const void *context, uint32_t a, uint32_t b);

struct heap {
	uint32_t *items;
	size_t n;
	size_t room;
	heap_before before;
	const void *context; /* borrowed */
};

void heap_init(struct heap *heap, heap_before before, const void *context);
void heap_deinit(struct heap *heap);

/** -ENOMEM if it cannot grow; the heap is then as it was. */
int heap_push(struct heap *heap, uint32_t item);
/** The least; the heap must not be empty. */
uint32_t heap_top(const struct heap *heap);
/** Takes the least out. */
uint32_t heap_pop(struct heap *heap);
/** The top's key has changed: finds its new place. */
void heap_top_changed(struct heap *heap);

#endif
