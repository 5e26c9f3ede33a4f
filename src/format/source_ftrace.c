/* SPDX-License-Identifier: MIT */
#include "source_ftrace.h"

#include <string.h>

struct kept_device {
	uint32_t device;
	uint32_t sequence; /* of its last event */
};

struct source_ftrace {
	struct source source;
	struct source *pages;
	struct ftrace_facts facts;
	struct kept_device *devices;
	size_t n_devices;
	bool keeps_all; /* @devices grows with those that come */
	struct ftrace_counts counts;
	uint8_t *page; /* a page that a span's end cut */
	size_t page_filled;
	uint8_t *out; /* records of a span */
	size_t out_room;
	size_t out_size;
	uint64_t missing_bytes; /* not told yet */
};

static size_t page_bytes(const struct source_ftrace *s)
{
	return ftrace_page_bytes(&s->facts.layout);
}

static struct kept_device *find_device(struct source_ftrace *s, uint32_t device)
{
	for (size_t i = 0; i < s->n_devices; i++) {
		if (s->devices[i].device == device)
			return &s->devices[i];
	}
	if (!s->keeps_all || s->n_devices == FTRACE_KEPT_MAX)
		return NULL;
	s->devices[s->n_devices].device = device;
	return &s->devices[s->n_devices++];
}

static void count_foreign(struct ftrace_counts *counts, uint32_t device, uint64_t n)
{
	struct ftrace_foreign *foreign = counts->foreign_devices;
	size_t i = 0;

	counts->foreign += n;
	while (i < counts->n_foreign && foreign[i].device != device)
		i++;
	if (i == FTRACE_FOREIGN_MAX) {
		i = FTRACE_FOREIGN_MAX - 1;
		foreign[i].device = 0;
	} else if (i == counts->n_foreign) {
		foreign[i] = (struct ftrace_foreign){.device = device};
		counts->n_foreign++;
	}
	foreign[i].count += n;
}

static void take_entry(struct source_ftrace *s, const struct ftrace_entry *entry)
{
	struct ftrace_record record;
	struct kept_device *device;

	switch (ftrace_record_read(&s->facts, entry, &record)) {
	case FTRACE_OTHER:
		s->counts.other++;
		return;
	case FTRACE_BAD:
		s->counts.bad++;
		s->missing_bytes += entry->size;
		return;
	case FTRACE_RECORD:
		break;
	}
	device = find_device(s, record.device);
	if (!device) {
		count_foreign(&s->counts, record.device, 1);
		return;
	}
	s->counts.records++;
	/* Its entry was larger: there is room. */
	ftrace_record_write(&record, entry, record.note ? 0 : ++device->sequence,
			    s->out + s->out_size);
	s->out_size += record.size;
}

static void take_page(struct source_ftrace *s, const uint8_t *bytes)
{
	struct ftrace_page page;
	struct ftrace_entry entry;
	int r = ftrace_page_open(&s->facts.layout, bytes, &page);

	s->counts.pages++;
	if (r < 0) {
		s->counts.bad_pages++;
		s->missing_bytes += page_bytes(s);
		return;
	}
	if (page.lost != FTRACE_NOTHING_LOST) {
		s->counts.lost_pages++;
		s->counts.lost += page.lost_count;
	}
	while ((r = ftrace_page_next(&page, &entry)) > 0)
		take_entry(s, &entry);
	if (r < 0) {
		s->counts.bad_pages++;
		s->missing_bytes += (size_t)(page.end - page.at);
	}
}

static void drop_cut_page(struct source_ftrace *s)
{
	s->missing_bytes += s->page_filled;
	s->page_filled = 0;
}

/* Bytes at the start of a span that belong to a page whose start is not there. */
static size_t headless_bytes(const struct source_ftrace *s, const struct span *span)
{
	size_t into = span->offset % page_bytes(s);

	if (s->page_filled || !into)
		return 0;
	return page_bytes(s) - into < span->size ? page_bytes(s) - into : span->size;
}

static void take_span(struct source_ftrace *s, const struct span *span)
{
	size_t whole = page_bytes(s), at;

	s->missing_bytes += span->missing_bytes;
	if (span->missing_bytes)
		drop_cut_page(s);
	at = headless_bytes(s, span);
	s->missing_bytes += at;
	while (at < span->size) {
		size_t n = whole - s->page_filled;

		if (n > span->size - at)
			n = span->size - at;
		if (n == whole) {
			take_page(s, span->bytes + at);
		} else {
			memcpy(s->page + s->page_filled, span->bytes + at, n);
			s->page_filled += n;
			if (s->page_filled == whole) {
				take_page(s, s->page);
				s->page_filled = 0;
			}
		}
		at += n;
	}
}

static int reserve(struct source_ftrace *s, size_t room)
{
	uint8_t *out;

	if (room <= s->out_room)
		return 0;
	out = realloc(s->out, room);
	if (!out)
		return -ENOMEM;
	s->out = out;
	s->out_room = room;
	return 0;
}

static int ftrace_next(struct source *source, struct span *ret, struct why *why)
{
	struct source_ftrace *s = (struct source_ftrace *)source;
	struct span span = {0};

	s->out_size = 0;
	while (!s->out_size && !s->missing_bytes) {
		int r = source_next(s->pages, &span, why);

		if (r == 0 && s->page_filled) {
			drop_cut_page(s);
			break;
		}
		if (r <= 0)
			return r;
		/* A record is no longer than its entry. */
		if (reserve(s, span.size + page_bytes(s)) < 0)
			return why_set(why, -ENOMEM, "no memory for a page's records");
		take_span(s, &span);
	}
	*ret = (struct span){
		.bytes = s->out,
		.size = s->out_size,
		.offset = span.offset,
		.missing_bytes = s->missing_bytes,
	};
	s->missing_bytes = 0;
	return 1;
}

static void ftrace_destroy(struct source *source)
{
	struct source_ftrace *s = (struct source_ftrace *)source;

	source_destroy(s->pages);
	free(s->devices);
	free(s->page);
	free(s->out);
	free(s);
}

static const struct source_ops ftrace_ops = {.next = ftrace_next, .destroy = ftrace_destroy};

int source_ftrace_adopt_create(struct source *pages, const struct ftrace_facts *facts,
			       const uint32_t *devices, size_t n_devices, struct source **ret)
{
	struct source_ftrace *s = calloc(1, sizeof(*s));

	if (!s) {
		source_destroy(pages);
		return -ENOMEM;
	}
	s->source.ops = &ftrace_ops;
	s->pages = pages;
	s->facts = *facts;
	s->keeps_all = !n_devices;
	s->devices = calloc(n_devices ? n_devices : FTRACE_KEPT_MAX, sizeof(*s->devices));
	s->page = malloc(page_bytes(s));
	if (!s->devices || !s->page) {
		ftrace_destroy(&s->source);
		return -ENOMEM;
	}
	for (size_t i = 0; i < n_devices; i++)
		s->devices[i].device = devices[i];
	s->n_devices = n_devices;
	*ret = &s->source;
	return 0;
}

const struct ftrace_counts *source_ftrace_counts(const struct source *source)
{
	return &((const struct source_ftrace *)source)->counts;
}

void ftrace_counts_add(struct ftrace_counts *sum, const struct ftrace_counts *one)
{
	sum->pages += one->pages;
	sum->records += one->records;
	sum->other += one->other;
	sum->bad += one->bad;
	sum->bad_pages += one->bad_pages;
	sum->lost_pages += one->lost_pages;
	sum->lost += one->lost;
	for (size_t i = 0; i < one->n_foreign; i++)
		count_foreign(sum, one->foreign_devices[i].device, one->foreign_devices[i].count);
}

uint64_t ftrace_counts_entries(const struct ftrace_counts *counts)
{
	return counts->records + counts->foreign + counts->other + counts->bad;
}
