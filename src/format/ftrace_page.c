/* SPDX-License-Identifier: MIT */
#include "ftrace_page.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The kernel's names for the values of an entry's type_len (include/linux/ring_buffer.h). */
enum {
	TYPE_LEN_BITS = 5,
	TYPE_DATA_MAX = 28,
	TYPE_PADDING = 29,
	TYPE_TIME_EXTEND = 30,
	TYPE_TIME_STAMP = 31,
	TIME_DELTA_BITS = 27,
};

/* The low 32 bits of `commit`; the high ones may be anything (sign extension). */
#define COMMIT_SIZE   0x3fffffffu
#define COMMIT_STORED (1u << 30) /* the number of lost entries follows the data */
#define COMMIT_LOST   (1u << 31)

/* An absolute stamp has 59 bits; the rest is that of the stamp before. */
#define STAMP_HIGH (~0ull << (TIME_DELTA_BITS + 32))

static uint32_t load_u32(const uint8_t *bytes)
{
	uint32_t value;

	memcpy(&value, bytes, sizeof(value));
	return value;
}

static uint64_t load_u64(const uint8_t *bytes)
{
	uint64_t value;

	memcpy(&value, bytes, sizeof(value));
	return value;
}

/* "field: TYPE NAME;  offset:O;  size:S;  signed:X;" */
static int find_field(const char *text, const char *name, uint32_t *ret_offset, uint32_t *ret_size)
{
	char key[32];
	const char *at;

	snprintf(key, sizeof(key), " %s;", name);
	at = strstr(text, key);
	if (!at || sscanf(at + strlen(key), " offset:%u; size:%u;", ret_offset, ret_size) != 2)
		return -EINVAL;
	return 0;
}

int ftrace_page_layout_check(const struct ftrace_page_layout *layout)
{
	if (layout->commit_offset < 8 || layout->commit_offset > 64 ||
	    layout->data_offset < layout->commit_offset + 4 || layout->data_offset > 128 ||
	    layout->data_bytes < 64 || layout->data_bytes > FTRACE_PAGE_MAX - layout->data_offset)
		return -EINVAL;
	return 0;
}

int ftrace_page_layout_parse(const char *text, struct ftrace_page_layout *ret)
{
	struct ftrace_page_layout layout;
	uint32_t stamp_offset, stamp_size, commit_size;

	if (find_field(text, "timestamp", &stamp_offset, &stamp_size) < 0 ||
	    find_field(text, "commit", &layout.commit_offset, &commit_size) < 0 ||
	    find_field(text, "data", &layout.data_offset, &layout.data_bytes) < 0)
		return -EINVAL;
	if (stamp_offset != 0 || stamp_size != 8 || ftrace_page_layout_check(&layout) < 0)
		return -EINVAL;
	*ret = layout;
	return 0;
}

int ftrace_page_check_entries(const char *text)
{
	/* Each stands in a line of its own, with one number behind it. */
	static const struct {
		const char *word;
		unsigned long value;
	} facts[] = {
		{"type_len", TYPE_LEN_BITS},	 {"time_delta", TIME_DELTA_BITS},
		{"padding", TYPE_PADDING},	 {"time_extend", TYPE_TIME_EXTEND},
		{"time_stamp", TYPE_TIME_STAMP}, {"data max", TYPE_DATA_MAX},
	};

	for (size_t i = 0; i < sizeof(facts) / sizeof(facts[0]); i++) {
		const char *at = strstr(text, facts[i].word);

		at = at ? strpbrk(at, "0123456789\n") : NULL;
		if (!at || strtoul(at, NULL, 10) != facts[i].value)
			return -EINVAL;
	}
	return 0;
}

int ftrace_page_open(const struct ftrace_page_layout *layout, const uint8_t *bytes,
		     struct ftrace_page *ret)
{
	uint32_t commit = load_u32(bytes + layout->commit_offset);
	uint32_t size = commit & COMMIT_SIZE;
	struct ftrace_page page = {
		.at = bytes + layout->data_offset,
		.time_ns = load_u64(bytes),
	};

	if (size > layout->data_bytes)
		return -EBADMSG;
	page.end = page.at + size;
	if (commit & COMMIT_LOST)
		page.lost = FTRACE_LOST;
	if (commit & COMMIT_LOST && commit & COMMIT_STORED) {
		if (layout->data_bytes - size < 8)
			return -EBADMSG;
		page.lost = FTRACE_LOST_COUNTED;
		page.lost_count = load_u64(page.end);
	}
	*ret = page;
	return 0;
}

/* Length of an entry that tells it in its second word, which counts; 0: it cannot be true. */
static size_t long_length(const uint8_t *at, size_t there)
{
	uint32_t length;

	if (there < 8)
		return 0;
	length = load_u32(at + 4);
	return length < 4 || length > there - 4 ? 0 : length;
}

static void advance(struct ftrace_page *page, size_t size)
{
	size_t there = (size_t)(page->end - page->at);

	size = (size + 3) & ~(size_t)3;
	page->at += size < there ? size : there;
}

/* Passes over an entry without data. 1 = done, 0 = nothing follows, -EBADMSG. */
static int pass_over(struct ftrace_page *page, uint32_t type, uint32_t delta)
{
	size_t there = (size_t)(page->end - page->at);
	uint64_t value;

	if (type == TYPE_PADDING) {
		size_t length;

		if (!delta)
			return 0;
		/* Discarded by its writer; its time went to the entry behind it. */
		length = long_length(page->at, there);
		if (!length)
			return -EBADMSG;
		advance(page, 4 + length);
		return 1;
	}
	if (there < 8)
		return -EBADMSG;
	value = ((uint64_t)load_u32(page->at + 4) << TIME_DELTA_BITS) + delta;
	if (type == TYPE_TIME_EXTEND)
		page->time_ns += value;
	else
		page->time_ns = (page->time_ns & STAMP_HIGH) | value;
	advance(page, 8);
	return 1;
}

static int take_data(struct ftrace_page *page, uint32_t type, uint32_t delta,
		     struct ftrace_entry *ret)
{
	size_t there = (size_t)(page->end - page->at);
	size_t head = type ? 4 : 8;
	size_t size = type ? (size_t)type * 4 : long_length(page->at, there);

	if (!size || size > there - 4)
		return -EBADMSG;
	if (!type)
		size -= 4;
	page->time_ns += delta;
	*ret = (struct ftrace_entry){
		.time_ns = page->time_ns,
		.data = page->at + head,
		.size = size,
	};
	advance(page, head + size);
	return 1;
}

int ftrace_page_next(struct ftrace_page *page, struct ftrace_entry *ret)
{
	while (page->end - page->at >= 4) {
		uint32_t head = load_u32(page->at);
		uint32_t type = head & ((1u << TYPE_LEN_BITS) - 1);
		uint32_t delta = head >> TYPE_LEN_BITS;
		int r;

		if (type <= TYPE_DATA_MAX)
			return take_data(page, type, delta, ret);
		r = pass_over(page, type, delta);
		if (r <= 0)
			return r;
	}
	return 0;
}
