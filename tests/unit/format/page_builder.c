/* SPDX-License-Identifier: MIT */
#include "page_builder.h"

#include <string.h>

void page_begin(struct page *page, uint64_t time_ns)
{
	memset(page, 0, sizeof(*page));
	memcpy(page->bytes, &time_ns, 8);
	page->at = DATA;
}

void page_word(struct page *page, uint32_t word)
{
	memcpy(page->bytes + page->at, &word, 4);
	page->at += 4;
}

void page_head(struct page *page, uint32_t type_len, uint32_t delta)
{
	page_word(page, delta << 5 | type_len);
}

void page_end(struct page *page, uint64_t high)
{
	uint64_t commit = (page->at - DATA) | high;

	memcpy(page->bytes + 8, &commit, 8);
}

void page_v1(struct page *page, uint32_t delta, uint32_t device, uint64_t sector, uint32_t action,
	     uint16_t pdu_len, const void *pdu)
{
	size_t words = (48 + pdu_len + 3) / 4;
	uint8_t *r = page->bytes + page->at + 4;
	uint32_t pid = 7, bytes = 4096, cpu = 3;
	uint16_t type = TYPE_ID;

	page_head(page, words, delta);
	memset(r, 0xee, 48); /* what the kernel leaves alone */
	memcpy(r, &type, 2);
	memcpy(r + 16, &sector, 8);
	memcpy(r + 24, &bytes, 4);
	memcpy(r + 28, &action, 4);
	memcpy(r + 32, &pid, 4);
	memcpy(r + 36, &device, 4);
	memcpy(r + 40, &cpu, 4);
	memset(r + 44, 0, 2);
	memcpy(r + 46, &pdu_len, 2);
	if (pdu_len)
		memcpy(r + 48, pdu, pdu_len);
	page->at += 4 * words;
}

void page_v2(struct page *page, uint32_t delta, uint32_t device, uint64_t sector, uint64_t action)
{
	uint8_t *r = page->bytes + page->at + 4;
	uint32_t pid = 7, bytes = 4096, cpu = 3;
	uint16_t type = TYPE_ID;

	page_head(page, 16, delta);
	memset(r, 0xee, 64);
	memcpy(r, &type, 2);
	memcpy(r + 16, &sector, 8);
	memcpy(r + 24, &bytes, 4);
	memcpy(r + 28, &pid, 4);
	memcpy(r + 32, &action, 8);
	memcpy(r + 40, &device, 4);
	memcpy(r + 44, &cpu, 4);
	memset(r + 48, 0, 4);
	page->at += 64;
}
