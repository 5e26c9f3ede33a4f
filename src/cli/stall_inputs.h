/* SPDX-License-Identifier: MIT */
/**
 * @file
 * The files of samples that `blkbox stall report` was given, in the order of their time.
 */
#ifndef BLKBOX_CLI_STALL_INPUTS_H
#define BLKBOX_CLI_STALL_INPUTS_H

#include "stall_csv.h"
#include "why.h"

struct stall_input {
	char *path;   /* "-" is standard input */
	bool follows; /* the one before was rotated away from it: one run */
	struct stall_csv_health health;
};

struct stall_inputs {
	struct stall_input *items;
	size_t n;
};

/**
 * With PATH come PATH.1, PATH.2 ... that were rotated away, the oldest first; each file comes once.
 * 0 or -ENOMEM.
 */
int stall_inputs_init(struct stall_inputs *inputs, char *const *paths, size_t n);
void stall_inputs_deinit(struct stall_inputs *inputs);

/** Reads one from its start to its end. 0, or an error told in @why; what @row returned, too. */
int stall_input_read(struct stall_input *input, stall_csv_row row, void *context, struct why *why);

#endif
