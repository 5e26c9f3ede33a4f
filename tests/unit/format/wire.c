/* SPDX-License-Identifier: MIT */
#include "wire.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Writes fields one by one in a chosen byte order: knows nothing of the product's structs. */
struct pen {
	uint8_t bytes[WIRE_RECORD_MAX + 64];
	size_t n;
	bool big;
};

static void put(struct pen *pen, uint64_t value, size_t size)
{
	for (size_t i = 0; i < size; i++) {
		size_t shift = 8 * (pen->big ? size - 1 - i : i);

		pen->bytes[pen->n++] = (uint8_t)(value >> shift);
	}
}

/* A record with recognisable fields. */
static void put_record(struct pen *pen, int protocol, uint64_t action, uint16_t pdu_len)
{
	put(pen, 0x65617400u | (protocol == 1 ? 7 : 8), 4);
	put(pen, 0x01020304, 4);	 /* sequence */
	put(pen, 0x1112131415161718, 8); /* time */
	put(pen, 0x2122232425262728, 8); /* sector */
	put(pen, 0x31323334, 4);	 /* bytes */
	if (protocol == 1)
		put(pen, action, 4);
	put(pen, 0x41424344, 4); /* pid */
	if (protocol == 2)
		put(pen, action, 8);
	put(pen, 259u << 20 | 5, 4);  /* device */
	put(pen, 3, 4);		      /* cpu */
	put(pen, (uint16_t)(-61), 2); /* error */
	put(pen, pdu_len, 2);
	for (int i = 0; protocol == 2 && i < 12; i++)
		put(pen, 0xa5, 1);
}

static void put_text(struct pen *pen, const char *text, size_t size)
{
	memcpy(pen->bytes + pen->n, text, size);
	pen->n += size;
}

static void expect_fields(const struct blkbox_event *event, int protocol, bool swapped)
{
	cr_assert_eq(event->sequence, 0x01020304);
	cr_assert_eq(event->time_ns, 0x1112131415161718);
	cr_assert_eq(event->sector, 0x2122232425262728);
	cr_assert_eq(event->bytes, 0x31323334);
	cr_assert_eq(event->pid, 0x41424344);
	cr_assert_eq(blkbox_device_major(event->device), 259);
	cr_assert_eq(blkbox_device_minor(event->device), 5);
	cr_assert_eq(event->cpu, 3);
	cr_assert_eq(event->error, -61);
	cr_assert_eq(event->protocol, protocol);
	cr_assert_eq(event->swapped, swapped);
}

Test(wire, decodes_both_protocols_in_both_byte_orders)
{
	for (int protocol = 1; protocol <= 2; protocol++) {
		for (int big = 0; big < 2; big++) {
			struct pen pen = {.big = big};
			struct blkbox_event event;
			uint64_t action = 0x00810008;
			size_t size;

			if (protocol == 2)
				action |= 0x40ull << 32; /* write zeroes */
			put_record(&pen, protocol, action, 3);
			put_text(&pen, "pdu", 3);
			cr_assert_eq(wire_decode(pen.bytes, pen.n, &size, &event), WIRE_OK);
			cr_assert_eq(size, pen.n);
			expect_fields(&event, protocol, big);
			cr_assert_eq(event.action, BLKBOX_COMPLETE);
			cr_assert_eq(event.categories,
				     BLKBOX_CAT_COMPLETE | BLKBOX_CAT_READ |
					     (protocol == 2 ? BLKBOX_CAT_WRITE_ZEROES : 0));
			cr_assert_eq(event.cgroup_id, 0);
			cr_assert_eq(event.pdu_bytes, 3);
			cr_assert(!memcmp(event.pdu, "pdu", 3));
			cr_assert(blkbox_event_is_completion(&event));
		}
	}
}

Test(wire, a_cgroup_id_comes_off_the_payload)
{
	for (int protocol = 1; protocol <= 2; protocol++) {
		for (int big = 0; big < 2; big++) {
			struct pen pen = {.big = big};
			struct blkbox_event event;
			size_t size;

			put_record(&pen, protocol, 0x04000102, 8 + 5);
			put(&pen, 0x5152535455565758, 8);
			put_text(&pen, "hello", 5);
			cr_assert_eq(wire_decode(pen.bytes, pen.n, &size, &event), WIRE_OK);
			cr_assert_eq(size, pen.n);
			cr_assert_eq(event.cgroup_id, 0x5152535455565758);
			cr_assert_eq(event.action, BLKBOX_NOTE_MESSAGE);
			cr_assert_eq(event.pdu_bytes, 5);
			cr_assert(!memcmp(event.pdu, "hello", 5));
		}
	}
}

Test(wire, a_payload_without_room_for_its_cgroup_id_is_bad)
{
	for (uint16_t pdu_len = 0; pdu_len < 9; pdu_len++) {
		struct pen pen = {0};
		struct blkbox_event event;
		size_t size = 99;
		bool note;

		put_record(&pen, 1, 0x00110101, pdu_len);
		put(&pen, 1, 8);
		cr_assert_eq(wire_decode(pen.bytes, pen.n, &size, &event),
			     pdu_len < 8 ? WIRE_BAD_RECORD : WIRE_OK);
		cr_assert_eq(wire_measure(pen.bytes, pen.n, &size, &note),
			     pdu_len < 8 ? WIRE_BAD_RECORD : WIRE_OK);
		cr_assert_eq(size, pdu_len < 8 ? 99 : 56);
	}
}

Test(wire, stale_fields_of_notes_come_out_as_zero)
{
	static const uint32_t notes[] = {0x04000000, 0x04000001, 0x04000002};

	for (int i = 0; i < 6; i++) {
		struct pen pen = {0};
		struct blkbox_event event;
		size_t size;

		put_record(&pen, 1 + i / 3, notes[i % 3], 0);
		cr_assert_eq(wire_decode(pen.bytes, pen.n, &size, &event), WIRE_OK);
		cr_assert(blkbox_event_is_note(&event));
		cr_assert_eq(event.sequence, 0);
		cr_assert_eq(event.sector, 0);
		cr_assert_eq(event.bytes, 0);
		cr_assert_eq(event.error, 0);
		cr_assert_eq(event.time_ns, 0x1112131415161718);
		cr_assert_eq(event.pid, 0x41424344);
	}
}

Test(wire, a_cut_at_every_length_is_short_and_has_no_size)
{
	for (int protocol = 1; protocol <= 2; protocol++) {
		for (int cgroup = 0; cgroup < 2; cgroup++) {
			struct pen pen = {.big = cgroup};
			size_t head = protocol == 1 ? 48 : 64;

			put_record(&pen, protocol, cgroup ? 0x04000102 : 0x04000002, 17);
			put(&pen, 7, 8);
			put_text(&pen, "nine char", 9);
			for (size_t n = 0; n < pen.n; n++) {
				/* A copy of its own size, so that a sanitizer sees a read behind
				 * it. */
				uint8_t *cut = malloc(n ? n : 1);
				struct blkbox_event event;
				size_t size = 99;
				bool note = false;

				memcpy(cut, pen.bytes, n);
				cr_assert_eq(wire_decode(cut, n, &size, &event), WIRE_SHORT);
				cr_assert_eq(size, 99);
				cr_assert_eq(wire_measure(cut, n, &size, &note),
					     n < head ? WIRE_SHORT : WIRE_OK);
				cr_assert_eq(size, n < head ? 99 : head + 17);
				cr_assert_eq(note, n >= head);
				cr_assert_eq(wire_plausible(cut, n), n >= head);
				free(cut);
			}
		}
	}
}

Test(wire, the_longest_payload)
{
	struct pen pen = {0};
	struct blkbox_event event;
	size_t size;

	put_record(&pen, 2, 0x00110001, 65535);
	pen.n += 65534;
	cr_assert_eq(wire_decode(pen.bytes, pen.n, &size, &event), WIRE_SHORT);
	pen.n++;
	cr_assert_eq(wire_decode(pen.bytes, pen.n, &size, &event), WIRE_OK);
	cr_assert_eq(size, WIRE_RECORD_MAX);
	cr_assert_eq(event.pdu_bytes, 65535);
}

Test(wire, other_versions_and_magics_are_refused)
{
	for (int big = 0; big < 2; big++) {
		struct pen pen = {.big = big};
		struct blkbox_event event;
		uint8_t *version = &pen.bytes[big ? 3 : 0];
		size_t size;

		put_record(&pen, 1, 0x00110001, 0);
		for (int v = 0; v < 256; v++) {
			enum wire_status expected = v == 7   ? WIRE_OK
						    : v == 8 ? WIRE_SHORT /* 48 bytes of 64 */
							     : WIRE_BAD_VERSION;

			*version = (uint8_t)v;
			cr_assert_eq(wire_decode(pen.bytes, pen.n, &size, &event), expected);
		}
		*version = 7;
		for (int i = 0; i < 4; i++) {
			if (&pen.bytes[i] == version)
				continue;
			pen.bytes[i] ^= 0x40;
			cr_assert_eq(wire_decode(pen.bytes, pen.n, &size, &event), WIRE_BAD_MAGIC);
			pen.bytes[i] ^= 0x40;
		}
	}
}

Test(wire, resync_finds_the_next_head_of_any_kind)
{
	for (int kind = 0; kind < 4; kind++) {
		for (size_t garbage = 0; garbage < 80; garbage++) {
			struct pen pen = {.big = kind / 2};

			/* Everything that looks a little like a magic. */
			for (size_t i = 0; i < garbage; i++)
				pen.bytes[pen.n++] = (uint8_t) "\x07tae\x65\x61\x74\x08"[i % 8] ^
						     (uint8_t)(i / 8 + 1);
			put_record(&pen, 1 + kind % 2, 0x00110001, 100);
			cr_assert_eq(wire_resync(pen.bytes, pen.n, 0), garbage);
			cr_assert_eq(wire_resync(pen.bytes, pen.n, garbage), garbage);
			cr_assert_eq(wire_resync(pen.bytes, pen.n, garbage + 1), pen.n);
			/* Half a head is none. */
			cr_assert_eq(wire_resync(pen.bytes, pen.n - 1, 0), pen.n - 1);
		}
	}
	cr_assert_eq(wire_resync((const uint8_t *)"", 0, 0), 0);
}

Test(wire, odd_payloads_put_the_next_head_at_any_offset)
{
	struct pen pen = {.big = true};
	struct blkbox_event event;
	size_t at = 0;

	for (uint16_t i = 0; i < 40; i++) {
		put_record(&pen, 1 + i % 2, 0x00110001, i);
		pen.n += i;
	}
	for (uint16_t i = 0; i < 40; i++) {
		size_t size;

		cr_assert_eq(wire_decode(pen.bytes + at, pen.n - at, &size, &event), WIRE_OK);
		expect_fields(&event, 1 + i % 2, true);
		cr_assert_eq(event.pdu_bytes, i);
		at += size;
	}
	cr_assert_eq(at, pen.n);
}

Test(wire, what_is_encoded_is_the_record_that_was_decoded)
{
	for (int protocol = 1; protocol <= 2; protocol++) {
		for (int cgroup = 0; cgroup < 2; cgroup++) {
			struct pen pen = {0};
			uint8_t out[WIRE_RECORD_MAX];
			struct blkbox_event event;
			bool lossy = false;
			size_t size;

			put_record(&pen, protocol, cgroup ? 0x00110107 : 0x00110007, 17);
			put(&pen, 0x99, 8);
			put_text(&pen, "nine char", 9);
			cr_assert_eq(wire_decode(pen.bytes, pen.n, &size, &event), WIRE_OK);
			cr_assert_eq(wire_encode(&event, protocol, out, &lossy), (int)pen.n);
			/* The kernel's pad is not part of the record. */
			if (protocol == 2)
				memset(pen.bytes + 52, 0, 12);
			cr_assert(!memcmp(out, pen.bytes, pen.n));
			cr_assert(!lossy);
		}
	}
}

Test(wire, the_other_byte_order_encodes_as_ours)
{
	for (int protocol = 1; protocol <= 2; protocol++) {
		struct pen theirs = {.big = true};
		struct pen ours = {0};
		uint8_t out[WIRE_RECORD_MAX];
		struct blkbox_event event;
		bool lossy = false;
		size_t size;

		/* A remap, whose payload is big endian on every machine, with a cgroup id. */
		for (int i = 0; i < 2; i++) {
			struct pen *pen = i ? &ours : &theirs;
			bool big = pen->big;

			put_record(pen, protocol, 0x0011010f, 24);
			put(pen, 0x1234, 8);
			pen->big = true;
			put(pen, 8u << 20 | 1, 4);
			put(pen, 8u << 20, 4);
			put(pen, 2048, 8);
			pen->big = big;
		}
		cr_assert_eq(wire_decode(theirs.bytes, theirs.n, &size, &event), WIRE_OK);
		cr_assert_eq(wire_encode(&event, protocol, out, &lossy), (int)ours.n);
		if (protocol == 2)
			memset(ours.bytes + 52, 0, 12);
		cr_assert(!memcmp(out, ours.bytes, ours.n));
	}
}

Test(wire, a_timestamp_of_the_other_byte_order_is_swapped)
{
	struct pen theirs = {.big = true};
	uint8_t out[WIRE_RECORD_MAX];
	struct blkbox_event event;
	uint64_t real_ns;
	bool lossy = false;
	size_t size;

	put_record(&theirs, 1, 0x04000001, 8);
	put(&theirs, 1700000000, 4);
	put(&theirs, 123456789, 4);
	cr_assert_eq(wire_decode(theirs.bytes, theirs.n, &size, &event), WIRE_OK);
	cr_assert(wire_pdu_timestamp(&event, &real_ns));
	cr_assert_eq(real_ns, 1700000000123456789);
	cr_assert_eq(wire_encode(&event, 2, out, &lossy), 72);
	cr_assert_eq(wire_decode(out, 72, &size, &event), WIRE_OK);
	cr_assert(!event.swapped);
	cr_assert(wire_pdu_timestamp(&event, &real_ns));
	cr_assert_eq(real_ns, 1700000000123456789);
}

Test(wire, v2_as_v1_says_what_it_loses)
{
	struct {
		uint64_t action; /* v2 */
		int result;
		uint32_t v1_action;
		bool lossy;
	} cases[] = {
		{0x0000000000020007, 48, 0x00020007, false}, /* write */
		{0x0000000080020007, 48, 0x80020007, false}, /* FUA has a bit in v1 */
		{0x0000004000420007, 48, 0x00420007, true},  /* write zeroes */
		{0x0000000100820008, 48, 0x00820008, true},  /* zone append, completed */
		{0x0000000100020008, -EOPNOTSUPP, 0, false}, /* its final sector */
		{0x0000000200420007, 48, 0x00420007, true},  /* zone reset */
		{0x0000000000100012, -EOPNOTSUPP, 0, false}, /* zone plug */
		{0x0000000000100013, -EOPNOTSUPP, 0, false}, /* zone unplug */
		{0x0000000004000002, 48, 0x04000002, false}, /* message */
		{0x0000000000100077, 48, 0x00100077, false}, /* an unknown action */
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct pen pen = {0};
		uint8_t out[WIRE_RECORD_MAX];
		struct blkbox_event event;
		uint32_t action;
		bool lossy = false;
		size_t size;

		put_record(&pen, 2, cases[i].action, 0);
		cr_assert_eq(wire_decode(pen.bytes, pen.n, &size, &event), WIRE_OK);
		cr_assert_eq(wire_encode(&event, 1, out, &lossy), cases[i].result, "case %zu", i);
		cr_assert_eq(lossy, cases[i].lossy, "case %zu", i);
		if (cases[i].result < 0)
			continue;
		memcpy(&action, out + 28, 4);
		cr_assert_eq(action, cases[i].v1_action, "case %zu: %x", i, action);
		lossy = true;
		cr_assert_eq(wire_encode(&event, 1, out, &lossy), 48);
		cr_assert(lossy, "what was lossy before stays so");
	}
}

Test(wire, a_payload_that_does_not_fit_behind_a_cgroup_id_is_refused)
{
	static uint8_t payload[65535];
	static uint8_t out[WIRE_RECORD_MAX];
	struct blkbox_event event = {.pdu = payload, .pdu_bytes = 65535 - 8, .cgroup_id = 1};
	bool lossy = false;

	cr_assert_eq(wire_encode(&event, 2, out, &lossy), WIRE_RECORD_MAX);
	event.pdu_bytes++;
	cr_assert_eq(wire_encode(&event, 2, out, &lossy), -EOPNOTSUPP);
	event.cgroup_id = 0;
	cr_assert_eq(wire_encode(&event, 2, out, &lossy), 64 + 65535 - 7);
}

Test(wire, payload_readers_check_lengths)
{
	static const uint8_t pdu[] = {0x00, 0x80, 0x00, 0x01, 0x00, 0x80, 0x00, 0x00,
				      0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x08, 0x00};
	struct blkbox_event event = {.pdu = pdu};
	uint32_t from = 0;
	uint32_t to = 0;
	uint64_t sector = 0;
	uint64_t value = 0;
	uint64_t real_ns = 0;

	for (uint16_t n = 0; n <= 16; n++) {
		event.pdu_bytes = n;
		cr_assert_eq(wire_pdu_remap(&event, &from, &to, &sector), n >= 16);
		cr_assert_eq(wire_pdu_u64(&event, &value), n >= 8);
		cr_assert_eq(wire_pdu_timestamp(&event, &real_ns), n >= 8);
	}
	cr_assert_eq(from, 8u << 20 | 1);
	cr_assert_eq(to, 8u << 20);
	cr_assert_eq(sector, 2048);
	cr_assert_eq(value, 0x0080000100800000);
	cr_assert_eq(real_ns, 0x01008000ull * 1000000000 + 0x00008000);
}

Test(wire, a_process_name_always_ends)
{
	struct blkbox_event event = {.pdu = (const uint8_t *)"sixteen chars ab and more"};
	char comm[17];

	event.pdu_bytes = 25;
	wire_pdu_comm(&event, comm);
	cr_assert_str_eq(comm, "sixteen chars ab");
	event.pdu_bytes = 3;
	wire_pdu_comm(&event, comm);
	cr_assert_str_eq(comm, "six");
	event.pdu_bytes = 0;
	event.pdu = NULL;
	wire_pdu_comm(&event, comm);
	cr_assert_str_eq(comm, "");
}

Test(wire, random_bytes_never_overrun)
{
	srand(11);
	for (int round = 0; round < 200000; round++) {
		size_t n = (size_t)rand() % 120;
		uint8_t *bytes = malloc(n ? n : 1);
		struct blkbox_event event;
		uint8_t sum = 0;
		size_t size;

		for (size_t i = 0; i < n; i++)
			bytes[i] = (uint8_t)rand();
		if (n >= 4)
			memcpy(bytes, rand() % 2 ? "\x07tae" : "eat\x08", 4);
		if (wire_decode(bytes, n, &size, &event) == WIRE_OK) {
			cr_assert_leq(size, n);
			for (size_t i = 0; i < event.pdu_bytes; i++)
				sum ^= event.pdu[i];
		}
		wire_resync(bytes, n, n ? (size_t)rand() % n : sum & 0);
		free(bytes);
	}
}
