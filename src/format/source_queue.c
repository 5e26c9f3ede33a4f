/* SPDX-License-Identifier: MIT */
#include "source.h"

#include <stdbool.h>
#include <string.h>

/* Two buffers: one is with the reader, the other one fills. */
struct source_queue {
	struct source source;
	uint8_t *filling, *lent;
	size_t n, filling_room, lent_room;
	uint64_t at; /* of the first byte in @filling */
	bool ended;
};

static int queue_next(struct source *source, struct span *ret, struct why *why)
{
	struct source_queue *queue = (struct source_queue *)source;
	uint8_t *bytes = queue->filling;
	size_t room = queue->filling_room;

	(void)why;
	if (!queue->n)
		return queue->ended ? 0 : -EAGAIN;
	*ret = (struct span){.bytes = bytes, .size = queue->n, .offset = queue->at};
	queue->filling = queue->lent;
	queue->filling_room = queue->lent_room;
	queue->lent = bytes;
	queue->lent_room = room;
	queue->at += queue->n;
	queue->n = 0;
	return 1;
}

static void queue_destroy(struct source *source)
{
	struct source_queue *queue = (struct source_queue *)source;

	free(queue->filling);
	free(queue->lent);
	free(queue);
}

static const struct source_ops queue_ops = {.next = queue_next, .destroy = queue_destroy};

int source_queue_create(struct source **ret)
{
	struct source_queue *queue = calloc(1, sizeof(*queue));

	if (!queue)
		return -ENOMEM;
	queue->source.ops = &queue_ops;
	*ret = &queue->source;
	return 0;
}

int source_queue_append(struct source *source, const void *bytes, size_t size)
{
	struct source_queue *queue = (struct source_queue *)source;
	size_t room = queue->filling_room;

	if (!size)
		return 0;
	while (room - queue->n < size)
		room = room ? 2 * room : 4096;
	if (room != queue->filling_room) {
		uint8_t *grown = realloc(queue->filling, room);

		if (!grown)
			return -ENOMEM;
		queue->filling = grown;
		queue->filling_room = room;
	}
	memcpy(queue->filling + queue->n, bytes, size);
	queue->n += size;
	return 0;
}

void source_queue_end(struct source *source)
{
	((struct source_queue *)source)->ended = true;
}
