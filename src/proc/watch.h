/* SPDX-License-Identifier: MIT */
/**
 * @file
 * What may end an experiment before its time: a signal, a time limit. And how children are awaited.
 */
#ifndef BLKBOX_PROC_WATCH_H
#define BLKBOX_PROC_WATCH_H

#include "why.h"

#include <stdint.h>
#include <sys/types.h>

struct watch {
	int signal_fd; /* SIGCHLD, and what people end programs with */
	int timer_fd;
	uint64_t limit_ns;
};

/** Blocks the signals, in threads that are made later, too, and starts the time limit. */
int watch_init(struct watch *watch, uint64_t limit_ns, struct why *why);
void watch_deinit(struct watch *watch);

/** 0: go on; -EINTR: a signal came; -ETIME: the time is over. */
int watch_check(const struct watch *watch, struct why *why);
/**
 * Waits until the child @pid has ended or, with WUNTRACED in @flags, stopped.
 * @ret_status: as of waitpid(2). Errors as of watch_check(); the child is then still to be waited
 * for.
 */
int watch_child(const struct watch *watch, pid_t pid, int flags, int *ret_status, struct why *why);

#endif
