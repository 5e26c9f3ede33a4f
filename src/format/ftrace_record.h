/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Entries of the trace ring buffer as records: the same as those of relay channels, but for magic,
 * sequence number and time, which the kernel leaves out.
 */
#ifndef BLKBOX_FORMAT_FTRACE_RECORD_H
#define BLKBOX_FORMAT_FTRACE_RECORD_H

#include "ftrace_page.h"

#include <stdbool.h>

/** What must be known of a machine to read its pages. */
struct ftrace_facts {
	struct ftrace_page_layout layout;
	uint16_t type_id; /* of the blk tracer's entries */
	uint8_t protocol; /* 1 or 2: which record they hold */
};

/** The keys under which the facts are in a log's META, and their values, all decimal. */
#define FTRACE_META_DATA_OFFSET	  "ftrace_data_offset"
#define FTRACE_META_DATA_BYTES	  "ftrace_data_bytes"
#define FTRACE_META_COMMIT_OFFSET "ftrace_commit_offset"
#define FTRACE_META_TYPE_ID	  "ftrace_type_id"
#define FTRACE_META_PROTOCOL	  "ftrace_protocol"
/* Written at the end: entries of any kind that the kernel says it handed out. */
#define FTRACE_META_ENTRIES "ftrace_entries"

/** @value: of META, by key; NULL for a key that is not there. -EINVAL: not whole, or nonsense. */
int ftrace_facts_read(const char *(*value)(const void *context, const char *key),
		      const void *context, struct ftrace_facts *ret);

/** The same from META's text itself: "key=value" strings, each ended by a NUL. */
int ftrace_facts_parse(const char *text, size_t size, struct ftrace_facts *ret);

enum ftrace_entry_kind {
	FTRACE_RECORD,
	FTRACE_OTHER, /* another tracer's, or somebody's trace_marker */
	FTRACE_BAD,   /* a record's, but its lengths contradict each other */
};

struct ftrace_record {
	uint32_t device; /* major << 20 | minor */
	uint32_t pid;
	size_t size; /* with its payload */
	uint8_t protocol;
	bool note;
};

/** @ret is set for FTRACE_RECORD. */
enum ftrace_entry_kind ftrace_record_read(const struct ftrace_facts *facts,
					  const struct ftrace_entry *entry,
					  struct ftrace_record *ret);

/** Writes the whole record: @record->size bytes at @out. */
void ftrace_record_write(const struct ftrace_record *record, const struct ftrace_entry *entry,
			 uint32_t sequence, uint8_t *out);

#endif
