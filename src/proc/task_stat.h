/* SPDX-License-Identifier: MIT */
/**
 * @file
 * What /proc/PID/stat and /proc/PID/task/TID/stat tell of a task.
 */
#ifndef BLKBOX_PROC_TASK_STAT_H
#define BLKBOX_PROC_TASK_STAT_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum {
	TASK_NAME_BYTES = 64, /* kernel threads have names of up to 63 */
};

struct task_stat {
	char name[TASK_NAME_BYTES]; /* any bytes; may be empty */
	char state;
	pid_t parent;
	uint64_t major_faults; /* it had to wait for pages to be read */
	uint64_t threads;      /* of its process */
	uint64_t start_ticks;  /* since boot */
	uint64_t blkio_ticks;  /* waited for block I/O; FIGURE_UNKNOWN: old kernels have none */
};

/**
 * Of the whole content of the file: a name may have parentheses, blanks and newlines in it.
 * 0 or -EBADMSG
 */
int task_stat_parse(const char *text, size_t n, struct task_stat *ret);

#endif
