/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Files of /proc that are read again and again: they stay open as long as there are descriptors.
 *
 * An open file belongs to its process for good: when that has gone, reading gives ESRCH, whoever
 * has its number by then.
 */
#ifndef BLKBOX_PROC_PROC_FILE_H
#define BLKBOX_PROC_PROC_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct proc_files {
	int proc_fd; /* borrowed */
	unsigned kept;
	unsigned most; /* that may stay open */
	bool is_real;  /* PIDs are those of running processes, and system calls know them */
};

/** Raises the limit of descriptors as far as it goes. @proc_fd: stands for /proc, borrowed */
void proc_files_init(struct proc_files *files, int proc_fd);

/**
 * Reads from the start, in one call: up to @size - 1 bytes, and a NUL.
 * @fd: -1 as long as it is not open
 * Returns their number or -errno; -ESRCH whenever the process has gone.
 */
ssize_t proc_file_read(struct proc_files *files, int *fd, const char *path, char *buffer,
		       size_t size);
/** The same for files that the kernel gives out in pieces. */
ssize_t proc_file_read_all(struct proc_files *files, int *fd, const char *path, char *buffer,
			   size_t size);
void proc_file_close(struct proc_files *files, int *fd);

/**
 * CPU time of all threads of a process, also of those that have ended. It costs half of reading the
 * least file. FIGURE_UNKNOWN: not to be had.
 */
uint64_t proc_cpu_ns(const struct proc_files *files, pid_t pid);

/** Decimal digits at *@text, which moves behind them; blanks in front are skipped. */
static inline uint64_t proc_number(const char **text)
{
	const char *at = *text;
	uint64_t value = 0;

	while (*at == ' ' || *at == '\t')
		at++;
	while (*at >= '0' && *at <= '9')
		value = value * 10 + (uint64_t)(*at++ - '0');
	*text = at;
	return value;
}

#endif
