/* SPDX-License-Identifier: MIT */
#include "row_ring.h"

#include <string.h>

int row_ring_init(struct row_ring *rows, size_t size)
{
	int r = ring_init(&rows->ring, size);

	if (r < 0)
		return r;
	r = ring_sleep_init(&rows->sleep);
	if (r < 0)
		ring_deinit(&rows->ring);
	return r;
}

void row_ring_deinit(struct row_ring *rows)
{
	if (!rows->ring.bytes)
		return;
	ring_deinit(&rows->ring);
	ring_sleep_deinit(&rows->sleep);
}

size_t row_ring_room(const struct row_ring *rows)
{
	return rows->ring.size - ring_filled(&rows->ring);
}

bool row_ring_put(struct row_ring *rows, const char *line, size_t n)
{
	size_t piece;
	uint8_t *room;

	if (n > row_ring_room(rows))
		return false;
	/* Published as one, though it may lie at both ends. */
	room = ring_room(&rows->ring, &piece);
	if (piece > n)
		piece = n;
	memcpy(room, line, piece);
	memcpy(rows->ring.bytes, line + piece, n - piece);
	ring_commit(&rows->ring, n);
	return true;
}

size_t row_ring_take(struct row_ring *rows, char *to, size_t size)
{
	size_t used = 0, n;

	for (;;) {
		const uint8_t *from = ring_peek(&rows->ring, &n);

		if (n > size - used)
			n = size - used;
		if (!n)
			return used;
		memcpy(to + used, from, n);
		ring_release(&rows->ring, n);
		used += n;
	}
}
