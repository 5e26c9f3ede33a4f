/* SPDX-License-Identifier: MIT */
#include "log_pack.h"

#include "blktrace.h"
#include "wire.h"

#include <string.h>

static_assert(sizeof(struct log_shape) == 24 && sizeof(struct log_origin) == 8, "on disk");

struct column {
	uint8_t *bytes; /* room for the most that there can be */
	size_t n;
};

/* Each key has a set of slots; the one that was filled first makes room for what is new. */
enum {
	WAYS = 4,
	SETS = LOG_SLOTS / WAYS,
};

/* What the record before was, and what the slots hold. */
struct before {
	uint64_t time_ns;
	uint64_t sector;
	uint64_t end_sector;
	uint64_t new_sector;
	uint32_t sequence;
	uint8_t pad[sizeof(((struct bt_record2 *)NULL)->pad)];
	struct log_shape shapes[LOG_SLOTS];
	struct log_origin origins[LOG_SLOTS];
	uint64_t sectors[LOG_SLOTS];
	uint8_t next_shape[SETS], next_origin[SETS], next_sector[SETS];
};

struct log_packer {
	struct column columns[LOG_COLUMNS];
	struct before before;
	uint8_t *memory; /* of the columns */
	uint8_t *packed;
};

/* The most bytes of a column for one item, which is a byte at least; BYTES: see below. */
static const uint8_t item_bytes[LOG_COLUMNS] = {
	[COLUMN_CONTROL] = 1,
	[COLUMN_SHAPE] = 1,
	[COLUMN_NEW_SHAPE] = sizeof(struct log_shape),
	[COLUMN_ORIGIN] = 1,
	[COLUMN_NEW_ORIGIN] = sizeof(struct log_origin),
	[COLUMN_TIME] = 10,
	[COLUMN_SECTOR_SLOT] = 1,
	[COLUMN_NEW_SECTOR] = 11,
	[COLUMN_SEQUENCE] = 10,
	[COLUMN_PAD] = 12,
};

/* A record is 48 bytes; between two of them there can be something else. */
static size_t column_room(enum log_column column, size_t most)
{
	return column == COLUMN_BYTES ? most
				      : (2 * (most / WIRE_HEAD_MIN) + 2) * item_bytes[column];
}

int log_packer_create(size_t most, struct log_packer **ret)
{
	_cleanup_(cleanup_log_packer_destroy) struct log_packer *packer =
		calloc(1, sizeof(*packer));
	size_t room = 0;

	if (!packer)
		return -ENOMEM;
	for (unsigned i = 0; i < LOG_COLUMNS; i++)
		room += column_room(i, most);
	packer->memory = malloc(room);
	packer->packed = malloc(room + sizeof(struct log_packed_head));
	if (!packer->memory || !packer->packed)
		return -ENOMEM;
	room = 0;
	for (unsigned i = 0; i < LOG_COLUMNS; i++) {
		packer->columns[i].bytes = packer->memory + room;
		room += column_room(i, most);
	}
	*ret = take_ptr(packer);
	return 0;
}

void log_packer_destroy(struct log_packer *packer)
{
	if (!packer)
		return;
	free(packer->memory);
	free(packer->packed);
	free(packer);
}

static inline void put(struct column *column, const void *bytes, size_t n)
{
	memcpy(column->bytes + column->n, bytes, n);
	column->n += n;
}

static inline void put_byte(struct column *column, unsigned byte)
{
	column->bytes[column->n++] = (uint8_t)byte;
}

static inline void put_number(struct column *column, uint64_t number)
{
	while (number >= 0x80) {
		put_byte(column, (uint8_t)number | 0x80);
		number >>= 7;
	}
	put_byte(column, (uint8_t)number);
}

/* Small ones of both signs are short. */
static inline void put_signed(struct column *column, uint64_t difference)
{
	put_number(column, difference << 1 ^ (uint64_t)((int64_t)difference >> 63));
}

static inline unsigned set_of(uint64_t mixed)
{
	return (unsigned)(mixed * UINT64_C(0x9e3779b97f4a7c15) >> 58);
}
static_assert(SETS == 1 << (64 - 58), "what set_of() gives");

static inline unsigned oldest_slot(uint8_t *next, unsigned set)
{
	return set * WAYS + next[set]++ % WAYS;
}

static unsigned put_shape(struct log_packer *packer, const struct log_shape *shape)
{
	struct before *before = &packer->before;
	unsigned set =
		set_of(shape->action ^ (uint64_t)shape->device << 40 ^ (uint64_t)shape->cpu << 17 ^
		       (uint64_t)shape->error << 30 ^ (uint64_t)shape->pdu_len << 50);
	unsigned slot;

	for (slot = set * WAYS; slot < (set + 1) * WAYS; slot++) {
		if (!memcmp(&before->shapes[slot], shape, sizeof(*shape))) {
			put_byte(&packer->columns[COLUMN_SHAPE], slot);
			return 0;
		}
	}
	slot = oldest_slot(before->next_shape, set);
	before->shapes[slot] = *shape;
	put_byte(&packer->columns[COLUMN_SHAPE], slot);
	put(&packer->columns[COLUMN_NEW_SHAPE], shape, sizeof(*shape));
	return CONTROL_NEW_SHAPE;
}

static unsigned put_origin(struct log_packer *packer, const struct log_origin *origin)
{
	struct before *before = &packer->before;
	unsigned set = set_of((uint64_t)origin->pid << 32 ^ origin->bytes);
	unsigned slot;

	for (slot = set * WAYS; slot < (set + 1) * WAYS; slot++) {
		if (!memcmp(&before->origins[slot], origin, sizeof(*origin))) {
			put_byte(&packer->columns[COLUMN_ORIGIN], slot);
			return 0;
		}
	}
	slot = oldest_slot(before->next_origin, set);
	before->origins[slot] = *origin;
	put_byte(&packer->columns[COLUMN_ORIGIN], slot);
	put(&packer->columns[COLUMN_NEW_ORIGIN], origin, sizeof(*origin));
	return CONTROL_NEW_ORIGIN;
}

static unsigned put_sector(struct log_packer *packer, uint64_t sector)
{
	struct before *before = &packer->before;
	unsigned set = set_of(sector), slot;

	if (sector == before->sector)
		return CONTROL_SECTOR_SAME;
	if (sector == before->end_sector)
		return CONTROL_SECTOR_NEXT;
	for (slot = set * WAYS; slot < (set + 1) * WAYS; slot++) {
		if (before->sectors[slot] == sector) {
			put_byte(&packer->columns[COLUMN_SECTOR_SLOT], slot);
			return CONTROL_SECTOR_SLOT;
		}
	}
	slot = oldest_slot(before->next_sector, set);
	put_byte(&packer->columns[COLUMN_NEW_SECTOR], slot);
	put_signed(&packer->columns[COLUMN_NEW_SECTOR], sector - before->new_sector);
	before->new_sector = before->sectors[slot] = sector;
	return CONTROL_SECTOR_NEW;
}

static unsigned put_sequence(struct log_packer *packer, uint32_t sequence)
{
	uint32_t off = sequence - (packer->before.sequence + 1);

	packer->before.sequence = sequence;
	if (!off)
		return 0;
	put_signed(&packer->columns[COLUMN_SEQUENCE], (uint64_t)(int64_t)(int32_t)off);
	return CONTROL_SEQUENCE;
}

static unsigned put_pad(struct log_packer *packer, const uint8_t *pad)
{
	if (!memcmp(packer->before.pad, pad, sizeof(packer->before.pad)))
		return 0;
	memcpy(packer->before.pad, pad, sizeof(packer->before.pad));
	put(&packer->columns[COLUMN_PAD], pad, sizeof(packer->before.pad));
	return CONTROL_PAD;
}

/* What both protocols have, from the first byte to the number of bytes, is in the same places. */
static_assert(offsetof(struct bt_record1, bytes) == offsetof(struct bt_record2, bytes), "");

static void put_record(struct log_packer *packer, const uint8_t *raw)
{
	struct before *before = &packer->before;
	struct log_shape shape = {0};
	struct log_origin origin;
	struct bt_record1 r;
	unsigned control = 0;

	memcpy(&r, raw, sizeof(r));
	if ((r.magic & 0xff) == BT_VERSION_1) {
		shape = (struct log_shape){r.action, r.magic, r.device, r.cpu, r.error, r.pdu_len};
		origin = (struct log_origin){r.pid, r.bytes};
		put(&packer->columns[COLUMN_BYTES], raw + sizeof(r), r.pdu_len);
	} else {
		struct bt_record2 v2;

		memcpy(&v2, raw, sizeof(v2));
		shape = (struct log_shape){v2.action, v2.magic, v2.device,
					   v2.cpu,    v2.error, v2.pdu_len};
		origin = (struct log_origin){v2.pid, v2.bytes};
		control |= put_pad(packer, v2.pad);
		put(&packer->columns[COLUMN_BYTES], raw + sizeof(v2), v2.pdu_len);
	}
	control |= put_shape(packer, &shape);
	control |= put_origin(packer, &origin);
	control |= put_sector(packer, r.sector);
	control |= put_sequence(packer, r.sequence);
	put_signed(&packer->columns[COLUMN_TIME], r.time_ns - before->time_ns);
	before->time_ns = r.time_ns;
	before->sector = r.sector;
	before->end_sector = r.sector + r.bytes / 512;
	put_byte(&packer->columns[COLUMN_CONTROL], control);
}

/* A whole record of this machine's byte order: anything else is kept as it is. */
static size_t record_at(const uint8_t *raw, size_t size)
{
	uint32_t magic;
	size_t bytes;
	bool note;

	if (wire_measure(raw, size, &bytes, &note) != WIRE_OK || bytes > size)
		return 0;
	memcpy(&magic, raw, sizeof(magic));
	return (magic & BT_MAGIC_MASK) == BT_MAGIC ? bytes : 0;
}

/* Bytes up to the next record. */
static size_t bytes_until_record(const uint8_t *raw, size_t size)
{
	size_t at = 1;

	while ((at = wire_resync(raw, size, at)) < size && !record_at(raw + at, size - at))
		at++;
	return at;
}

static size_t join(struct log_packer *packer)
{
	struct log_packed_head head;
	size_t n = sizeof(head);

	for (unsigned i = 0; i < LOG_COLUMNS; i++) {
		const struct column *column = &packer->columns[i];

		head.column_bytes[i] = (uint32_t)column->n;
		memcpy(packer->packed + n, column->bytes, column->n);
		n += column->n;
	}
	memcpy(packer->packed, &head, sizeof(head));
	return n;
}

size_t log_pack(struct log_packer *packer, const uint8_t *raw, size_t size, const uint8_t **ret)
{
	packer->before = (struct before){0};
	for (unsigned i = 0; i < LOG_COLUMNS; i++)
		packer->columns[i].n = 0;
	for (size_t at = 0; at < size;) {
		size_t bytes = record_at(raw + at, size - at);

		if (bytes) {
			put_record(packer, raw + at);
		} else {
			bytes = bytes_until_record(raw + at, size - at);
			put_byte(&packer->columns[COLUMN_CONTROL], CONTROL_BYTES);
			put_number(&packer->columns[COLUMN_SEQUENCE], bytes);
			put(&packer->columns[COLUMN_BYTES], raw + at, bytes);
		}
		at += bytes;
	}
	*ret = packer->packed;
	return join(packer);
}
