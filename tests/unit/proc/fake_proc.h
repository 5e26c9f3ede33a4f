/* SPDX-License-Identifier: MIT */
/**
 * @file
 * A made-up /proc and /sys.
 */
#ifndef BLKBOX_TESTS_FAKE_PROC_H
#define BLKBOX_TESTS_FAKE_PROC_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct fake_proc {
	char path[64];
	int root_fd, proc_fd, sys_fd;
};

/** A task as its stat file tells of it. */
struct fake_task {
	pid_t pid;
	pid_t tid; /* 0: the first one */
	const char *name;
	char state;
	pid_t parent;
	unsigned threads; /* 0: one */
	unsigned major_faults;
	unsigned long long start_ticks, blkio_ticks;
};

struct fake_io {
	unsigned long long rchar, wchar, read_bytes, write_bytes;
};

void fake_proc_make(struct fake_proc *fake);
void fake_proc_remove(struct fake_proc *fake);
/** Directories are made as needed; what is there is written over, in the same file. */
void fake_put(struct fake_proc *fake, const char *path, const char *text);
void fake_remove(struct fake_proc *fake, const char *path);
void fake_task(struct fake_proc *fake, const struct fake_task *task);
void fake_io(struct fake_proc *fake, pid_t pid, const struct fake_io *io);
void fake_end(struct fake_proc *fake, pid_t pid);

#endif
