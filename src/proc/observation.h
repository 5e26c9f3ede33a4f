/* SPDX-License-Identifier: MIT */
/**
 * @file
 * What one run of one experiment saw: counters and figures in the order that they are published in,
 * and every expectation beside what was observed.
 */
#ifndef BLKBOX_PROC_OBSERVATION_H
#define BLKBOX_PROC_OBSERVATION_H

#include "io_counters.h"

#include <stdbool.h>
#include <stdint.h>

enum {
	OBSERVATION_ITEMS = 12,
	OBSERVATION_CHECKS = 24,
	OBSERVATION_TASKS = 6,
	REASON_BYTES = 200
};

enum item_kind {
	ITEM_MEASURE,  /* before, after, delta */
	ITEM_COUNTERS, /* a single reading */
	ITEM_NUMBER,
	ITEM_BOOL,
};

struct item {
	const char *key; /* NULL: a measure that is the observation itself */
	enum item_kind kind;
	struct io_counters before, after, delta; /* ITEM_COUNTERS: after alone */
	int64_t number;
};

enum verdict_state {
	VERDICT_MET,
	VERDICT_NOT_MET,
	VERDICT_UNDECIDABLE, /* here: for a reason that is told */
};

enum relation {
	EXPECT_EQUAL,
	EXPECT_AT_LEAST,
	EXPECT_AT_MOST,
};

struct check {
	const char *subject; /* whose: "worker", "truncator", ... */
	const char *counter; /* the kernel's name, or a figure's */
	enum relation relation;
	int64_t expected;
	int64_t observed;
	enum verdict_state state;
	char reason[REASON_BYTES]; /* empty if it is met */
};

/** Whose I/O on the device is whose. */
struct observed_task {
	pid_t pid; /* thread */
	const char *role;
};

struct observation {
	unsigned repetition; /* from 1 */
	bool skipped;	     /* there are no items; why stands in @reason */
	char reason[REASON_BYTES];
	struct item items[OBSERVATION_ITEMS];
	size_t n_items;
	struct check checks[OBSERVATION_CHECKS];
	size_t n_checks;
	struct io_counters total; /* what the accounts of its tasks come to, nothing twice */
	struct observed_task tasks[OBSERVATION_TASKS];
	size_t n_tasks;
	/* CLOCK_MONOTONIC; from the workers' first step until everything is written back. */
	uint64_t from_ns, to_ns;
};

/** "met", "not met", "not decidable here". */
const char *verdict_name(enum verdict_state state);
/** "equal", "at least", "at most". */
const char *relation_name(enum relation relation);

/* Keys, subjects and roles are borrowed for good: literals. */

void observe_measure(struct observation *observation, const char *key,
		     const struct io_counters *before, const struct io_counters *after,
		     const struct io_counters *delta);
void observe_counters(struct observation *observation, const char *key,
		      const struct io_counters *counters);
void observe_number(struct observation *observation, const char *key, int64_t number);
void observe_bool(struct observation *observation, const char *key, bool value);
/** Adds to the total. */
void observe_total(struct observation *observation, const struct io_counters *delta);
void observe_task(struct observation *observation, pid_t pid, const char *role);

/** Compares, and keeps expectation, observation and result. */
void expect_figure(struct observation *observation, const char *subject, const char *counter,
		   enum relation relation, int64_t expected, int64_t observed);
void expect_counter(struct observation *observation, const char *subject,
		    const struct io_counters *delta, enum io_counter counter,
		    enum relation relation, uint64_t expected);
/** The last check cannot be decided here, whatever it came to. */
void expect_undecidable(struct observation *observation, const char *format, ...) _printf_(2, 3);
/** The experiment cannot be done here. */
void observation_skip(struct observation *observation, const char *format, ...) _printf_(2, 3);

/**
 * Of the whole: not met if one expectation is not met, else undecidable if one is.
 * @ret_reason: borrowed; NULL if all is met
 */
enum verdict_state observation_verdict(const struct observation *observation,
				       const char **ret_reason);

#endif
