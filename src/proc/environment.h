/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Where an experiment was made.
 */
#ifndef BLKBOX_PROC_ENVIRONMENT_H
#define BLKBOX_PROC_ENVIRONMENT_H

#include "file_system.h"
#include "file_digest.h"
#include "why.h"

#include <stdbool.h>
#include <sys/utsname.h>

enum {
	LABEL_BYTES = 32
};

struct environment {
	struct utsname machine;
	struct file_system file_system;
	char label[LABEL_BYTES]; /* as stat(1) calls the file system */
	long page_bytes;
	bool accounting;		 /* all counters of /proc/PID/io are there */
	char program[FILE_DIGEST_BYTES]; /* digest of the running program; empty: not readable */
};

/** @dir_fd: of the directory in which it is made. */
int environment_read(int proc_fd, int dir_fd, struct environment *ret, struct why *why);

#endif
