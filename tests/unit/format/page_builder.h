/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Builds ring-buffer pages from literals, as a 64-bit kernel with pages of 4 KiB lays them out.
 */
#ifndef BLKBOX_TESTS_PAGE_BUILDER_H
#define BLKBOX_TESTS_PAGE_BUILDER_H

#include "blktrace.h"

#include <stddef.h>
#include <stdint.h>

enum {
	PAGE = 4096,
	DATA = 16,
	TYPE_ID = 14,
	SDA = 8 << 20,
	SDB = 8 << 20 | 16,
};

/** A page that is filled word by word, from page_begin() to page_end(). */
struct page {
	uint8_t bytes[PAGE];
	size_t at;
};

void page_begin(struct page *page, uint64_t time_ns);
void page_word(struct page *page, uint32_t word);
void page_head(struct page *page, uint32_t type_len, uint32_t delta);
/** @high: what the kernel leaves in the upper bits of the size */
void page_end(struct page *page, uint64_t high);

/** Records of thread 7 on CPU 3, 4096 bytes, of both protocols. */
void page_v1(struct page *page, uint32_t delta, uint32_t device, uint64_t sector, uint32_t action,
	     uint16_t pdu_len, const void *pdu);
void page_v2(struct page *page, uint32_t delta, uint32_t device, uint64_t sector, uint64_t action);

/* Q and C of a write, as the kernel numbers them. */
#define QUEUE_WRITE    ((BT_WRITE | BT_QUEUE) << 16 | BT_ACT_QUEUE)
#define COMPLETE_WRITE ((BT_WRITE | BT_COMPLETE) << 16 | BT_ACT_COMPLETE)
#define MESSAGE	       (BT_NOTIFY << 16 | BT_NOTE_MESSAGE)

#endif
