/* SPDX-License-Identifier: MIT */
#include "heap.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

void heap_init(struct heap *heap, heap_before before, const void *context)
{
	*heap = (struct heap){.before = before, .context = context};
}

void heap_deinit(struct heap *heap)
{
	free(heap->items);
	heap->items = NULL;
	heap->n = heap->room = 0;
}

static bool before(const struct heap *heap, size_t a, size_t b)
{
	return heap->before(heap->context, heap->items[a], heap->items[b]);
}

static void swap(struct heap *heap, size_t a, size_t b)
{
	uint32_t item = heap->items[a];

	heap->items[a] = heap->items[b];
	heap->items[b] = item;
}

int heap_push(struct heap *heap, uint32_t item)
{
	size_t at = heap->n;

	if (heap->n == heap->room) {
		size_t room = heap->room ? 2 * heap->room : 16;
		uint32_t *items = reallocarray(heap->items, room, sizeof(*items));

		if (!items)
			return -ENOMEM;
		heap->items = items;
		heap->room = room;
	}
	heap->items[heap->n++] = item;
	while (at && before(heap, at, (at - 1) / 2)) {
		swap(heap, at, (at - 1) / 2);
		at = (at - 1) / 2;
	}
	return 0;
}

uint32_t heap_top(const struct heap *heap)
{
	assert(heap->n);
	return heap->items[0];
}

void heap_top_changed(struct heap *heap)
{
	size_t at = 0;

	for (;;) {
		size_t child = 2 * at + 1;

		if (child >= heap->n)
			return;
		if (child + 1 < heap->n && before(heap, child + 1, child))
			child++;
		if (!before(heap, child, at))
			return;
		swap(heap, at, child);
		at = child;
	}
}

uint32_t heap_pop(struct heap *heap)
{
	uint32_t top = heap_top(heap);

	heap->items[0] = heap->items[--heap->n];
	heap_top_changed(heap);
	return top;
}
