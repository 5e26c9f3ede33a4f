/* SPDX-License-Identifier: MIT */
/*
 * Random lives of I/Os whose truth is known: merges of all kinds, splits, requeues, completions in
 * parts, failures, bio-based devices; on four CPUs with a file each; cut off, and with losses. What
 * is told must be the truth, to the nanosecond, and no byte may come or go.
 */
#include "dice.h"
#include "track_run.h"

#include <stdio.h>

enum {
	SLOTS = 48, /* places of the disk where one thing goes on at a time */
	SLOT_SECTORS = 4096,
	CPUS = 4,
	LIVES = 1200,
	EVENTS = 40000,
	BIOS_MAX = 6,
	SDA = 8 << 20,
	DM = 253 << 20,
};

/* What is true of a bio. */
struct truth {
	struct track_io io;
	uint64_t left_bytes; /* while it is made up */
	uint64_t end_ns;
	bool done;
};

struct slot {
	uint64_t now; /* its own time, in steps */
	unsigned number;
};

static struct run run;
static struct trace_record events[EVENTS];
static size_t n_events;
static struct truth truths[LIVES + BIOS_MAX];
static size_t n_truths;

static void start(void)
{
	dice_seed();
	run = (struct run){0};
	n_events = n_truths = 0;
}

/* No two events have the same time: each slot has its own nanoseconds. */
static uint64_t tick(struct slot *slot)
{
	slot->now += 1 + roll(200);
	return slot->now * SLOTS + slot->number;
}

static uint64_t put(struct slot *slot, struct trace_record record)
{
	cr_assert_lt(n_events, EVENTS);
	record.ns = tick(slot);
	record.cpu = roll(CPUS);
	if (!record.device)
		record.device = SDA;
	if (record.act == 'D' || record.act == 'C' || record.act == 'I' || record.act == 'R')
		record.more_categories |= record.device == DM ? 0 : BLKBOX_CAT_FS;
	events[n_events++] = record;
	return record.ns;
}

static const char *letters(enum operation operation)
{
	return operation == OPERATION_READ ? "R" : operation == OPERATION_WRITE ? "WS" : "D";
}

static struct trace_record event_of(char act, const struct truth *first, uint64_t sector,
				    uint64_t sectors)
{
	return (struct trace_record){.act = act,
				     .rwbs = letters(first->io.operation),
				     .sector = sector,
				     .bytes = (uint32_t)(sectors * 512),
				     .device = first->io.device,
				     .pid = 1 + roll(9)};
}

static struct truth *queue(struct slot *slot, enum operation operation, uint32_t device,
			   uint64_t sector, uint64_t sectors)
{
	struct truth *truth = &truths[n_truths++];
	struct trace_record record;

	*truth = (struct truth){.left_bytes = sectors * 512};
	truth->io = (struct track_io){.device = device,
				      .sector = sector,
				      .bytes = sectors * 512,
				      .operation = operation,
				      .pieces = 1};
	record = event_of('Q', truth, sector, sectors);
	record.pid = truth->io.owner.pid = 100 + roll(1000);
	truth->io.times.queued_ns = put(slot, record);
	return truth;
}

/* The request of all bios in [from, to) completes in parts, and may be given back in between. */
static void serve(struct slot *slot, struct truth **bios, unsigned n, uint64_t from, uint64_t to)
{
	bool issued = false;

	while (from < to) {
		uint64_t end = roll(3) ? to : from + 1 + roll((unsigned)(to - from));
		struct trace_record c;
		uint64_t now;

		if (!issued) {
			now = put(slot, event_of('D', bios[0], from, to - from));
			for (unsigned i = 0; i < n; i++) {
				struct track_times *t = &bios[i]->io.times;

				if (bios[i]->done)
					continue;
				t->issued_ns = now;
				t->first_issued_ns = t->first_issued_ns ? t->first_issued_ns : now;
			}
		}
		issued = roll(6) != 0;
		if (!issued) {
			put(slot, event_of('R', bios[0], from, to - from));
			for (unsigned i = 0; i < n; i++)
				bios[i]->io.requeues += !bios[i]->done;
			continue;
		}
		c = event_of('C', bios[0], from, end - from);
		c.error = end == to && !roll(12) ? -5 : 0;
		now = put(slot, c);
		for (unsigned i = 0; i < n; i++) {
			struct track_io *io = &bios[i]->io;
			uint64_t last = io->sector + io->bytes / 512;

			if (io->sector >= end || last <= from)
				continue;
			if (!io->times.first_completed_ns)
				io->times.first_completed_ns = now;
			io->error = c.error ? (int16_t)c.error : io->error;
			if (last > end)
				continue;
			io->times.completed_ns = bios[i]->end_ns = now;
			bios[i]->done = true;
		}
		from = end;
	}
}

static enum operation any_operation(void)
{
	static const enum operation operations[] = {OPERATION_READ, OPERATION_WRITE,
						    OPERATION_DISCARD};

	return operations[roll(3)];
}

static void maybe_insert(struct slot *slot, struct truth **bios, unsigned n, uint64_t from,
			 uint64_t to)
{
	uint64_t now;

	if (!roll(2))
		return;
	now = put(slot, event_of('I', bios[0], from, to - from));
	for (unsigned i = 0; i < n; i++) {
		if (bios[i]->io.merge == TRACK_NOT_MERGED || bios[i]->io.merge == TRACK_UNANNOUNCED)
			bios[i]->io.times.inserted_ns = now;
	}
}

/* A bio beside the request, in front or behind, comes into it. */
static struct truth *join(struct slot *slot, enum operation operation, uint64_t sector,
			  uint64_t sectors, bool front)
{
	struct truth *bio = queue(slot, operation, SDA, sector, sectors);
	struct trace_record record = event_of(front ? 'F' : 'M', bio, sector, sectors);

	switch (roll(4)) {
	case 0:
		bio->io.merge = TRACK_UNANNOUNCED;
		break;
	case 1:
		bio->io.times.getrq_ns = put(slot, event_of('G', bio, sector, sectors));
		record.act = 'M';
		record.more_categories = BLKBOX_CAT_FS;
		put(slot, record);
		bio->io.merge = TRACK_REQUEST;
		break;
	default:
		bio->io.merge = front ? TRACK_FRONT : TRACK_BACK;
		bio->io.times.merged_ns = put(slot, record);
		break;
	}
	return bio;
}

/* One request of one or more bios. */
static void merged_life(struct slot *slot)
{
	enum operation operation = any_operation();
	struct truth *bios[BIOS_MAX];
	uint64_t from = slot->number * SLOT_SECTORS + 2048 + 8 * roll(3), to = from + 1 + roll(64);
	unsigned n = 0, more = roll(3) ? roll(BIOS_MAX) : 0;

	bios[n++] = queue(slot, operation, SDA, from, to - from);
	/* Without it, the first one that was queued is the one. */
	if (roll(4))
		bios[0]->io.times.getrq_ns = put(slot, event_of('G', bios[0], from, to - from));
	while (more--) {
		uint64_t sectors = 1 + roll(64);
		bool front = roll(2);

		bios[n++] = join(slot, operation, front ? from - sectors : to, sectors, front);
		from -= front ? sectors : 0;
		to += front ? 0 : sectors;
	}
	/* A bio with a request of its own is the better guess for an unannounced merge's head. */
	if (!bios[0]->io.times.getrq_ns) {
		for (unsigned i = 1; i < n; i++)
			cr_assert(bios[i]->io.merge != TRACK_NOT_MERGED);
	}
	maybe_insert(slot, bios, n, from, to);
	serve(slot, bios, n, from, to);
}

/* One bio in several requests, which complete in any order. */
static void split_life(struct slot *slot)
{
	bool told = roll(2);
	unsigned pieces = 2 + roll(4), order[6], left = pieces;
	uint64_t from = slot->number * SLOT_SECTORS, at = from, sectors = 8 * (1 + roll(8));
	struct truth *bio = queue(slot, any_operation(), SDA, from, pieces * sectors);
	uint64_t issued[6] = {0};

	bio->io.pieces = pieces;
	for (unsigned i = 0; i < pieces; i++, at += sectors) {
		order[i] = i;
		if (told && i + 1 < pieces) {
			struct trace_record x = event_of('X', bio, at, sectors);

			x.number = at + sectors;
			put(slot, x);
		}
	}
	for (unsigned i = 0; i < pieces; i++)
		issued[i] = put(slot, event_of('D', bio, from + i * sectors, sectors));
	while (left) {
		unsigned which = roll(left), i = order[which];
		uint64_t now = put(slot, event_of('C', bio, from + i * sectors, sectors));

		order[which] = order[--left];
		if (!bio->io.times.first_completed_ns)
			bio->io.times.first_completed_ns = now;
		bio->io.times.first_issued_ns = bio->io.times.issued_ns = issued[i];
		bio->io.times.completed_ns = bio->end_ns = now;
	}
	bio->done = true;
}

static void bio_based_life(struct slot *slot)
{
	uint64_t from = slot->number * SLOT_SECTORS, sectors = 1 + roll(100);
	struct truth *bio = queue(slot, any_operation(), DM, from, sectors);

	bio->io.times.completed_ns = put(slot, event_of('C', bio, from, sectors));
	bio->io.times.first_completed_ns = bio->end_ns = bio->io.times.completed_ns;
	bio->io.bio_based = bio->done = true;
}

static int by_time(const void *a, const void *b)
{
	uint64_t x = ((const struct trace_record *)a)->ns, y = ((const struct trace_record *)b)->ns;

	return (x > y) - (x < y);
}

static int by_queue(const void *a, const void *b)
{
	uint64_t x = ((const struct track_io *)a)->times.queued_ns;
	uint64_t y = ((const struct track_io *)b)->times.queued_ns;

	return (x > y) - (x < y);
}

static int truth_by_queue(const void *a, const void *b)
{
	return by_queue(&((const struct truth *)a)->io, &((const struct truth *)b)->io);
}

static void make_lives(void)
{
	struct slot slots[SLOTS];

	for (unsigned i = 0; i < SLOTS; i++)
		slots[i] = (struct slot){.now = 1000 + roll(1000), .number = i};
	while (n_truths < LIVES) {
		struct slot *slot = &slots[roll(SLOTS)];

		slot->now += roll(2000);
		switch (roll(5)) {
		case 0:
			split_life(slot);
			break;
		case 1:
			bio_based_life(slot);
			break;
		default:
			merged_life(slot);
			break;
		}
	}
	qsort(events, n_events, sizeof(*events), by_time);
	qsort(truths, n_truths, sizeof(*truths), truth_by_queue);
}

/* A file for each CPU; @keep tells which events the kernel could hand out. */
static void write_and_run(bool (*keep)(const struct trace_record *record))
{
	struct trace cpus[CPUS] = {0};
	char name[32];

	for (size_t i = 0; i < n_events; i++) {
		if (keep(&events[i]))
			trace_add(&cpus[events[i].cpu], &events[i]);
	}
	/* The first file is the run's. */
	for (unsigned i = 0; i < CPUS; i++) {
		snprintf(name, sizeof(name), "in.blktrace.%u", i);
		trace_file(&cpus[i], name);
		trace_free(&cpus[i]);
	}
	run_set(&run);
	qsort(run.ios, run.n_ios, sizeof(run.ios[0]), by_queue);
}

static bool keep_all(const struct trace_record *record)
{
	(void)record;
	return true;
}

#define SAME(field)                                                                                \
	cr_assert_eq(found->field, truth->field,                                                   \
		     "%s: %lld, not %lld; %s queued at %llu, sector "                              \
		     "%llu",                                                                       \
		     #field, (long long)found->field, (long long)truth->field,                     \
		     operation_name(truth->operation), (unsigned long long)truth->times.queued_ns, \
		     (unsigned long long)truth->sector)

/* @all: of the bios that it was merged with, too, all is known. */
static void expect_same(const struct track_io *found, const struct track_io *truth, bool all)
{
	SAME(times.queued_ns);
	SAME(device);
	SAME(sector);
	SAME(bytes);
	SAME(operation);
	SAME(owner.pid);
	SAME(times.getrq_ns);
	SAME(times.merged_ns);
	SAME(times.inserted_ns);
	SAME(times.first_issued_ns);
	SAME(times.issued_ns);
	SAME(times.first_completed_ns);
	SAME(times.completed_ns);
	if (all || truth->merge != TRACK_UNANNOUNCED)
		SAME(merge);
	SAME(pieces);
	SAME(requeues);
	SAME(error);
	SAME(bio_based);
	cr_assert_eq(found->done_bytes, truth->bytes);
	cr_assert_not(found->inverted);
}

static void tear_down(void)
{
	run_free(&run);
}

TestSuite(track_lives, .init = start, .fini = tear_down);

Test(track_lives, the_truth_comes_back)
{
	uint64_t bytes = 0, request_bytes = 0, pieces = 0, bio_based_bytes = 0;
	uint64_t issued_bytes = 0;

	make_lives();
	write_and_run(keep_all);
	cr_assert_eq(run.n_queued, n_truths);
	cr_assert_eq(run.n_ios, n_truths);
	cr_assert_eq(run.n_ended, 0);
	for (unsigned i = 0; i < TRACK_STRAYS; i++)
		cr_assert_eq(run.n_strays[i], 0);
	for (size_t i = 0; i < n_truths; i++) {
		expect_same(&run.ios[i], &truths[i].io, true);
		bytes += truths[i].io.bytes;
		pieces += truths[i].io.pieces;
		bio_based_bytes += truths[i].io.bio_based ? truths[i].io.bytes : 0;
	}
	/* Queued = issued = completed; each byte in one piece and one request. */
	for (size_t i = 0; i < run.n_requests; i++)
		request_bytes += run.requests[i].done_bytes;
	for (size_t i = 0; i < run.result->n_devices; i++)
		issued_bytes += run.result->devices[i].all.issued_bytes;
	cr_assert_eq(run.queued_bytes, bytes);
	cr_assert_eq(run.issued_bytes, bytes - bio_based_bytes);
	cr_assert_eq(issued_bytes, run.issued_bytes);
	cr_assert_eq(request_bytes + run.requeued_done_bytes, bytes - bio_based_bytes);
	cr_assert_eq(run.n_pieces, pieces);
	printf("%zu lives, %zu events, %zu requests\n", n_truths, n_events, run.n_requests);
}

static uint64_t cut_from_ns, cut_to_ns;

static bool keep_middle(const struct trace_record *record)
{
	return record->ns >= cut_from_ns && record->ns < cut_to_ns;
}

/* The recording begins and ends somewhere in the middle of things. */
Test(track_lives, what_began_before_or_did_not_end_is_told)
{
	size_t found = 0, whole = 0, queued = 0;
	uint64_t queued_bytes = 0, done_bytes = 0;

	make_lives();
	cut_from_ns = events[n_events / 5].ns;
	cut_to_ns = events[n_events / 5 * 4].ns;
	write_and_run(keep_middle);
	for (size_t i = 0; i < n_truths; i++) {
		const struct truth *t = &truths[i];

		if (t->io.times.queued_ns < cut_from_ns || t->io.times.queued_ns >= cut_to_ns)
			continue;
		queued++;
		queued_bytes += t->io.bytes;
		if (t->end_ns >= cut_to_ns)
			continue;
		whole++;
		while (found < run.n_ios && run.ios[found].times.queued_ns < t->io.times.queued_ns)
			found++;
		cr_assert_lt(found, run.n_ios);
		expect_same(&run.ios[found], &t->io, false);
		done_bytes += t->io.bytes;
	}
	cr_assert_eq(run.n_queued, queued);
	cr_assert_eq(run.queued_bytes, queued_bytes);
	for (size_t i = 0; i < run.n_ended; i++) {
		cr_assert_eq(run.ends[i], TRACK_END_IN_FLIGHT);
		if (!run.ended[i].times.queued_ns)
			continue;
		done_bytes += run.ended[i].bytes;
		queued--;
	}
	cr_assert_eq(queued, whole);
	cr_assert_eq(queued_bytes, done_bytes);
	cr_assert_eq(run.n_strays[TRACK_STRAY_LOSS] + run.n_strays[TRACK_STRAY_OTHER], 0);
}

enum {
	WINDOWS = 5
};

static struct recording_loss windows[WINDOWS];

static bool overlaps(uint64_t from_ns, uint64_t to_ns)
{
	for (unsigned i = 0; i < WINDOWS; i++) {
		if (windows[i].from_ns <= to_ns && windows[i].to_ns >= from_ns)
			return true;
	}
	return false;
}

static bool keep_some(const struct trace_record *record)
{
	return !overlaps(record->ns, record->ns) || roll(3);
}

/* What no loss touches is exact; the rest is marked, and not one figure more. */
Test(track_lives, losses_bend_nothing_that_is_not_marked)
{
	size_t found = 0, untouched = 0;
	uint64_t span_ns;

	make_lives();
	span_ns = events[n_events - 1].ns - events[0].ns;
	for (unsigned i = 0; i < WINDOWS; i++) {
		uint64_t from_ns = events[0].ns + span_ns / WINDOWS * i + roll(1000);

		windows[i] = (struct recording_loss){.cpu = LOG_NO_CPU,
						     .from_ns = from_ns,
						     .to_ns = from_ns + span_ns / 50,
						     .count = 1};
	}
	run.losses = windows;
	run.n_losses = WINDOWS;
	write_and_run(keep_some);
	for (size_t i = 0; i < n_truths; i++) {
		const struct truth *t = &truths[i];

		if (overlaps(t->io.times.queued_ns, t->end_ns))
			continue;
		untouched++;
		while (found < run.n_ios && run.ios[found].times.queued_ns < t->io.times.queued_ns)
			found++;
		cr_assert_lt(found, run.n_ios);
		expect_same(&run.ios[found], &t->io, false);
		cr_assert_not(run.ios[found].touched);
	}
	for (size_t i = 0; i < run.n_ios; i++)
		untouched -= run.ios[i].times.queued_ns && !run.ios[i].touched;
	cr_assert_eq(untouched, 0);
	cr_assert_gt(run.n_ended + run.n_strays[TRACK_STRAY_LOSS], 0);
}
