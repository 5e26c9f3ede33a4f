/* SPDX-License-Identifier: MIT */
#include "clock_align.h"

#include "wire.h"

#include <string.h>

enum {
	SAME_BOOT_NS = 100000000
};

static int by_time(const void *a, const void *b)
{
	const struct anchor *x = a, *y = b;

	return (x->mono_ns > y->mono_ns) - (x->mono_ns < y->mono_ns);
}

static size_t count_anchors(const struct part *part)
{
	struct log_reader *log = input_log(part->input);
	const struct log_clock *clocks;
	size_t n = 0;

	for (size_t i = 0; i < part->n_surveys; i++)
		n += part->surveys[i].n_anchors;
	/* A log's header is an anchor too. */
	return log ? n + 1 + log_reader_clocks(log, &clocks) : n;
}

/* A damaged header without a CLOCK block behind it knows no wall clock. */
static void add_anchor(struct part *part, uint64_t mono_ns, uint64_t real_ns)
{
	if (real_ns)
		part->anchors[part->n_anchors++] = (struct anchor){mono_ns, real_ns};
}

static bool has_other_clock(const struct part *part)
{
	uint64_t first_ns = UINT64_MAX, last_ns = 0, first_note_ns = UINT64_MAX;

	for (size_t i = 0; i < part->n_surveys; i++) {
		const struct survey *s = &part->surveys[i];

		if (s->first_event_ns == UINT64_MAX)
			continue;
		if (s->first_event_ns < first_ns)
			first_ns = s->first_event_ns;
		if (s->last_event_ns > last_ns)
			last_ns = s->last_event_ns;
	}
	for (size_t i = 0; i < part->n_surveys; i++) {
		for (size_t k = 0; k < part->surveys[i].n_anchors; k++) {
			if (part->surveys[i].anchors[k].mono_ns < first_note_ns)
				first_note_ns = part->surveys[i].anchors[k].mono_ns;
		}
	}
	return first_note_ns != UINT64_MAX && wire_is_other_clock(first_ns, last_ns, first_note_ns);
}

static int gather(struct part *part)
{
	struct log_reader *log = input_log(part->input);
	size_t room = count_anchors(part);
	bool has_pairs;

	if (!room)
		return 0;
	part->anchors = calloc(room, sizeof(*part->anchors));
	if (!part->anchors)
		return -ENOMEM;
	if (log) {
		const struct log_header *header = log_reader_header(log);
		const struct log_clock *clocks;
		size_t n_clocks = log_reader_clocks(log, &clocks);

		/* These pairs are read more closely together than a timestamp note's: no notes. */
		add_anchor(part, header->start_mono_ns, header->start_real_ns);
		for (size_t i = 0; i < n_clocks; i++)
			add_anchor(part, clocks[i].mono_ns, clocks[i].real_ns);
	}
	has_pairs = part->n_anchors > 0 || has_other_clock(part);
	for (size_t i = 0; !has_pairs && i < part->n_surveys; i++) {
		const struct survey *s = &part->surveys[i];

		for (size_t k = 0; k < s->n_anchors; k++)
			add_anchor(part, s->anchors[k].mono_ns, s->anchors[k].real_ns);
	}
	qsort(part->anchors, part->n_anchors, sizeof(*part->anchors), by_time);
	return 0;
}

static int64_t offset_of(const struct part *part)
{
	return (int64_t)(part->anchors[0].real_ns - part->anchors[0].mono_ns);
}

static bool knows_boot(const struct log_reader *log)
{
	static const uint8_t unknown[sizeof(log_reader_header(log)->boot_id)];

	return memcmp(log_reader_header(log)->boot_id, unknown, sizeof(unknown)) != 0;
}

static bool same_boot(const struct part *a, const struct part *b)
{
	struct log_reader *x = input_log(a->input), *y = input_log(b->input);
	int64_t difference_ns;

	if (x && y && knows_boot(x) && knows_boot(y))
		return !memcmp(log_reader_header(x)->boot_id, log_reader_header(y)->boot_id,
			       sizeof(log_reader_header(x)->boot_id));
	difference_ns = offset_of(a) - offset_of(b);
	return difference_ns > -SAME_BOOT_NS && difference_ns < SAME_BOOT_NS;
}

int64_t recording_real_offset_ns(const struct recording *recording, uint32_t tag, uint64_t time_ns)
{
	const struct part *part = &recording->parts[tag];
	uint64_t own_ns = time_ns - (uint64_t)part->shift_ns;
	size_t low = 0;

	if (!part->n_anchors)
		return 0;
	/* The last one at @own_ns or before. */
	for (size_t high = part->n_anchors; high - low > 1;) {
		size_t middle = low + (high - low) / 2;

		if (part->anchors[middle].mono_ns <= own_ns)
			low = middle;
		else
			high = middle;
	}
	return (int64_t)(part->anchors[low].real_ns - part->anchors[low].mono_ns) - part->shift_ns;
}

/* Whose clock started first: on it, no other's times come to lie before 0. */
static const struct part *find_oldest_clock(const struct recording *recording)
{
	const struct part *oldest = &recording->parts[0];

	for (size_t i = 1; i < recording->n_parts; i++) {
		if (offset_of(&recording->parts[i]) < offset_of(oldest))
			oldest = &recording->parts[i];
	}
	return oldest;
}

int clock_align(struct recording *recording, struct why *why)
{
	const struct part *base = &recording->parts[0];

	for (size_t i = 0; i < recording->n_parts; i++) {
		struct part *part = &recording->parts[i];

		if (gather(part) < 0)
			return why_set(why, -ENOMEM, "no memory");
		if (!part->n_anchors && recording->n_parts > 1)
			return why_set(why, -EINVAL,
				       "%s does not tell the wall clock (no timestamp note on its "
				       "events' clock), so it "
				       "cannot be put in line with the others; read it alone",
				       input_name(part->input));
	}
	if (recording->n_parts > 1)
		base = find_oldest_clock(recording);
	for (size_t i = 0; i < recording->n_parts; i++) {
		struct part *part = &recording->parts[i];

		if (part != base && !same_boot(base, part))
			part->shift_ns = offset_of(part) - offset_of(base);
	}
	recording->info.has_real = base->n_anchors > 0;
	if (base->n_anchors)
		recording->info.real_offset_ns = offset_of(base);
	return 0;
}
