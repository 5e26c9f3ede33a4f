/* SPDX-License-Identifier: MIT */
#include "clock_align.h"

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

static int gather(struct part *part)
{
	struct log_reader *log = input_log(part->input);
	size_t room = count_anchors(part);
	size_t n = 0;

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
		part->anchors[n++] = (struct anchor){header->start_mono_ns, header->start_real_ns};
		for (size_t i = 0; i < n_clocks; i++)
			part->anchors[n++] = (struct anchor){clocks[i].mono_ns, clocks[i].real_ns};
	}
	for (size_t i = 0; !log && i < part->n_surveys; i++) {
		const struct survey *s = &part->surveys[i];

		if (s->n_anchors)
			memcpy(part->anchors + n, s->anchors, s->n_anchors * sizeof(*s->anchors));
		n += s->n_anchors;
	}
	part->n_anchors = n;
	qsort(part->anchors, n, sizeof(*part->anchors), by_time);
	return 0;
}

static int64_t offset_of(const struct part *part)
{
	return (int64_t)(part->anchors[0].real_ns - part->anchors[0].mono_ns);
}

static bool same_boot(const struct part *a, const struct part *b)
{
	struct log_reader *x = input_log(a->input), *y = input_log(b->input);
	int64_t difference_ns;

	if (x && y)
		return !memcmp(log_reader_header(x)->boot_id, log_reader_header(y)->boot_id,
			       sizeof(log_reader_header(x)->boot_id));
	difference_ns = offset_of(a) - offset_of(b);
	return difference_ns > -SAME_BOOT_NS && difference_ns < SAME_BOOT_NS;
}

int clock_align(struct recording *recording, struct why *why)
{
	const struct part *first = &recording->parts[0];

	for (size_t i = 0; i < recording->n_parts; i++) {
		struct part *part = &recording->parts[i];

		if (gather(part) < 0)
			return why_set(why, -ENOMEM, "no memory");
		if (!part->n_anchors && recording->n_parts > 1)
			return why_set(why, -EINVAL,
				       "%s does not tell the wall clock (no timestamp note), so it "
				       "cannot be put in line with the others; read it alone",
				       input_name(part->input));
		if (i && !same_boot(first, part))
			part->shift_ns = offset_of(part) - offset_of(first);
	}
	recording->info.has_real = first->n_anchors > 0;
	if (first->n_anchors)
		recording->info.real_offset_ns = offset_of(first);
	return 0;
}
