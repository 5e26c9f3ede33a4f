/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Private to the relay source's own files.
 */
#ifndef BLKBOX_CAPTURE_RELAY_PARTS_H
#define BLKBOX_CAPTURE_RELAY_PARTS_H

#include "trace_source.h"

#include <limits.h>

/* Whose the trace of a queue is, for the guardian. */
enum relay_owner {
	RELAY_NOT_OURS = 0,
	RELAY_ABOUT_TO_BE, /* there was none, and set-up has been called: one that is there is ours
			    */
	RELAY_OURS,
};

/* One traced device. */
struct relay_device {
	int fd;		/* the device node */
	int dir_fd;	/* its debugfs directory */
	int dropped_fd; /* of our trace: gives EIO once that is gone, whoever has one by then */
	bool started;
	size_t n_cpus; /* channels found so far */
	uint32_t *cpus;
};

/* What the guardian must know of a device's trace as it is by now. */
struct relay_shared {
	_Atomic int owner;	/* enum relay_owner: only ours may be stopped or torn down */
	_Atomic uint64_t inode; /* of its file "dropped": another trace has another; 0: not known */
};

struct relay_source {
	struct trace_source source;
	char debugfs[PATH_MAX];
	struct relay_shared *shared; /* of each device; memory that the guardian sees too */
	/* The session's thread samples and stops while the collector's looks around. */
	pthread_mutex_t lock;
	struct relay_device *devices; /* what changes in them after the set-up: under the lock */
	struct foreign_writes tracer; /* likewise: of ftrace, which may take the events away */
	size_t online_cpus;	      /* at the last look at the loss counters */
};

/** openat(2) through the source's kernel. */
int relay_open_at(const struct relay_source *relay, int dir_fd, const char *name, int flags);

/** Makes @relay->shared, before the guardian is there. */
int relay_share_with_guardian(struct relay_source *relay, struct why *why);
int relay_start_guardian(struct relay_source *relay, struct why *why);
/** Starts another one if somebody ended it. */
void relay_keep_guarded(struct relay_source *relay);

/** Opens the node of device @i. */
int relay_open_device(struct relay_source *relay, size_t i, struct why *why);
/** Makes the trace of device @i, v2 if the kernel has it, and opens its directory. */
int relay_setup_device(struct relay_source *relay, size_t i, struct why *why);
/** Watches what steers the traces, and ftrace's tracer, for writes of others. */
void relay_watch_others(struct relay_source *relay);

#endif
