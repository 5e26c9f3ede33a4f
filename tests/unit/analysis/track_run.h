/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Follows a built trace as the report does, and keeps all that track tells.
 */
#ifndef BLKBOX_TESTS_TRACK_RUN_H
#define BLKBOX_TESTS_TRACK_RUN_H

#include "../trace_builder.h"
#include "stats.h"

#include <criterion/criterion.h>

enum {
	RUN_MAX = 4096
};

struct run {
	struct trace t;
	const struct recording_loss *losses; /* told to track, not to stats */
	size_t n_losses;
	/* What track told, in order. */
	struct track_io ios[RUN_MAX], pieces[RUN_MAX], requests[RUN_MAX], ended[RUN_MAX];
	enum track_end ends[RUN_MAX];
	size_t n_ios, n_pieces, n_requests, n_ended, n_strays[TRACK_STRAYS], n_queued, n_merged;
	uint64_t queued_bytes, issued_bytes;
	size_t n_requests_ended, n_requeued;
	uint64_t requeued_done_bytes; /* that were done before the rest was given back */
	/* And what stats make of it. */
	struct recording *recording;
	struct stats *stats;
	const struct stats_result *result;
};

/** Once for each test: writes the trace, reads it, follows it. */
void run_trace(struct run *run);
/** The same for the files "in*" that are there. */
void run_set(struct run *run);
/** The same for recordings that are there. */
void run_paths(struct run *run, char *const *paths, size_t n);
void run_free(struct run *run);
/** The figures of an operation of the first device; fails the test if there are none. */
const struct stats_group *run_operation(const struct run *run, enum operation operation);
/** n of a stage. */
uint64_t run_n(const struct stats_group *group, enum stats_stage stage);

#endif
