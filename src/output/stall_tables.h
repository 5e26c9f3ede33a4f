/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Stalls for people, a screen each, and for programs.
 */
#ifndef BLKBOX_OUTPUT_STALL_TABLES_H
#define BLKBOX_OUTPUT_STALL_TABLES_H

#include "json.h"
#include "stall_csv.h"
#include "stall_join.h"

/** A file that was read. */
struct stall_file {
	const char *name;
	struct stall_csv_health health;
};

struct stall_report {
	const struct stall_event *stalls; /* in order of time */
	size_t n;
	uint64_t all; /* that were found: the longest are there */
	const struct stall_finder_options *options;
	const struct stall_summary *summary;
	const struct stall_file *files;
	size_t n_files;
	const char *log;		       /* as given; NULL: there is none beside it */
	const struct recording *recording;     /* NULL as the next, without a log */
	const struct stall_requests *requests; /* one for each stall */
};

/** @shown: stalls that are told in full, the longest of them; the others are counted. */
void stall_report_print(const struct stall_report *report, size_t shown, FILE *out);
/** One object. */
void stall_report_json(const struct stall_report *report, struct json *json);

/** "buffered", "direct" ... */
const char *stall_writer_kind_name(enum stall_writer_kind kind);
/** The longest wait of a stall, in milliseconds. */
double stall_longest_ms(const struct stall_event *stall);
/** True if no wait was accounted for, though there must have been some: the accounting was off. */
bool stall_blind(const struct stall_summary *summary);

#endif
