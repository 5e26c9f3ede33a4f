/* SPDX-License-Identifier: MIT */
#include "reorder.h"

#include "heap.h"

#include <string.h>

enum {
	NO_SLOT = UINT32_MAX
};

struct slot {
	struct blkbox_event event;
	uint64_t arrival;
	uint32_t next_free;
};

struct reorder {
	uint64_t window_ns;
	uint64_t newest_ns;
	uint64_t arrivals;
	struct slot *slots;
	uint32_t n_slots;
	uint32_t free_slot;
	uint32_t lent; /* slot of the event that was taken last */
	struct heap heap;
};

static bool before(const void *context, uint32_t a, uint32_t b)
{
	const struct reorder *reorder = context;
	const struct slot *x = &reorder->slots[a];
	const struct slot *y = &reorder->slots[b];

	if (x->event.time_ns != y->event.time_ns)
		return x->event.time_ns < y->event.time_ns;
	if (x->event.cpu != y->event.cpu)
		return x->event.cpu < y->event.cpu;
	return x->arrival < y->arrival;
}

int reorder_create(uint64_t window_ns, struct reorder **ret)
{
	struct reorder *reorder = calloc(1, sizeof(*reorder));

	if (!reorder)
		return -ENOMEM;
	reorder->window_ns = window_ns;
	reorder->free_slot = reorder->lent = NO_SLOT;
	heap_init(&reorder->heap, before, reorder);
	*ret = reorder;
	return 0;
}

static void free_slot(struct reorder *reorder, uint32_t slot)
{
	if (slot == NO_SLOT)
		return;
	free((void *)reorder->slots[slot].event.pdu);
	reorder->slots[slot].event.pdu = NULL;
	reorder->slots[slot].next_free = reorder->free_slot;
	reorder->free_slot = slot;
}

void reorder_destroy(struct reorder *reorder)
{
	if (!reorder)
		return;
	for (uint32_t i = 0; i < reorder->n_slots; i++)
		free((void *)reorder->slots[i].event.pdu);
	free(reorder->slots);
	heap_deinit(&reorder->heap);
	free(reorder);
}

bool reorder_is_hungry(const struct reorder *reorder)
{
	const struct heap *heap = &reorder->heap;

	if (!heap->n)
		return true;
	if (heap->n >= REORDER_EVENTS_MAX)
		return false;
	return reorder->newest_ns - reorder->slots[heap_top(heap)].event.time_ns <
	       reorder->window_ns;
}

static int grow(struct reorder *reorder)
{
	uint32_t n = reorder->n_slots ? 2 * reorder->n_slots : 256;
	struct slot *slots = reallocarray(reorder->slots, n, sizeof(*slots));

	if (!slots)
		return -ENOMEM;
	reorder->slots = slots;
	for (uint32_t i = reorder->n_slots; i < n; i++) {
		slots[i] = (struct slot){.next_free = reorder->free_slot};
		reorder->free_slot = i;
	}
	reorder->n_slots = n;
	return 0;
}

int reorder_put(struct reorder *reorder, const struct blkbox_event *event)
{
	uint8_t *pdu = NULL;
	uint32_t slot;
	int r;

	if (reorder->free_slot == NO_SLOT) {
		r = grow(reorder);
		if (r < 0)
			return r;
	}
	if (event->pdu_bytes) {
		pdu = malloc(event->pdu_bytes);
		if (!pdu)
			return -ENOMEM;
		memcpy(pdu, event->pdu, event->pdu_bytes);
	}
	slot = reorder->free_slot;
	reorder->free_slot = reorder->slots[slot].next_free;
	reorder->slots[slot].event = *event;
	reorder->slots[slot].event.pdu = pdu;
	reorder->slots[slot].arrival = reorder->arrivals++;
	r = heap_push(&reorder->heap, slot);
	if (r < 0) {
		free_slot(reorder, slot);
		return r;
	}
	if (event->time_ns > reorder->newest_ns)
		reorder->newest_ns = event->time_ns;
	return 0;
}

int reorder_take(struct reorder *reorder, struct blkbox_event *ret)
{
	free_slot(reorder, reorder->lent);
	reorder->lent = NO_SLOT;
	if (!reorder->heap.n)
		return 0;
	reorder->lent = heap_pop(&reorder->heap);
	*ret = reorder->slots[reorder->lent].event;
	return 1;
}
