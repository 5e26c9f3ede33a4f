/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Pages of the kernel's trace ring buffer, as trace_pipe_raw hands them out: whole pages, each with
 * a head and a run of entries.
 *
 * The bytes are not trusted. Layout: events/header_page of tracefs; entries: events/header_event.
 */
#ifndef BLKBOX_FORMAT_FTRACE_PAGE_H
#define BLKBOX_FORMAT_FTRACE_PAGE_H

#include <stddef.h>
#include <stdint.h>

enum {
	FTRACE_PAGE_MAX = 1 << 20, /* bytes of a page, the largest that is believed */
};

/** Where things are in a page: events/header_page. */
struct ftrace_page_layout {
	uint32_t data_offset;
	uint32_t data_bytes;
	uint32_t commit_offset;
};

/** Bytes of a whole page. */
static inline uint32_t ftrace_page_bytes(const struct ftrace_page_layout *layout)
{
	return layout->data_offset + layout->data_bytes;
}

/** -EINVAL: nobody has such pages. */
int ftrace_page_layout_check(const struct ftrace_page_layout *layout);
/** Reads the text of events/header_page. -EINVAL: not as we know it. */
int ftrace_page_layout_parse(const char *text, struct ftrace_page_layout *ret);
/** Checks the text of events/header_event: 0 if entries look as this file takes them apart. */
int ftrace_page_check_entries(const char *text);

enum ftrace_page_lost {
	FTRACE_NOTHING_LOST,
	FTRACE_LOST,	     /* entries in front of the page, their number is not told */
	FTRACE_LOST_COUNTED, /* entries in front of the page */
};

/** A place in a page. */
struct ftrace_page {
	const uint8_t *at;
	const uint8_t *end;
	uint64_t time_ns; /* of the trace clock: of the page; then of the last entry */
	enum ftrace_page_lost lost;
	uint64_t lost_count;
};

/** An entry that holds data. */
struct ftrace_entry {
	uint64_t time_ns;
	const uint8_t *data; /* in the page */
	size_t size;	     /* may count up to 7 bytes of padding */
};

/** @bytes: a whole page. -EBADMSG: its head contradicts itself; @ret is untouched. */
int ftrace_page_open(const struct ftrace_page_layout *layout, const uint8_t *bytes,
		     struct ftrace_page *ret);
/** 1 = @ret is set, 0 = end, -EBADMSG: the rest, from @page->at on, makes no sense. */
int ftrace_page_next(struct ftrace_page *page, struct ftrace_entry *ret);

#endif
