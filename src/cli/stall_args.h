/* SPDX-License-Identifier: MIT */
/**
 * @file
 * What `blkbox stall` was asked to do.
 */
#ifndef BLKBOX_CLI_STALL_ARGS_H
#define BLKBOX_CLI_STALL_ARGS_H

#include "stall.h"

struct stall_args {
	struct stall_options stall;
	char **names, **disks; /* what the options point to */
	pid_t *pids;
	char *const *command; /* NULL: none */
	bool as_root;	      /* run it as root, whoever called sudo */
	uint64_t duration_ns; /* 0: no end */
};

/** Exits on wrong usage. */
void stall_args_parse(struct stall_args *args, int argc, char **argv);
void stall_args_deinit(struct stall_args *args);

#endif
