/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Worker processes that do one thing each, and are stopped before and after it, so that somebody
 * else can read their counters meanwhile. They die with the process that made them.
 */
#ifndef BLKBOX_PROC_CREW_H
#define BLKBOX_PROC_CREW_H

#include "watch.h"

#include <stdint.h>
#include <sys/types.h>

enum {
	CREW_MAX = 4,
	WORKER_VALUES = 4,
	WORKER_FD = 3, /* where a worker finds what it keeps */
};

/** What a worker tells without a system call that would be counted: it is in shared memory. */
struct worker_report {
	int error;		      /* -errno; 0 */
	char what[96];		      /* that failed, or was refused */
	int refused;		      /* -errno of a call that is not to be had here; 0 */
	int64_t value[WORKER_VALUES]; /* what the action has to tell */
};

/**
 * What a worker does; in the worker. 0 or -errno, with report->what. It may stop itself on the way
 * with worker_stop().
 */
typedef int (*worker_action)(const void *context, struct worker_report *report);

struct worker {
	pid_t pid; /* 0: it is gone */
	struct worker_report *report;
};

struct crew {
	const struct watch *watch; /* borrowed */
	int keep_fd;		   /* that workers keep, beside the standard files; borrowed */
	struct worker workers[CREW_MAX];
	struct worker_report *reports; /* shared memory */
};

int crew_init(struct crew *crew, const struct watch *watch, int keep_fd, struct why *why);
/** Kills and reaps whoever is left. */
void crew_deinit(struct crew *crew);

/** Starts a worker and waits until it has stopped, before its action. */
int crew_hire(struct crew *crew, worker_action action, const void *context, struct worker **ret,
	      struct why *why);
/** Lets it go on until it stops again. If it fails instead: its own -errno and sentence. */
int crew_resume(struct crew *crew, struct worker *worker, struct why *why);
/** Lets it end, and waits for that. */
int crew_dismiss(struct crew *crew, struct worker *worker, struct why *why);

/** In a worker: stops until the next crew_resume(). */
void worker_stop(void);
/** In a worker: `return worker_failed(report, -errno, "cannot write the file");` */
int worker_failed(struct worker_report *report, int error, const char *what);

/**
 * In a worker: one call is not to be had here, so that its experiment is skipped. Always 0:
 * `return worker_refused(report, -errno, "there is no tmpfs");`
 */
int worker_refused(struct worker_report *report, int error, const char *what);
/**
 * As worker_failed(), but as worker_refused() for the errors of a system call that the kernel, a
 * filter (as of containers) or the file system does not have or allow.
 */
int worker_failed_or_refused(struct worker_report *report, int error, const char *what);

/** In a new child: dies with its parent, which is @parent. */
void die_with_parent(pid_t parent);

#endif
