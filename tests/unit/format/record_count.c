/* SPDX-License-Identifier: MIT */
#include "record_count.h"

#include "blktrace.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

static size_t put1(uint8_t *out, uint32_t action, uint16_t pdu_len)
{
	struct bt_record1 r = {.magic = BT_MAGIC | 7, .action = action, .pdu_len = pdu_len};

	memcpy(out, &r, sizeof(r));
	memset(out + sizeof(r), 'p', pdu_len);
	return sizeof(r) + pdu_len;
}

static size_t put2(uint8_t *out, uint64_t action, uint16_t pdu_len)
{
	struct bt_record2 r = {.magic = BT_MAGIC | 8, .action = action, .pdu_len = pdu_len};

	memcpy(out, &r, sizeof(r));
	memset(out + sizeof(r), 'p', pdu_len);
	return sizeof(r) + pdu_len;
}

/* 2 notes, 4 events, 70 bytes of garbage, and the beginning of an event. */
static size_t make_stream(uint8_t *out)
{
	uint8_t *at = out;

	at += put2(at, 0x4000000, 16);
	at += put1(at, 0x00410007, 0);
	at += put2(at, 0x00420008, 17);
	memset(at, 0x65, 6);
	at += 6;
	/* The head of a note that says of itself that it can't be; 48 bytes in, an event. */
	at += put2(at, 0x4000102, 3) - 3;
	at += put1(at, 0x00410007, 300);
	at += put1(at, 0x4000002, 1);
	at += put2(at, 0x00410007, 0);
	at += put2(at, 0x00410007, 0) - 1;
	return (size_t)(at - out);
}

Test(record_count, does_not_depend_on_where_the_pieces_end)
{
	uint8_t bytes[2048];
	size_t size = make_stream(bytes);

	srand(1);
	for (int round = 0; round < 20000; round++) {
		struct record_count count = {0};
		size_t most = round < 200 ? (size_t)round + 1 : (size_t)(rand() % 150) + 1;

		for (size_t at = 0; at < size;) {
			size_t n = round < 200 ? most : (size_t)rand() % most + 1;

			n = n < size - at ? n : size - at;
			record_count_feed(&count, bytes + at, n);
			at += n;
		}
		cr_assert_eq(count.events, 4, "round %d: %lu", round, count.events);
		cr_assert_eq(count.notes, 2, "round %d: %lu", round, count.notes);
		cr_assert_eq(count.garbage_bytes, 70, "round %d: %lu", round, count.garbage_bytes);
	}
}

Test(record_count, finds_a_record_inside_of_a_false_head)
{
	uint8_t bytes[200];
	size_t size;

	/* A v2 head that contradicts itself, with a whole v1 record inside. */
	memset(bytes, 0, sizeof(bytes));
	put2(bytes, 0, 0);
	size = 8 + put1(bytes + 8, 0x00410007, 0);
	bytes[33] = 0x01; /* v2's action: with a cgroup id, but no payload; v1's bytes */
	size += put1(bytes + size, 0x00410007, 0);
	for (size_t cut = 1; cut < size; cut++) {
		struct record_count count = {0};

		record_count_feed(&count, bytes, cut);
		record_count_feed(&count, bytes + cut, size - cut);
		cr_assert_eq(count.events + count.notes, 2, "cut %zu: %lu", cut, count.events);
		cr_assert_eq(count.garbage_bytes, 8, "cut %zu: %lu", cut, count.garbage_bytes);
	}
}

Test(record_count, a_gap_ends_the_record_before_it)
{
	uint8_t bytes[200];
	struct record_count count = {0};

	put1(bytes, 0x00410007, 100);
	record_count_feed(&count, bytes, 60);
	record_count_gap(&count);
	put1(bytes, 0x00410007, 0);
	record_count_feed(&count, bytes, 48);
	cr_assert_eq(count.events, 2);
	cr_assert_eq(count.garbage_bytes, 0);
}
