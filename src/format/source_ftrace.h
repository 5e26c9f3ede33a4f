/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Ring-buffer pages of one CPU as a run of records, as if a relay channel had given them: with
 * magic, sequence numbers for each device, and time. Events of other devices are left out.
 */
#ifndef BLKBOX_FORMAT_SOURCE_FTRACE_H
#define BLKBOX_FORMAT_SOURCE_FTRACE_H

#include "ftrace_record.h"
#include "source.h"

/** Events of a device that shared the buffer. */
struct ftrace_foreign {
	uint32_t device; /* major << 20 | minor; 0: of more devices than are told apart */
	uint64_t count;	 /* with notes */
};

enum {
	FTRACE_FOREIGN_MAX = 64,
	FTRACE_KEPT_MAX = 1024, /* where all devices are kept; events of more are foreign */
};

/** What was in the pages so far. records + foreign + other + bad = the kernel's entries. */
struct ftrace_counts {
	uint64_t pages;
	uint64_t records; /* of the devices asked for, with notes */
	uint64_t foreign;
	uint64_t other;	     /* of other tracers, or somebody's trace_marker */
	uint64_t bad;	     /* records whose lengths contradict each other */
	uint64_t bad_pages;  /* whole, or their rest */
	uint64_t lost_pages; /* pages in front of which the kernel says that entries are missing */
	uint64_t lost;	     /* entries, as far as the pages count them */
	size_t n_foreign;    /* in @foreign_devices */
	struct ftrace_foreign foreign_devices[FTRACE_FOREIGN_MAX];
};

/** Adds @one to @sum, which is all zero at first. */
void ftrace_counts_add(struct ftrace_counts *sum, const struct ftrace_counts *one);
/** Everything that the kernel put into the pages. */
uint64_t ftrace_counts_entries(const struct ftrace_counts *counts);

/**
 * @pages: adopted, also on failure
 * @devices: whose events are kept; copied. None: all are kept
 */
int source_ftrace_adopt_create(struct source *pages, const struct ftrace_facts *facts,
			       const uint32_t *devices, size_t n_devices, struct source **ret);

/** So far. @source: of source_ftrace_adopt_create(). */
const struct ftrace_counts *source_ftrace_counts(const struct source *source);

#endif
