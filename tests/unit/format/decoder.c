/* SPDX-License-Identifier: MIT */
#include "decoder.h"

#include "../trace_builder.h"
#include "blktrace.h"

#include <criterion/criterion.h>
#include <string.h>

/* A source that hands out a buffer in pieces of a given size. */
struct pieces {
	struct source source;
	const uint8_t *bytes;
	uint8_t *copy; /* of the piece: what is lent must not be read later */
	size_t size, at, step;
	size_t gap_at; /* bytes are missing in front of this place; SIZE_MAX = nowhere */
};

static int pieces_next(struct source *source, struct span *ret, struct why *why)
{
	struct pieces *p = (struct pieces *)source;
	size_t n = p->size - p->at < p->step ? p->size - p->at : p->step;
	uint64_t missing = 0;

	(void)why;
	free(p->copy);
	p->copy = NULL;
	if (!n)
		return 0;
	if (p->at < p->gap_at && p->at + n > p->gap_at)
		n = p->gap_at - p->at;
	if (p->at == p->gap_at)
		missing = 100;
	p->copy = malloc(n);
	memcpy(p->copy, p->bytes + p->at, n);
	*ret = (struct span){p->copy, n, p->at, missing};
	p->at += n;
	return 1;
}

static void pieces_destroy(struct source *source)
{
	free(((struct pieces *)source)->copy);
	free(source);
}

static const struct source_ops pieces_ops = {.next = pieces_next, .destroy = pieces_destroy};

static struct decoder *decode(const struct trace *trace, size_t size, size_t step, size_t gap_at)
{
	struct pieces *p = calloc(1, sizeof(*p));
	struct decoder *decoder;

	*p = (struct pieces){{&pieces_ops}, trace->bytes, NULL, size, 0, step, gap_at};
	cr_assert_eq(decoder_adopt_create(&p->source, &decoder), 0);
	return decoder;
}

/* Reads all; the sum of the sectors shows which events came. */
static size_t read_all(struct decoder *decoder, uint64_t *ret_sectors)
{
	struct blkbox_event event;
	size_t n = 0;
	int r;

	*ret_sectors = 0;
	while ((r = decoder_next(decoder, &event, NULL)) == 1) {
		n++;
		*ret_sectors += event.sector;
		for (uint16_t i = 0; i < event.pdu_bytes; i++)
			*ret_sectors += event.pdu[i];
	}
	cr_assert_eq(r, 0);
	return n;
}

static void sample(struct trace *t)
{
	uint8_t blob[700] = {1, 2, 3};

	TRACE(t, .act = 't', .sector = 1000, .t = 1);
	TRACE(t, .act = 'n', .text = "sixteen letters!", .pid = 7, .t = 2);
	TRACE(t, .act = 'Q', .rwbs = "W", .sector = 8, .bytes = 4096, .pid = 7, .t = 3);
	TRACE(t, .act = 'm', .text = "seventeen letters", .cgroup = 1, .t = 4);
	TRACE(t, .act = 'D', .rwbs = "W", .sector = 8, .bytes = 4096, .protocol = 2, .t = 5);
	TRACE(t, .act = 'U', .number = 3, .swapped = true, .t = 6);
	TRACE(t, .act = 'O', .code = 17, .pdu = blob, .pdu_bytes = sizeof(blob), .t = 7);
	TRACE(t, .act = 'C', .rwbs = "W", .sector = 8, .bytes = 4096, .protocol = 2,
	      .swapped = true, .t = 8);
}

Test(decoder, spans_may_cut_records_anywhere)
{
	struct trace t = {0};
	uint64_t whole, sectors;
	struct decoder *d;

	sample(&t);
	d = decode(&t, t.n, t.n, SIZE_MAX);
	cr_assert_eq(read_all(d, &whole), 8);
	decoder_destroy(d);
	for (size_t step = 1; step < 400; step++) {
		d = decode(&t, t.n, step, SIZE_MAX);
		cr_assert_eq(read_all(d, &sectors), 8, "step %zu", step);
		cr_assert_eq(sectors, whole, "step %zu", step);
		cr_assert(decoder_health_is_whole(decoder_health(d)));
		cr_assert_eq(decoder_health(d)->good_bytes, t.n);
		cr_assert_eq(decoder_health(d)->notes, 3);
		cr_assert_eq(decoder_health(d)->events, 5);
		decoder_destroy(d);
	}
	trace_free(&t);
}

Test(decoder, a_cut_file_gives_whole_records_and_the_place_of_the_cut)
{
	struct trace t = {0};
	size_t ends[9] = {0}, n = 0;
	uint64_t sum;

	for (size_t i = 0; i < 3; i++) {
		TRACE(&t, .act = 'Q', .rwbs = "R", .sector = 1, .bytes = 512);
		ends[++n] = t.n;
		TRACE(&t, .act = 'm', .text = "text");
		ends[++n] = t.n;
	}
	for (size_t cut = 0; cut <= t.n; cut++) {
		for (size_t step = 1; step <= t.n; step += t.n - 1) {
			struct decoder *d = decode(&t, cut, step, SIZE_MAX);
			const struct decoder_health *h = decoder_health(d);
			size_t whole = 0;

			while (whole < n && ends[whole + 1] <= cut)
				whole++;
			cr_assert_eq(read_all(d, &sum), whole, "cut at %zu", cut);
			cr_assert_eq(h->cut_bytes, cut - ends[whole], "cut at %zu", cut);
			if (h->cut_bytes)
				cr_assert_eq(h->cut_offset, ends[whole]);
			cr_assert_eq(h->skips, 0);
			decoder_destroy(d);
		}
	}
	trace_free(&t);
}

Test(decoder, finds_the_next_record_behind_rubbish)
{
	for (size_t step = 1; step < 300; step += 7) {
		struct trace t = {0};
		struct decoder *d;
		const struct decoder_health *h;
		uint64_t sum;

		TRACE(&t, .act = 'Q', .rwbs = "R", .sector = 1);
		trace_bytes(&t, "some rubbish e in between", 25);
		TRACE(&t, .act = 'Q', .rwbs = "R", .sector = 10, .protocol = 2);
		trace_bytes(&t, "\0\0\0", 3);
		TRACE(&t, .act = 'Q', .rwbs = "R", .sector = 100);
		d = decode(&t, t.n, step, SIZE_MAX);
		h = decoder_health(d);
		cr_assert_eq(read_all(d, &sum), 3, "step %zu", step);
		cr_assert_eq(sum, 111);
		cr_assert_eq(h->skips, 2);
		cr_assert_eq(h->skipped_bytes, 28);
		cr_assert_eq(h->first_skip_offset, 48);
		cr_assert_eq(h->good_bytes + h->skipped_bytes, t.n);
		decoder_destroy(d);
		trace_free(&t);
	}
}

/* LOSS-READER-PINNING: a head that is half old, half new. */
Test(decoder, a_torn_head_does_not_swallow_what_follows)
{
	struct trace t = {0};
	struct bt_record1 *head;
	struct decoder *d;
	uint64_t sum;

	for (uint64_t i = 0; i < 20; i++)
		TRACE(&t, .act = 'Q', .rwbs = "R", .sector = 1);
	head = (struct bt_record1 *)(t.bytes + 5 * sizeof(*head));
	head->pdu_len = 331; /* reaches into later records */
	d = decode(&t, t.n, 100, SIZE_MAX);
	cr_assert_eq(read_all(d, &sum), 19);
	cr_assert_eq(decoder_health(d)->skips, 1);
	cr_assert_eq(decoder_health(d)->skipped_bytes, 48);
	cr_assert_eq(decoder_health(d)->first_skip_offset, 5 * 48);
	decoder_destroy(d);

	head->pdu_len = 96; /* exactly two records */
	d = decode(&t, t.n, t.n, SIZE_MAX);
	cr_assert_eq(read_all(d, &sum), 19);
	decoder_destroy(d);
	trace_free(&t);
}

Test(decoder, a_payload_that_claims_more_than_the_file_has)
{
	struct trace t = {0};
	struct bt_record1 *head;
	struct decoder *d;
	uint64_t sum;

	for (uint64_t i = 0; i < 4; i++)
		TRACE(&t, .act = 'Q', .rwbs = "R", .sector = 1);
	head = (struct bt_record1 *)(t.bytes + sizeof(*head));
	head->pdu_len = 65535;
	d = decode(&t, t.n, 64, SIZE_MAX);
	cr_assert_eq(read_all(d, &sum), 3);
	cr_assert_eq(decoder_health(d)->skipped_bytes, 48);
	decoder_destroy(d);

	head = (struct bt_record1 *)(t.bytes + 3 * sizeof(*head));
	((struct bt_record1 *)t.bytes)[1].pdu_len = 0;
	head->pdu_len = 65535;
	d = decode(&t, t.n, 64, SIZE_MAX);
	cr_assert_eq(read_all(d, &sum), 3);
	cr_assert_eq(decoder_health(d)->cut_bytes, 48);
	cr_assert_eq(decoder_health(d)->cut_offset, 3 * 48);
	decoder_destroy(d);
	trace_free(&t);
}

/* FMT-V8 */
Test(decoder, other_versions_are_told_with_their_place)
{
	struct trace t = {0};
	struct decoder *d;
	const struct decoder_health *h;
	uint64_t sum;

	TRACE(&t, .act = 'Q', .rwbs = "R", .sector = 1);
	TRACE(&t, .act = 'Q', .rwbs = "R", .sector = 10);
	t.bytes[48] = 9;
	TRACE(&t, .act = 'Q', .rwbs = "R", .sector = 100, .protocol = 2);
	TRACE(&t, .act = 'Q', .rwbs = "R", .sector = 1000);
	t.bytes[48 + 48 + 64] = 6;
	d = decode(&t, t.n, 32, SIZE_MAX);
	h = decoder_health(d);
	cr_assert_eq(read_all(d, &sum), 2);
	cr_assert_eq(sum, 101);
	cr_assert_eq(h->unknown_versions, 2);
	cr_assert_eq(h->first_unknown_offset, 48);
	cr_assert_eq(h->first_unknown_version, 9);
	decoder_destroy(d);
	trace_free(&t);
}

Test(decoder, missing_bytes_end_the_record_in_front_of_them)
{
	for (size_t gap = 1; gap < 4 * 48; gap++) {
		struct trace t = {0};
		struct decoder *d;
		const struct decoder_health *h;
		uint64_t sum;

		for (uint64_t i = 0; i < 4; i++)
			TRACE(&t, .act = 'Q', .rwbs = "R", .sector = 1);
		d = decode(&t, t.n, 100, gap);
		h = decoder_health(d);
		cr_assert_eq(read_all(d, &sum), gap % 48 ? 3 : 4, "gap at %zu", gap);
		cr_assert_eq(h->gaps, 1);
		cr_assert_eq(h->missing_bytes, 100);
		cr_assert_eq(h->good_bytes + h->skipped_bytes + h->cut_bytes, t.n, "gap at %zu",
			     gap);
		decoder_destroy(d);
		trace_free(&t);
	}
}

Test(decoder, a_queue_gives_what_is_there_and_waits)
{
	struct trace t = {0};
	struct blkbox_event event;
	struct decoder *d;
	struct source *queue;

	TRACE(&t, .act = 'Q', .rwbs = "R", .sector = 1);
	TRACE(&t, .act = 'm', .text = "note");
	cr_assert_eq(source_queue_create(&queue), 0);
	cr_assert_eq(decoder_adopt_create(queue, &d), 0);
	cr_assert_eq(decoder_next(d, &event, NULL), -EAGAIN);
	for (size_t i = 0; i < t.n; i++) {
		cr_assert_eq(source_queue_append(queue, t.bytes + i, 1), 0);
		cr_assert_eq(decoder_next(d, &event, NULL), i == 47 || i == t.n - 1 ? 1 : -EAGAIN);
	}
	cr_assert_eq(memcmp(event.pdu, "note", 4), 0);
	source_queue_end(queue);
	cr_assert_eq(decoder_next(d, &event, NULL), 0);
	decoder_destroy(d);
	trace_free(&t);
}
