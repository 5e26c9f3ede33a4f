/* SPDX-License-Identifier: MIT */
#include "decoder.h"

#include "blktrace.h"
#include "wire.h"

#include <byteswap.h>
#include <string.h>

enum {
	CARRY_CHUNK = 4096
};

/*
 * Records are decoded where they lie, in a window over the source's span. A record that a span's
 * end cuts is put together in the carry; behind it the window moves back to the span.
 */
struct decoder {
	struct source *source;
	const uint8_t *bytes; /* window */
	size_t size;
	size_t at;
	uint64_t base; /* offset of the window's first byte */
	struct span span;
	size_t span_taken; /* bytes of the span's start that are copied into the carry */
	uint8_t *carry;
	size_t carry_room;
	size_t carry_old; /* bytes in the carry that are older than the span */
	bool in_carry;
	bool searching; /* for the next record head */
	struct decoder_health health;
};

int decoder_adopt_create(struct source *source, struct decoder **ret)
{
	static const uint8_t nothing[1] = {0};
	struct decoder *decoder = calloc(1, sizeof(*decoder));

	if (!decoder) {
		source_destroy(source);
		return -ENOMEM;
	}
	decoder->source = source;
	/* The window is always somewhere: C has no arithmetic with a null pointer. */
	decoder->bytes = nothing;
	*ret = decoder;
	return 0;
}

void decoder_destroy(struct decoder *decoder)
{
	if (!decoder)
		return;
	source_destroy(decoder->source);
	free(decoder->carry);
	free(decoder);
}

const struct decoder_health *decoder_health(const struct decoder *decoder)
{
	return &decoder->health;
}

bool decoder_health_is_whole(const struct decoder_health *health)
{
	return !health->skips && !health->cut_bytes && !health->gaps;
}

static int carry_reserve(struct decoder *d, size_t room)
{
	uint8_t *carry;

	if (room <= d->carry_room)
		return 0;
	carry = realloc(d->carry, room);
	if (!carry)
		return -ENOMEM;
	if (d->in_carry)
		d->bytes = carry;
	d->carry = carry;
	d->carry_room = room;
	return 0;
}

/* Copies more of the span behind what the carry holds. */
static int carry_append(struct decoder *d)
{
	size_t left = d->span.size - d->span_taken;
	size_t n = left < CARRY_CHUNK ? left : CARRY_CHUNK;
	int r = carry_reserve(d, d->size + n);

	if (r < 0)
		return r;
	memcpy(d->carry + d->size, d->span.bytes + d->span_taken, n);
	d->size += n;
	d->span_taken += n;
	return 1;
}

/* Saves the window's rest in the carry, before the span under it goes away. */
static int carry_save(struct decoder *d)
{
	size_t rest = d->size - d->at;
	int r = carry_reserve(d, rest + CARRY_CHUNK);

	if (r < 0)
		return r;
	if (rest)
		memmove(d->carry, d->bytes + d->at, rest);
	d->base += d->at;
	d->bytes = d->carry;
	d->size = rest;
	d->at = 0;
	d->carry_old = rest;
	d->in_carry = true;
	d->span = (struct span){0};
	d->span_taken = 0;
	return 0;
}

static void window_to_span(struct decoder *d, size_t at)
{
	d->bytes = d->span.bytes;
	d->size = d->span.size;
	d->base = d->span.offset;
	d->at = at;
	d->in_carry = false;
}

static void start_search(struct decoder *d)
{
	if (!d->health.skips++)
		d->health.first_skip_offset = d->base + d->at;
	d->searching = true;
}

static void advance(struct decoder *d, size_t n)
{
	d->at += n;
	if (d->in_carry && d->span_taken && d->at >= d->carry_old)
		window_to_span(d, d->at - d->carry_old);
}

static void skip(struct decoder *d, size_t n)
{
	d->health.skipped_bytes += n;
	advance(d, n);
}

/* Bytes are missing in front of the span: what the carry holds will never be whole. */
static void note_gap(struct decoder *d)
{
	d->health.gaps++;
	d->health.missing_bytes += d->span.missing_bytes;
	if (d->size > d->at) {
		if (!d->searching)
			start_search(d);
		skip(d, d->size - d->at);
	}
	d->searching = false;
}

/* 1 = there are more bytes in the window than before. */
static int more(struct decoder *d, struct why *why)
{
	struct span span;
	int r;

	if (d->in_carry && d->span_taken < d->span.size)
		return carry_append(d);
	r = carry_save(d);
	if (r < 0)
		return why_set(why, r, "no memory for a record");
	r = source_next(d->source, &span, why);
	if (r <= 0)
		return r;
	d->span = span;
	if (span.missing_bytes)
		note_gap(d);
	if (d->size == d->at) {
		window_to_span(d, 0);
		return 1;
	}
	r = carry_append(d);
	return r < 0 ? why_set(why, r, "no memory for a record") : r;
}

static bool is_magic(const uint8_t *bytes)
{
	uint32_t magic;

	memcpy(&magic, bytes, sizeof(magic));
	return (magic & BT_MAGIC_MASK) == BT_MAGIC || (bswap_32(magic) & BT_MAGIC_MASK) == BT_MAGIC;
}

/*
 * True if the record swallows others: one starts within its payload, at its start or with no record
 * behind it. Its own length is then not to be believed.
 */
static bool swallows(const struct decoder *d, size_t size)
{
	const uint8_t *record = d->bytes + d->at;
	size_t there = d->size - d->at;

	if (size < 2 * WIRE_HEAD_MIN && there >= size + 4 && is_magic(record + size))
		return false;
	if (size == WIRE_HEAD_MIN)
		return false;
	if (there >= size + 4 && is_magic(record + size))
		return is_magic(record + WIRE_HEAD_MIN) || is_magic(record + WIRE_HEAD_MAX);
	if (there < size + 4 && size < WIRE_HEAD_MAX + BT_MESSAGE_MAX + sizeof(uint64_t))
		return false;
	if (there > size)
		there = size;
	return wire_resync(record, there, 4) < there;
}

/* Moves on to the next record head. 1 = there is one, 0 = end. */
static int search(struct decoder *d, struct why *why)
{
	for (;;) {
		size_t found = wire_resync(d->bytes, d->size, d->at);
		size_t keep;
		int r;

		if (found < d->size) {
			skip(d, found - d->at);
			d->searching = false;
			return 1;
		}
		/* A head may be cut by the window's end. */
		keep = d->size - d->at < WIRE_HEAD_MAX ? d->size - d->at : WIRE_HEAD_MAX - 1;
		skip(d, d->size - d->at - keep);
		r = more(d, why);
		if (r == 0)
			skip(d, d->size - d->at);
		if (r <= 0)
			return r;
		if (!d->searching) /* a gap ended the search */
			return 1;
	}
}

/* The last record has no end. Whole records may lie within the payload that it claims. */
static int at_end(struct decoder *d)
{
	size_t rest = d->size - d->at;

	if (!rest)
		return 0;
	if (wire_resync(d->bytes, d->size, d->at + 4) < d->size) {
		start_search(d);
		skip(d, 1);
		return 1;
	}
	d->health.cut_bytes = rest;
	d->health.cut_offset = d->base + d->at;
	d->at = d->size;
	return 0;
}

static void reject(struct decoder *d, enum wire_status status)
{
	if (status == WIRE_BAD_VERSION) {
		const uint8_t *magic = d->bytes + d->at;

		if (!d->health.unknown_versions++) {
			d->health.first_unknown_offset = d->base + d->at;
			d->health.first_unknown_version = magic[3] == 0x65 ? magic[0] : magic[3];
		}
	}
	start_search(d);
	skip(d, 1);
}

int decoder_next_events(struct decoder *d, size_t room, struct blkbox_event *ret, struct why *why)
{
	size_t n = 0;

	while (n < room) {
		enum wire_status status;
		size_t size;
		int r;

		if (d->searching) {
			/* The bytes that the others' payloads are in may go away. */
			if (n)
				break;
			r = search(d, why);
			if (r <= 0)
				return r;
		}
		status = wire_decode(d->bytes + d->at, d->size - d->at, &size, &ret[n]);
		if (status == WIRE_SHORT) {
			if (n)
				break;
			r = more(d, why);
			if (r == 0)
				r = at_end(d);
			if (r <= 0)
				return r;
			continue;
		}
		if (status != WIRE_OK || swallows(d, size)) {
			reject(d, status);
			continue;
		}
		*(blkbox_event_is_note(&ret[n]) ? &d->health.notes : &d->health.events) += 1;
		d->health.good_bytes += size;
		advance(d, size);
		n++;
	}
	return (int)n;
}

int decoder_next(struct decoder *decoder, struct blkbox_event *ret, struct why *why)
{
	return decoder_next_events(decoder, 1, ret, why);
}
