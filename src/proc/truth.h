/* SPDX-License-Identifier: MIT */
/**
 * @file
 * What the block layer was really asked for during each experiment, and by whom.
 */
#ifndef BLKBOX_PROC_TRUTH_H
#define BLKBOX_PROC_TRUTH_H

#include "cleanup.h"
#include "observation.h"

#include <blkbox/event.h>

enum {
	TRUTH_NAME_BYTES = 64
};

/** Bytes. What completes is counted for who queued it. */
struct truth_bytes {
	uint64_t queued_read;
	uint64_t queued_write;
	uint64_t queued_discard;
	uint64_t completed_read;
	uint64_t completed_write;
	uint64_t queued_metadata;  /* reads and writes that the file system calls metadata */
	uint64_t queued_readahead; /* reads ahead of what was asked for */
	uint64_t flushes;	   /* requests without data */
};

struct truth_owner {
	uint32_t pid; /* thread */
	char name[TRUTH_NAME_BYTES];
	const char *role; /* "worker" and the like; "blkbox", "journal", "kernel", "other" */
	struct truth_bytes bytes;
};

/** Of one experiment. */
struct truth_window {
	struct truth_owner *owners;
	size_t n_owners;
	struct truth_bytes total;
};

/** How the recording went. */
struct truth_recording {
	char device[TRUTH_NAME_BYTES];
	uint32_t protocol; /* of the kernel's records */
	bool complete;
	uint64_t events;
	uint64_t dropped;
};

struct truth {
	const struct observation *observations; /* borrowed; in the order of time */
	size_t n;
	struct truth_window *windows; /* one for each */
	struct truth_recording recording;
	struct truth_pending *pending; /* queued, and not complete */
	size_t n_pending, room;
};

int truth_create(const struct observation *observations, size_t n, struct truth **ret);
void truth_destroy(struct truth *truth);
DEFINE_CLEANUP(struct truth, truth_destroy);

/** Events in the order of time. @name: of the thread, or NULL. -ENOMEM. */
int truth_add(struct truth *truth, const struct blkbox_event *event, const char *name);

#endif
