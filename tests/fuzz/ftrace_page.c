/* SPDX-License-Identifier: MIT */
/*
 * Pages of the ftrace ring buffer. The first byte chooses protocol and page size; then the texts
 * that tell the layout are read from the same bytes.
 */
#include "fuzz.h"

#include "decoder.h"
#include "source_ftrace.h"

static void read_pages(const struct ftrace_facts *facts, const uint8_t *data, size_t size)
{
	struct ftrace_counts counts;
	struct source *queue, *records;
	struct blkbox_event event;
	struct decoder *decoder;
	uint64_t n = 0;
	int r;

	FUZZ_CHECK(source_queue_create(&queue) == 0);
	FUZZ_CHECK(source_queue_append(queue, data, size) == 0);
	source_queue_end(queue);
	FUZZ_CHECK(source_ftrace_adopt_create(queue, facts, NULL, 0, &records) == 0);
	FUZZ_CHECK(decoder_adopt_create(records, &decoder) == 0);
	while ((r = decoder_next(decoder, &event, NULL)) == 1)
		n++;
	FUZZ_CHECK(r == 0);
	counts = *source_ftrace_counts(records);
	FUZZ_CHECK(counts.pages + counts.bad_pages >= size / ftrace_page_bytes(&facts->layout));
	FUZZ_CHECK(n <= counts.records);
	FUZZ_CHECK(ftrace_counts_entries(&counts) >= counts.records);
	decoder_destroy(decoder);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct ftrace_facts choices[] = {
		{{16, 4080, 8}, 14, 1},
		{{16, 4080, 8}, 14, 2},
		{{16, 240, 8}, 14, 1},
		{{16, 65520, 8}, 14, 2},
	};
	struct ftrace_page_layout layout;
	struct ftrace_facts facts;
	char *text;

	if (!size)
		return 0;
	read_pages(&choices[data[0] % 4], data + 1, size - 1);
	text = fuzz_text(data, size);
	if (ftrace_page_layout_parse(text, &layout) == 0)
		FUZZ_CHECK(ftrace_page_layout_check(&layout) == 0);
	ftrace_page_check_entries(text);
	ftrace_facts_parse(text, size + 1, &facts);
	free(text);
	return 0;
}
