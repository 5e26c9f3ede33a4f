/* SPDX-License-Identifier: MIT */
#include "record_count.h"

#include <string.h>

static size_t smaller(size_t a, size_t b)
{
	return a < b ? a : b;
}

/*
 * Looks at what starts here and counts it. Returns how far the next record is: behind this record,
 * or one byte on if there is none; 0 if the head is not all there.
 */
static size_t count_one(struct record_count *count, const uint8_t *bytes, size_t size)
{
	size_t record_bytes;
	bool note;
	enum wire_status status = wire_measure(bytes, size, &record_bytes, &note);

	if (status == WIRE_SHORT)
		return 0;
	if (status != WIRE_OK) {
		count->garbage_bytes++;
		return 1;
	}
	if (note)
		count->notes++;
	else
		count->events++;
	return record_bytes;
}

/*
 * A head that was begun in an earlier piece: completes it in the carry. Returns the bytes that it
 * took from this piece: all of them if the head is still not whole, else none.
 */
static size_t count_carried(struct record_count *count, const uint8_t *bytes, size_t size)
{
	size_t had = count->carry_bytes;
	size_t more = smaller(size, sizeof(count->carry) - had);
	size_t at = 0;

	memcpy(count->carry + had, bytes, more);
	while (at < had) {
		size_t step = count_one(count, count->carry + at, had + more - at);

		if (!step) {
			/* Behind garbage there is room for more of the piece, if there is more. */
			count->carry_bytes = (more < size ? had : had + more) - at;
			memmove(count->carry, count->carry + at, count->carry_bytes);
			return more < size ? 0 : more;
		}
		at += step;
	}
	count->skip_bytes = at - had;
	count->carry_bytes = 0;
	return 0;
}

void record_count_feed(struct record_count *count, const uint8_t *bytes, size_t size)
{
	while (size) {
		size_t n;

		if (count->skip_bytes) {
			n = smaller(count->skip_bytes, size);
			count->skip_bytes -= n;
		} else if (count->carry_bytes) {
			n = count_carried(count, bytes, size);
		} else {
			n = 0;
			count->skip_bytes = count_one(count, bytes, size);
			if (!count->skip_bytes) {
				memcpy(count->carry, bytes, size);
				count->carry_bytes = size;
				return;
			}
		}
		bytes += n;
		size -= n;
	}
}

void record_count_gap(struct record_count *count)
{
	count->skip_bytes = 0;
	count->carry_bytes = 0;
}
