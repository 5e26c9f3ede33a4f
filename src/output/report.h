/* SPDX-License-Identifier: MIT */
/**
 * @file
 * A recording's statistics for people (a screen, and sections on request) and for programs.
 */
#ifndef BLKBOX_OUTPUT_REPORT_H
#define BLKBOX_OUTPUT_REPORT_H

#include "json.h"
#include "stats.h"

/** Sections behind the first screen. */
enum report_section {
	REPORT_PROCESS = 1 << 0,
	REPORT_SIZE = 1 << 1,
	REPORT_CPU = 1 << 2,
	REPORT_CGROUP = 1 << 3,
	REPORT_DEVICE = 1 << 4,
	REPORT_SECOND = 1 << 5,
	REPORT_STAGES = 1 << 6,
	REPORT_SEEK = 1 << 7,
	REPORT_DEPTH = 1 << 8,
};

/** What was left out of a report for want of room. */
struct report_cut {
	size_t bucket_fold; /* so many spans of time became one */
	size_t devices_left_out, series_left_out;
	size_t groups_max;
	const struct recording_loss *losses; /* instead of the recording's */
	size_t n_losses;
};

struct report {
	const char *name; /* of the recording, as given */
	const struct recording *recording;
	const struct stats_result *result;
	bool whole;		      /* nothing is cut off, damaged or dropped */
	unsigned sections;	      /* enum report_section */
	size_t slow;		      /* I/Os in the list of slow ones */
	size_t failed; /* in those of failed and of unfinished ones; 0: what must be known */
	const struct report_cut *cut; /* NULL: nothing is left out */
};

/** On success 0, else -ENOMEM; failures of @out stay with it. */
int report_print(const struct report *report, FILE *out);
/** @b beside @a, with ratios. */
int report_print_comparison(const struct report *a, const struct report *b, FILE *out);

/** One object, with all there is, whatever the sections. @key: as in json_object_begin(). */
void report_json(const struct report *report, struct json *json, const char *key);
/** An object with both and the ratios. */
int report_json_comparison(const struct report *a, const struct report *b, struct json *json);

#endif
