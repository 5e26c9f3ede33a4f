/* SPDX-License-Identifier: MIT */
/**
 * @file
 * What the reports in text and JSON share. Only src/output/report*.c include it.
 */
#ifndef BLKBOX_OUTPUT_REPORT_PARTS_H
#define BLKBOX_OUTPUT_REPORT_PARTS_H

#include "report.h"

#include <math.h>

/** The span of the figures. */
double report_seconds(const struct report *report);
/** I/Os that did not complete and counted as in flight until they were given up, losses apart. */
uint64_t report_overdue(const struct stats_device *device);
/** Completions that are missing though nobody told of a loss. */
uint64_t report_untold(const struct report *report);
/** From the start of the recording; 0 for what is before it. */
uint64_t report_since(const struct report *report, uint64_t time_ns);
/** A mean depth; NaN if no time is known. */
double report_depth(unsigned __int128 sum, uint64_t ns);
/** Name of a device above: of the recording, else "major,minor". Static storage. */
const char *report_level_name(const struct report *report, uint32_t tag, uint32_t device);
/** NULL if it was not merged. */
const char *report_merge_name(enum track_merge merge);

/** "in_flight" ... */
const char *report_end_name(enum track_end end);
/**
 * What counts as throughput: of one operation its bytes; of several, those that are data, without
 * discards.
 */
uint64_t report_data_bytes(const struct stats_group *group);

/** "12.3 us": three digits. */
struct figure {
	char text[32];
};
/** "1 event", "2 events". */
struct figure figure_some(uint64_t n, const char *what);
struct figure figure_ns(uint64_t ns);
/** "EIO"; a number that has no name as such. */
struct figure report_error(int error);
struct figure figure_count(uint64_t n);
struct figure figure_rate(double n);
/** "-" where the histogram has nothing. @q < 0: the mean. */
struct figure figure_latency(const struct histogram *h, double q);
struct figure figure_mib(uint64_t bytes);
/** A process's or another owner's name, escaped. */
struct owner_text {
	char text[96];
};
struct owner_text owner_text(enum owner_kind owner, uint32_t pid, const char *comm);

/* report_text.c: what was recorded, and what was lost. */
void report_print_head(const struct report *report, FILE *out);
/* report_tables.c: the sections. 0 or -ENOMEM. */
int report_sections(const struct report *report, FILE *out);
/* report_json_series.c: "series", or null. */
void report_json_series(const struct report *report, const struct stats_series *series,
			struct json *json);
/* report_json_ios.c: "slowest", "failed", "unfinished". */
void report_json_ios(const struct report *report, struct json *json);
/** A thread's name, escaped; null if it is not known. */
void report_json_comm(struct json *json, const char *key, const char *comm);
/* report_ios.c: I/Os one by one. 0 or -ENOMEM. */
int report_slowest(const struct report *report, size_t n, FILE *out);
int report_failed(const struct report *report, size_t n, FILE *out);
/** @all: also those that were not open for longer than others took. */
int report_unfinished(const struct report *report, size_t n, bool all, FILE *out);

/** An operation's figures over all devices. To be freed by stats_group_deinit(). */
int report_sum(const struct report *report, enum operation operation, struct stats_group *ret);
#endif
