/* SPDX-License-Identifier: MIT */
/**
 * @file
 * The kernel's I/O accounting of a process or thread, as in /proc/PID/io.
 */
#ifndef BLKBOX_PROC_IO_COUNTERS_H
#define BLKBOX_PROC_IO_COUNTERS_H

#include "why.h"

#include <stdint.h>
#include <sys/types.h>

/** In the kernel's order. */
enum io_counter {
	IO_RCHAR,	/* bytes that read(2) and the like returned */
	IO_WCHAR,	/* bytes that write(2) and the like took */
	IO_SYSCR,	/* calls of the first kind */
	IO_SYSCW,	/* calls of the second kind */
	IO_READ_BYTES,	/* that the block layer was asked to read */
	IO_WRITE_BYTES, /* that became dirty in the page cache, or were written directly */
	IO_CANCELLED_WRITE_BYTES, /* that were dirty, and were thrown away before they were written
				   */
	N_IO_COUNTERS
};

struct io_counters {
	uint64_t value[N_IO_COUNTERS];
};

/** The kernel's name of a counter. */
const char *io_counter_name(enum io_counter counter);

/** -ENODATA: a counter is missing; -EBADMSG: it is no such text. */
int io_counters_parse(const char *text, struct io_counters *ret, struct why *why);

/**
 * Opens /proc: a descriptor, for @proc_fd below.
 * -ENOENT: it is not mounted; -ESRCH: it is that of another PID namespace, whose processes have
 * other numbers
 */
int io_counters_open_proc(struct why *why);
/**
 * Of a process, or, with @tid, of one thread of it alone.
 * @proc_fd: the directory that stands for /proc
 * @tid: 0: all threads, those that have ended and children that were waited for
 * -EACCES: may not be read; -ENOENT: no such process, or no accounting; else as io_counters_parse()
 */
int io_counters_read(int proc_fd, pid_t pid, pid_t tid, struct io_counters *ret, struct why *why);

/** -ERANGE if a counter has become smaller: it is then not the same process. */
int io_counters_subtract(const struct io_counters *after, const struct io_counters *before,
			 struct io_counters *ret, struct why *why);

#endif
