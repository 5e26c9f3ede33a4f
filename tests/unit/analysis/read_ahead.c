/* SPDX-License-Identifier: MIT */
#include "read_ahead.h"

#include "../trace_builder.h"

#include <criterion/criterion.h>
#include <string.h>

enum {
	EVENTS = 5000 /* more than all batches hold */
};

/* Gives the bytes of a trace, and then an error. */
struct broken_source {
	struct source source;
	struct trace *trace;
	bool given;
};

static int broken_next(struct source *source, struct span *ret, struct why *why)
{
	struct broken_source *broken = (struct broken_source *)source;

	if (broken->given)
		return why_set(why, -EIO, "the disk is on fire");
	broken->given = true;
	*ret = (struct span){.bytes = broken->trace->bytes, .size = broken->trace->n};
	return 1;
}

static void broken_destroy(struct source *source)
{
	free(source);
}

static const struct source_ops broken_ops = {.next = broken_next, .destroy = broken_destroy};

static struct merge *merge_of(struct source *source)
{
	const struct merge_channel channel = {.only_cpu = MERGE_ALL_CPUS, .tag = 7};
	struct decoder *decoder;
	struct merge *merge;

	cr_assert_eq(merge_create(&merge), 0);
	cr_assert_eq(decoder_adopt_create(source, &decoder), 0);
	cr_assert_eq(merge_adopt(merge, decoder, &channel), 0);
	return merge;
}

static void fill(struct trace *t, size_t text_bytes)
{
	char *text = malloc(text_bytes + 1);

	for (int i = 0; i < EVENTS; i++) {
		memset(text, 'a' + i % 26, text_bytes);
		text[text_bytes] = '\0';
		TRACE(t, .act = 'm', .t = i, .text = text);
	}
	free(text);
}

static void expect_events(struct read_ahead *ahead, int from, int to, size_t text_bytes)
{
	for (int i = from; i < to; i++) {
		struct merge_item item;

		cr_assert_eq(read_ahead_next(ahead, &item, NULL), 1, "event %d", i);
		cr_assert_eq(item.event.time_ns, i * 1000, "event %d", i);
		cr_assert_eq(item.tag, 7);
		cr_assert_eq(item.event.pdu_bytes, text_bytes);
		for (size_t at = 0; at < text_bytes; at++)
			cr_assert_eq(item.event.pdu[at], 'a' + i % 26, "event %d", i);
	}
}

Test(read_ahead, all_events_come_in_order_with_their_payloads_and_then_the_end)
{
	/* The last is as long as a message gets: it fills a batch's room before its events do. */
	const size_t lengths[] = {1, 24, 127, 60000};

	for (int i = 0; i < 4; i++) {
		struct read_ahead *ahead;
		struct source *source;
		struct merge_item item;
		struct trace t = {0};

		fill(&t, lengths[i]);
		cr_assert_eq(source_queue_create(&source), 0);
		cr_assert_eq(source_queue_append(source, t.bytes, t.n), 0);
		source_queue_end(source);
		cr_assert_eq(read_ahead_adopt_start(merge_of(source), &ahead), 0);
		expect_events(ahead, 0, EVENTS, lengths[i]);
		cr_assert_eq(read_ahead_next(ahead, &item, NULL), 0);
		read_ahead_stop(ahead);
		trace_free(&t);
	}
}

Test(read_ahead, an_error_comes_behind_the_events_in_front_of_it)
{
	struct broken_source *broken = malloc(sizeof(*broken));
	struct read_ahead *ahead;
	struct merge_item item;
	struct why why = {""};
	struct trace t = {0};

	fill(&t, 3);
	*broken = (struct broken_source){.source.ops = &broken_ops, .trace = &t};
	cr_assert_eq(read_ahead_adopt_start(merge_of(&broken->source), &ahead), 0);
	expect_events(ahead, 0, EVENTS, 3);
	cr_assert_eq(read_ahead_next(ahead, &item, &why), -EIO);
	cr_assert_str_eq(why.text, "the disk is on fire");
	read_ahead_stop(ahead);
	trace_free(&t);
}

Test(read_ahead, it_stops_wherever_it_is)
{
	const int stops[] = {0, 1, 511, 512, 513, EVENTS};
	struct trace t = {0};

	fill(&t, 3);
	for (int i = 0; i < 6; i++) {
		struct read_ahead *ahead;
		struct source *source;

		cr_assert_eq(source_queue_create(&source), 0);
		cr_assert_eq(source_queue_append(source, t.bytes, t.n), 0);
		source_queue_end(source);
		cr_assert_eq(read_ahead_adopt_start(merge_of(source), &ahead), 0);
		expect_events(ahead, 0, stops[i], 3);
		read_ahead_stop(ahead);
	}
	read_ahead_stop(NULL);
	trace_free(&t);
}
