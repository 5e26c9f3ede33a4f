/* SPDX-License-Identifier: MIT */
#include "log_pack.h"

#include "../trace_builder.h"

#include <criterion/criterion.h>
#include <string.h>

enum {
	MOST = 256 << 10
};

/* Packs, and expects the same bytes back. Returns the packed size. */
static size_t round_trip(const uint8_t *raw, size_t size)
{
	struct log_packer *packer;
	const uint8_t *packed;
	/* Of its own size, so that a sanitizer sees a write behind it. */
	uint8_t *back = malloc(size ? size : 1);
	size_t n;

	cr_assert_eq(log_packer_create(MOST, &packer), 0);
	n = log_pack(packer, raw, size, &packed);
	cr_assert(log_unpack(packed, n, back, size));
	cr_assert_eq(memcmp(back, raw, size), 0);
	/* The second block knows nothing of the first. */
	cr_assert_eq(log_pack(packer, raw, size, &packed), n);
	cr_assert(log_unpack(packed, n, back, size));
	cr_assert_eq(memcmp(back, raw, size), 0);
	log_packer_destroy(packer);
	free(back);
	return n;
}

/* Lives of I/Os as a disk has them, in either protocol. */
static void add_ios(struct trace *t, int protocol, int n)
{
	static const char acts[] = {'Q', 'G', 'D', 'C'};

	for (int i = 0; i < n; i++) {
		for (int a = 0; a < 4; a++) {
			TRACE(t, .protocol = protocol, .act = acts[a], .rwbs = i % 3 ? "R" : "WS",
			      .t = 10 * i + a, .sector = i * 7919 % 100000, .bytes = 4096,
			      .pid = 100 + i % 5, .cgroup = i % 2 ? 4711 : 0);
		}
		if (i % 16 == 0)
			TRACE(t, .protocol = protocol, .act = 'U', .t = 10 * i + 5, .number = i);
		if (i % 50 == 0)
			TRACE(t, .protocol = protocol, .act = 'm', .t = 10 * i + 6,
			      .text = "a message");
	}
}

Test(log_pack, records_of_both_protocols_come_back_and_take_little)
{
	for (int protocol = 1; protocol <= 2; protocol++) {
		struct trace t = {0};

		add_ios(&t, protocol, 800);
		cr_assert_lt(round_trip(t.bytes, t.n), t.n / 4);
		trace_free(&t);
	}
}

Test(log_pack, fields_may_have_any_value)
{
	const uint64_t values[] = {
		0, 1, 255, 1 << 20, UINT32_MAX, UINT64_MAX, UINT64_MAX >> 1, UINT64_C(1) << 63};
	struct trace t = {0};

	for (int protocol = 1; protocol <= 2; protocol++) {
		for (int i = 0; i < 8; i++) {
			uint64_t v = values[i];

			TRACE(&t, .protocol = protocol, .act = 'Q', .ns = v, .sector = v,
			      .bytes = (uint32_t)v, .pid = (uint32_t)v, .cpu = (uint32_t)v,
			      .device = (uint32_t)v | 1, .sequence = (uint32_t)v,
			      .error = (int16_t)v, .cgroup = v);
			round_trip(t.bytes, t.n);
		}
	}
	trace_free(&t);
}

Test(log_pack, a_block_may_begin_and_end_anywhere)
{
	struct trace t = {0};

	add_ios(&t, 1, 3);
	add_ios(&t, 2, 3);
	for (size_t from = 0; from < t.n; from += 3) {
		for (size_t to = from; to <= t.n; to += 7)
			round_trip(t.bytes + from, to - from);
	}
	trace_free(&t);
}

Test(log_pack, what_is_no_record_comes_back)
{
	static uint8_t noise[MOST];
	struct trace t = {0};
	uint32_t state = 1;

	/* As many records as there can be, with a byte between each two. */
	for (int i = 0; i < 2000; i++) {
		TRACE(&t, .act = 'P', .t = i);
		trace_bytes(&t, "?", 1);
	}
	TRACE(&t, .act = 'Q', .swapped = true, .sector = 8, .bytes = 512);
	round_trip(t.bytes, t.n);
	for (size_t i = 0; i < sizeof(noise); i++)
		noise[i] = (uint8_t)((state = state * 1664525 + 1013904223) >> 24);
	round_trip(noise, sizeof(noise));
	/* Heads everywhere, none of them whole. */
	for (size_t i = 0; i < 4096; i++)
		noise[i] = "\x07tae"[i % 4];
	round_trip(noise, 4096);
	trace_free(&t);
}

Test(log_pack, hand_made_columns_are_the_record_that_they_say)
{
	/* Bytes by column: control, shape, a new shape, origin, a new one, time, the new sector. */
	/* clang-format off */
	static const uint8_t packed[] = {
		2, 0, 0, 0, 2, 0, 0, 0, 24, 0, 0, 0, 2, 0, 0, 0, 8, 0, 0, 0, 4, 0, 0, 0, 0, 0,
		0, 0, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
		0x0f, 0x01,
		9, 9,
		1, 0, 0x11, 0, 0, 0, 0, 0, 0x07, 't', 'a', 'e', 1, 0, 0x80, 0, 3, 0, 0, 0, 0, 0, 0, 0,
		200, 200,
		77, 0, 0, 0, 0, 16, 0, 0,
		0xd0, 0x0f, 0xc8, 0x01,
		5, 0xd0, 0x0f,
	};
	/* clang-format on */
	struct trace t = {0};
	uint8_t raw[96];

	TRACE(&t, .act = 'Q', .rwbs = "R", .ns = 1000, .sector = 1000, .bytes = 4096, .pid = 77,
	      .device = 8 << 20 | 1, .cpu = 3);
	TRACE(&t, .act = 'Q', .rwbs = "R", .ns = 1100, .sector = 1008, .bytes = 4096, .pid = 77,
	      .device = 8 << 20 | 1, .cpu = 3);
	cr_assert_eq(t.n, 96);
	cr_assert(log_unpack(packed, sizeof(packed), raw, sizeof(raw)));
	for (size_t i = 0; i < 96; i++)
		cr_expect_eq(raw[i], t.bytes[i], "byte %zu: %02x, not %02x", i, raw[i], t.bytes[i]);
	trace_free(&t);
}

Test(log_pack, damaged_columns_are_refused_or_give_as_many_bytes)
{
	struct log_packer *packer;
	const uint8_t *packed;
	struct trace t = {0};
	uint8_t *raw, *copy;
	size_t n;

	add_ios(&t, 1, 20);
	add_ios(&t, 2, 20);
	cr_assert_eq(log_packer_create(MOST, &packer), 0);
	n = log_pack(packer, t.bytes, t.n, &packed);
	raw = malloc(t.n);
	for (size_t cut = 0; cut < n; cut++) {
		copy = malloc(cut ? cut : 1);
		memcpy(copy, packed, cut);
		cr_assert_not(log_unpack(copy, cut, raw, t.n), "cut at %zu", cut);
		free(copy);
	}
	copy = malloc(n);
	for (size_t bit = 0; bit < 8 * n; bit++) {
		memcpy(copy, packed, n);
		copy[bit / 8] ^= 1 << bit % 8;
		/* Nothing is written behind the end, nothing is read behind it. */
		log_unpack(copy, n, raw, t.n);
	}
	cr_assert_not(log_unpack(packed, n, raw, t.n - 1));
	free(copy);
	free(raw);
	log_packer_destroy(packer);
	trace_free(&t);
}
