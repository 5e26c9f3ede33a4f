/* SPDX-License-Identifier: MIT */
#include "source_ftrace.h"

#include "decoder.h"
#include "page_builder.h"

#include <criterion/criterion.h>
#include <string.h>

static const struct ftrace_facts facts1 = {{16, 4080, 8}, TYPE_ID, 1};
static const struct ftrace_facts facts2 = {{16, 4080, 8}, TYPE_ID, 2};

/* A source that hands out a buffer in pieces. */
struct pieces {
	struct source source;
	const uint8_t *bytes;
	size_t size, at, step;
	size_t gap_at, gap; /* @gap bytes are missing in front of this place */
};

static int pieces_next(struct source *source, struct span *ret, struct why *why)
{
	struct pieces *p = (struct pieces *)source;
	size_t n = p->size - p->at < p->step ? p->size - p->at : p->step;
	uint64_t missing = 0, offset = p->at;

	(void)why;
	if (!n)
		return 0;
	if (p->gap && p->at < p->gap_at && p->at + n > p->gap_at)
		n = p->gap_at - p->at;
	if (p->gap && p->at == p->gap_at)
		missing = p->gap;
	if (p->gap && p->at >= p->gap_at)
		offset += p->gap;
	*ret = (struct span){p->bytes + p->at, n, offset, missing};
	p->at += n;
	return 1;
}

static void pieces_destroy(struct source *source)
{
	free(source);
}

static const struct source_ops pieces_ops = {.next = pieces_next, .destroy = pieces_destroy};

struct reading {
	struct source *source;
	struct decoder *decoder;
};

static struct reading read_pages_of(size_t n_devices, const struct ftrace_facts *facts,
				    const void *bytes, size_t size, size_t step, size_t gap_at,
				    size_t gap)
{
	struct pieces *p = calloc(1, sizeof(*p));
	const uint32_t devices[] = {SDA, 7 << 20};
	struct reading reading;

	*p = (struct pieces){{&pieces_ops}, bytes, size, 0, step, gap_at, gap};
	cr_assert_eq(source_ftrace_adopt_create(&p->source, facts, devices, n_devices,
						&reading.source),
		     0);
	cr_assert_eq(decoder_adopt_create(reading.source, &reading.decoder), 0);
	return reading;
}

static struct reading read_pages(const struct ftrace_facts *facts, const void *bytes, size_t size,
				 size_t step, size_t gap_at, size_t gap)
{
	return read_pages_of(2, facts, bytes, size, step, gap_at, gap);
}

static void expect(struct reading *reading, uint64_t time_ns, uint32_t sequence, uint64_t sector)
{
	struct blkbox_event event;

	cr_assert_eq(decoder_next(reading->decoder, &event, NULL), 1);
	cr_expect_eq(event.time_ns, time_ns);
	cr_expect_eq(event.sequence, sequence);
	cr_expect_eq(event.sector, sector);
	cr_expect_eq(event.device, SDA);
	cr_expect_eq(event.cpu, 3);
	cr_expect_eq(event.pid, 7);
}

static void expect_end(struct reading *reading)
{
	struct blkbox_event event;

	cr_expect_eq(decoder_next(reading->decoder, &event, NULL), 0);
}

Test(source_ftrace, noise)
{
	struct ftrace_counts sum = {0};
	uint8_t *exact = malloc(PAGE);

	srand(1);
	for (int round = 0; round < 20000; round++) {
		struct reading reading;
		uint64_t commit = (uint64_t)(rand() % 4081) | (uint64_t)(rand() % 4) << 30;
		int r;

		for (size_t i = 0; i < PAGE; i++)
			exact[i] = round % 2 || rand() % 4 == 0 ? rand() : 0;
		for (size_t i = DATA; i + 8 < PAGE && round % 2; i += 64) {
			exact[i] = rand() % 32 | (exact[i] & 0xe0);
			exact[i + 4] = TYPE_ID;
			exact[i + 5] = 0;
		}
		memcpy(exact + 8, &commit, 8);
		reading = read_pages(round % 4 > 1 ? &facts1 : &facts2, exact, PAGE, PAGE, 0, 0);
		do {
			struct blkbox_event event;

			r = decoder_next(reading.decoder, &event, NULL);
		} while (r > 0);
		cr_assert_eq(r, 0);
		sum.bad += source_ftrace_counts(reading.source)->bad;
		sum.bad_pages += source_ftrace_counts(reading.source)->bad_pages;
		decoder_destroy(reading.decoder);
	}
	cr_expect_gt(sum.bad, 0);
	cr_expect_gt(sum.bad_pages, 0);
	free(exact);
}

Test(ftrace_record, v1_with_payload_note_and_foreigners)
{
	const uint8_t remap[16] = {0, 0x80, 0, 0x10};
	struct reading reading;
	struct blkbox_event event;
	const struct ftrace_counts *counts;
	struct page p;

	page_begin(&p, 1000);
	page_v1(&p, 1, SDA, 8, QUEUE_WRITE, 0, NULL);
	page_v1(&p, 1, SDB, 99, QUEUE_WRITE, 0, NULL);
	page_v1(&p, 1, SDA, 0, MESSAGE, 5, "hello");
	page_head(&p, 3, 1); /* another tracer's */
	page_word(&p, 5);
	page_word(&p, 0);
	page_word(&p, 0);
	page_v1(&p, 1, SDA, 8, (BT_WRITE | BT_QUEUE) << 16 | BT_ACT_REMAP, 16, remap);
	page_v1(&p, 1, SDA, 8, COMPLETE_WRITE, 0, NULL);
	page_v1(&p, 1, SDB, 99, COMPLETE_WRITE, 0, NULL);
	page_end(&p, 0);

	reading = read_pages(&facts1, p.bytes, PAGE, PAGE, 0, 0);
	expect(&reading, 1001, 1, 8);
	cr_assert_eq(decoder_next(reading.decoder, &event, NULL), 1);
	cr_expect(blkbox_event_is_note(&event));
	cr_expect_eq(event.time_ns, 1003);
	cr_expect_eq(event.pdu_bytes, 5);
	cr_expect_eq(memcmp(event.pdu, "hello", 5), 0);
	cr_assert_eq(decoder_next(reading.decoder, &event, NULL), 1);
	cr_expect_eq(event.action, BLKBOX_REMAP);
	cr_expect_eq(event.sequence, 2);
	cr_expect_eq(event.pdu_bytes, 16);
	cr_expect_eq(memcmp(event.pdu, remap, 16), 0);
	expect(&reading, 1006, 3, 8);
	expect_end(&reading);
	cr_expect(decoder_health_is_whole(decoder_health(reading.decoder)));

	counts = source_ftrace_counts(reading.source);
	cr_expect_eq(counts->records, 4);
	cr_expect_eq(counts->foreign, 2);
	cr_expect_eq(counts->other, 1);
	cr_expect_eq(counts->n_foreign, 1);
	cr_expect_eq(counts->foreign_devices[0].device, SDB);
	cr_expect_eq(counts->foreign_devices[0].count, 2);
	decoder_destroy(reading.decoder);
}

/* A log that has lost its table of devices. */
Test(ftrace_record, without_known_devices_all_are_kept)
{
	static const uint32_t devices[] = {SDA, SDB, SDA}, sequences[] = {1, 1, 2};
	struct reading reading;
	struct page p;

	page_begin(&p, 1000);
	page_v1(&p, 1, SDA, 8, QUEUE_WRITE, 0, NULL);
	page_v1(&p, 1, SDB, 99, QUEUE_WRITE, 0, NULL);
	page_v1(&p, 1, SDA, 8, COMPLETE_WRITE, 0, NULL);
	page_end(&p, 0);

	reading = read_pages_of(0, &facts1, p.bytes, PAGE, PAGE, 0, 0);
	for (size_t i = 0; i < 3; i++) {
		struct blkbox_event event;

		cr_assert_eq(decoder_next(reading.decoder, &event, NULL), 1);
		cr_expect_eq(event.device, devices[i]);
		cr_expect_eq(event.sequence, sequences[i]);
	}
	expect_end(&reading);
	cr_expect_eq(source_ftrace_counts(reading.source)->foreign, 0);
	decoder_destroy(reading.decoder);
}

Test(ftrace_record, v2_and_a_v1_trace_on_its_kernel)
{
	struct reading reading;
	struct page p;

	page_begin(&p, 1000);
	page_v2(&p, 1, SDA, 8, (uint64_t)BT_WRITE_ZEROES << 16 | QUEUE_WRITE);
	page_v1(&p, 1, SDB, 99, QUEUE_WRITE, 0, NULL);
	page_v2(&p, 1, SDA, 16, COMPLETE_WRITE);
	page_end(&p, 0);

	reading = read_pages(&facts2, p.bytes, PAGE, PAGE, 0, 0);
	expect(&reading, 1001, 1, 8);
	expect(&reading, 1003, 2, 16);
	expect_end(&reading);
	cr_expect_eq(source_ftrace_counts(reading.source)->foreign, 1);
	cr_expect_eq(source_ftrace_counts(reading.source)->bad, 0);
	decoder_destroy(reading.decoder);
}

Test(ftrace_record, length_that_contradicts_the_entry)
{
	struct reading reading;
	struct page p;

	page_begin(&p, 1000);
	page_v1(&p, 1, SDA, 8, QUEUE_WRITE, 0, NULL);
	p.bytes[DATA + 4 + 46] = 100; /* pdu_len */
	page_v1(&p, 1, SDA, 16, QUEUE_WRITE, 0, NULL);
	page_end(&p, 0);
	reading = read_pages(&facts1, p.bytes, PAGE, PAGE, 0, 0);
	expect(&reading, 1002, 1, 16);
	expect_end(&reading);
	cr_expect_eq(source_ftrace_counts(reading.source)->bad, 1);
	cr_expect_not(decoder_health_is_whole(decoder_health(reading.decoder)));
	decoder_destroy(reading.decoder);
}

/* Pages with one record each, of sectors 0, 8, 16, ... */
static void number_pages(uint8_t *bytes, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct page p;

		page_begin(&p, 1000 * (i + 1));
		page_v1(&p, 0, SDA, 8 * i, QUEUE_WRITE, 0, NULL);
		page_end(&p, 0);
		memcpy(bytes + i * PAGE, p.bytes, PAGE);
	}
}

Test(source_ftrace, pages_cut_by_spans)
{
	static const size_t steps[] = {1, 7, 100, PAGE - 1, PAGE, PAGE + 1, 3 * PAGE, 5 * PAGE};
	uint8_t bytes[5 * PAGE];

	number_pages(bytes, 5);
	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
		struct reading reading = read_pages(&facts1, bytes, sizeof(bytes), steps[i], 0, 0);

		for (size_t n = 0; n < 5; n++)
			expect(&reading, 1000 * (n + 1), n + 1, 8 * n);
		expect_end(&reading);
		cr_expect(decoder_health_is_whole(decoder_health(reading.decoder)));
		decoder_destroy(reading.decoder);
	}
}

Test(source_ftrace, a_hole_costs_the_pages_that_it_touches)
{
	uint8_t bytes[5 * PAGE];
	struct reading reading;

	number_pages(bytes, 5);
	/* 100 bytes from the middle of the second page are not there: 8 into its third quarter. */
	memmove(bytes + PAGE + 2000, bytes + PAGE + 2100, sizeof(bytes) - PAGE - 2100);
	reading = read_pages(&facts1, bytes, sizeof(bytes) - 100, 3000, PAGE + 2000, 100);
	expect(&reading, 1000, 1, 0);
	expect(&reading, 3000, 2, 16);
	expect(&reading, 4000, 3, 24);
	expect(&reading, 5000, 4, 32);
	expect_end(&reading);
	cr_expect_not(decoder_health_is_whole(decoder_health(reading.decoder)));
	decoder_destroy(reading.decoder);
}

Test(source_ftrace, a_page_without_end)
{
	uint8_t bytes[2 * PAGE];
	struct reading reading;

	number_pages(bytes, 2);
	reading = read_pages(&facts1, bytes, 2 * PAGE - 10, PAGE, 0, 0);
	expect(&reading, 1000, 1, 0);
	expect_end(&reading);
	cr_expect_not(decoder_health_is_whole(decoder_health(reading.decoder)));
	decoder_destroy(reading.decoder);
}

static const char *meta(const void *context, const char *key)
{
	static const char *const keys[] = {"ftrace_data_offset", "ftrace_data_bytes",
					   "ftrace_commit_offset", "ftrace_type_id",
					   "ftrace_protocol"};
	const char *const *values = context;

	for (size_t i = 0; i < 5; i++) {
		if (!strcmp(key, keys[i]))
			return values[i];
	}
	return NULL;
}

Test(ftrace_record, facts)
{
	const char *good[] = {"16", "4080", "8", "14", "2"};
	const char *bad[] = {"16", "4080", "8", "14", "3"};
	const char *missing[] = {"16", "4080", NULL, "14", "2"};
	const char *huge[] = {"16", "99999999999", "8", "14", "2"};
	const char *signs[] = {"16", "-4080", "8", "14", "2"};
	const char *overlap[] = {"8", "4080", "8", "14", "2"};
	struct ftrace_facts facts;

	cr_assert_eq(ftrace_facts_read(meta, good, &facts), 0);
	cr_expect_eq(facts.layout.data_bytes, 4080);
	cr_expect_eq(facts.type_id, 14);
	cr_expect_eq(facts.protocol, 2);
	cr_expect_eq(ftrace_facts_read(meta, bad, &facts), -EINVAL);
	cr_expect_eq(ftrace_facts_read(meta, missing, &facts), -EINVAL);
	cr_expect_eq(ftrace_facts_read(meta, huge, &facts), -EINVAL);
	cr_expect_eq(ftrace_facts_read(meta, signs, &facts), -EINVAL);
	cr_expect_eq(ftrace_facts_read(meta, overlap, &facts), -EINVAL);
}

static void *load(const char *name, size_t *ret_size)
{
	char path[512], *bytes = malloc(1 << 20);
	FILE *file;

	snprintf(path, sizeof(path), "%s/linux-6.18/loop-ftrace/%s", BLKBOX_TEST_DATA, name);
	file = fopen(path, "r");
	cr_assert_not_null(file, "%s", path);
	*ret_size = fread(bytes, 1, (1 << 20) - 1, file);
	bytes[*ret_size] = '\0';
	fclose(file);
	return bytes;
}

static uint16_t action_of(const char *letters)
{
	static const struct {
		const char *letters;
		uint16_t action;
	} actions[] = {{"Q", BLKBOX_QUEUE},  {"G", BLKBOX_GETRQ},     {"P", BLKBOX_PLUG},
		       {"U", BLKBOX_UNPLUG}, {"D", BLKBOX_ISSUE},     {"C", BLKBOX_COMPLETE},
		       {"I", BLKBOX_INSERT}, {"M", BLKBOX_BACKMERGE}, {"UT", BLKBOX_UNPLUG_TIMER}};

	for (size_t i = 0; i < sizeof(actions) / sizeof(actions[0]); i++) {
		if (!strcmp(letters, actions[i].letters))
			return actions[i].action;
	}
	cr_assert_fail("action %s", letters);
	return 0;
}

/* A machine's pages, and what its own kernel says is in them (blk_classic). */
Test(source_ftrace, real_pages_against_the_kernels_own_text)
{
	size_t size, text_size, n = 0, others = 0;
	uint8_t *bytes = load("cpu1.pages", &size);
	char *text = load("cpu1.txt", &text_size), *save;
	struct reading reading = read_pages(&facts1, bytes, size, PAGE, 0, 0);

	for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		unsigned major, minor, cpu, pid, sectors = 0;
		unsigned long long s, ns, sector = 0;
		char act[4], rwbs[12];
		struct blkbox_event event;
		int at = 0;

		if (sscanf(line, "%u,%u %u %llu.%llu %u %3s %11s%n", &major, &minor, &cpu, &s, &ns,
			   &pid, act, rwbs, &at) != 8) {
			others++; /* the trace_marker */
			continue;
		}
		sscanf(line + at, " %llu + %u", &sector, &sectors);
		cr_assert_eq(decoder_next(reading.decoder, &event, NULL), 1, "line %s", line);
		cr_expect_eq(event.action, action_of(act), "%s", line);
		cr_expect_eq(event.time_ns, s * 1000000000 + ns, "%s", line);
		cr_expect_eq(event.pid, pid, "%s", line);
		cr_expect_eq(event.cpu, cpu, "%s", line);
		cr_expect_eq(event.device, major << 20 | minor, "%s", line);
		cr_expect_eq(event.sector, sector, "%s", line);
		cr_expect_eq(event.bytes, sectors * 512, "%s", line);
		cr_expect_eq(event.sequence, ++n);
		if (event.action == BLKBOX_UNPLUG)
			cr_expect_eq(event.pdu_bytes, 8);
	}
	cr_expect_eq(n, 197);
	cr_expect_eq(others, 1);
	cr_expect_eq(source_ftrace_counts(reading.source)->other, 1);
	expect_end(&reading);
	decoder_destroy(reading.decoder);
	free(bytes);
	free(text);
}
