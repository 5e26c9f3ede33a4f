/* SPDX-License-Identifier: MIT */
#include "log_pack.h"

#include "blktrace.h"

#include <string.h>

/* What is left of a column. */
struct column {
	const uint8_t *at, *end;
};

struct unpacker {
	struct column columns[LOG_COLUMNS];
	uint8_t *out, *out_end;
	bool failed; /* something was read that is not there */
	/* Of the record before. */
	uint64_t time_ns;
	uint64_t sector;
	uint64_t end_sector;
	uint64_t new_sector;
	uint32_t sequence;
	uint8_t pad[sizeof(((struct bt_record2 *)NULL)->pad)];
	struct log_shape shapes[LOG_SLOTS];
	struct log_origin origins[LOG_SLOTS];
	uint64_t sectors[LOG_SLOTS];
};

/* Zeros, where there are not so many. */
static inline void get(struct unpacker *u, enum log_column column, void *ret, size_t n)
{
	struct column *c = &u->columns[column];

	if ((size_t)(c->end - c->at) < n) {
		u->failed = true;
		memset(ret, 0, n);
		return;
	}
	memcpy(ret, c->at, n);
	c->at += n;
}

static inline uint8_t get_byte(struct unpacker *u, enum log_column column)
{
	struct column *c = &u->columns[column];

	if (c->at == c->end) {
		u->failed = true;
		return 0;
	}
	return *c->at++;
}

static inline uint64_t get_number(struct unpacker *u, enum log_column column)
{
	uint64_t number = 0;

	for (unsigned shift = 0; shift < 64; shift += 7) {
		uint8_t byte = get_byte(u, column);

		number |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return number;
	}
	u->failed = true;
	return 0;
}

static inline uint64_t get_signed(struct unpacker *u, enum log_column column)
{
	uint64_t number = get_number(u, column);

	return number >> 1 ^ (0 - (number & 1));
}

static const struct log_shape *get_shape(struct unpacker *u, unsigned control)
{
	struct log_shape *shape = &u->shapes[get_byte(u, COLUMN_SHAPE)];

	if (control & CONTROL_NEW_SHAPE)
		get(u, COLUMN_NEW_SHAPE, shape, sizeof(*shape));
	return shape;
}

static const struct log_origin *get_origin(struct unpacker *u, unsigned control)
{
	struct log_origin *origin = &u->origins[get_byte(u, COLUMN_ORIGIN)];

	if (control & CONTROL_NEW_ORIGIN)
		get(u, COLUMN_NEW_ORIGIN, origin, sizeof(*origin));
	return origin;
}

static uint64_t get_sector(struct unpacker *u, unsigned control)
{
	unsigned slot;

	switch (control & CONTROL_SECTOR_MASK) {
	case CONTROL_SECTOR_SAME:
		return u->sector;
	case CONTROL_SECTOR_NEXT:
		return u->end_sector;
	case CONTROL_SECTOR_SLOT:
		return u->sectors[get_byte(u, COLUMN_SECTOR_SLOT)];
	default:
		slot = get_byte(u, COLUMN_NEW_SECTOR);
		u->new_sector += get_signed(u, COLUMN_NEW_SECTOR);
		u->sectors[slot] = u->new_sector;
		return u->new_sector;
	}
}

static bool has_room(const struct unpacker *u, size_t n)
{
	return (size_t)(u->out_end - u->out) >= n;
}

static void put(struct unpacker *u, const void *bytes, size_t n)
{
	memcpy(u->out, bytes, n);
	u->out += n;
}

static bool put_head(struct unpacker *u, const struct log_shape *shape,
		     const struct log_origin *origin)
{
	if ((shape->magic & 0xff) == BT_VERSION_1) {
		struct bt_record1 r = {
			.magic = shape->magic,
			.sequence = u->sequence,
			.time_ns = u->time_ns,
			.sector = u->sector,
			.bytes = origin->bytes,
			.action = (uint32_t)shape->action,
			.pid = origin->pid,
			.device = shape->device,
			.cpu = shape->cpu,
			.error = shape->error,
			.pdu_len = shape->pdu_len,
		};

		if (!has_room(u, sizeof(r) + r.pdu_len))
			return false;
		put(u, &r, sizeof(r));
	} else {
		struct bt_record2 r = {
			.magic = shape->magic,
			.sequence = u->sequence,
			.time_ns = u->time_ns,
			.sector = u->sector,
			.bytes = origin->bytes,
			.pid = origin->pid,
			.action = shape->action,
			.device = shape->device,
			.cpu = shape->cpu,
			.error = shape->error,
			.pdu_len = shape->pdu_len,
		};

		memcpy(r.pad, u->pad, sizeof(r.pad));
		if (!has_room(u, sizeof(r) + r.pdu_len))
			return false;
		put(u, &r, sizeof(r));
	}
	return true;
}

static bool put_bytes(struct unpacker *u, uint64_t n)
{
	if (!has_room(u, n))
		return false;
	get(u, COLUMN_BYTES, u->out, n);
	u->out += n;
	return true;
}

static bool unpack_record(struct unpacker *u, unsigned control)
{
	const struct log_shape *shape = get_shape(u, control);
	const struct log_origin *origin = get_origin(u, control);

	u->time_ns += get_signed(u, COLUMN_TIME);
	u->sector = get_sector(u, control);
	u->end_sector = u->sector + origin->bytes / 512;
	u->sequence++;
	if (control & CONTROL_SEQUENCE)
		u->sequence += (uint32_t)get_signed(u, COLUMN_SEQUENCE);
	if (control & CONTROL_PAD)
		get(u, COLUMN_PAD, u->pad, sizeof(u->pad));
	return put_head(u, shape, origin) && put_bytes(u, shape->pdu_len);
}

static bool find_columns(struct unpacker *u, const uint8_t *packed, size_t size)
{
	struct log_packed_head head;
	size_t at = sizeof(head);

	if (size < sizeof(head))
		return false;
	memcpy(&head, packed, sizeof(head));
	for (unsigned i = 0; i < LOG_COLUMNS; i++) {
		if (size - at < head.column_bytes[i])
			return false;
		u->columns[i].at = packed + at;
		at += head.column_bytes[i];
		u->columns[i].end = packed + at;
	}
	return at == size;
}

static bool all_is_used(const struct unpacker *u)
{
	for (unsigned i = 0; i < LOG_COLUMNS; i++) {
		if (u->columns[i].at != u->columns[i].end)
			return false;
	}
	return u->out == u->out_end;
}

bool log_unpack(const uint8_t *packed, size_t packed_bytes, uint8_t *raw, size_t size)
{
	struct unpacker u = {.out = raw, .out_end = raw + size};
	const struct column *items = &u.columns[COLUMN_CONTROL];

	if (!find_columns(&u, packed, packed_bytes))
		return false;
	while (items->at != items->end && !u.failed) {
		unsigned control = get_byte(&u, COLUMN_CONTROL);
		bool good = control == CONTROL_BYTES
				    ? put_bytes(&u, get_number(&u, COLUMN_SEQUENCE))
				    : unpack_record(&u, control);

		if (!good)
			return false;
	}
	return !u.failed && all_is_used(&u);
}
