/* SPDX-License-Identifier: MIT */
/**
 * @file
 * The traces that run on this machine now, whoever made them.
 */
#ifndef BLKBOX_CAPTURE_TRACES_H
#define BLKBOX_CAPTURE_TRACES_H

#include "device.h"
#include "kernel.h"
#include "process.h"
#include "sysroot.h"
#include "why.h"

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum trace_owner {
	TRACE_OWNER_NONE,    /* nobody who is alive has to do with it: it was left behind */
	TRACE_OWNER_ALIVE,   /* running_trace.process */
	TRACE_OWNER_UNKNOWN, /* this user may not see what other processes have open */
};

struct running_trace {
	char name[DEVICE_NAME_BYTES];	   /* what it was made on: disk, partition or sg node */
	char disk_name[DEVICE_NAME_BYTES]; /* as in sysfs; empty: an sg node without a disk */
	uint32_t disk;			   /* major << 20 | minor; 0: none */
	bool has_channels;		   /* relay files; else made by sysfs, for ftrace */
	bool to_ftrace; /* the blk tracer is on and gets all events: the channels get none */
	enum trace_owner owner;
	struct process process;
	/* No owner, but a note: of one of our recorders, that was killed with its guardian. */
	pid_t left_by; /* 0: none */
	char left_log[PATH_MAX];
	unsigned protocol; /* 1 or 2; 0: not known */
	bool dropped_known;
	uint64_t dropped;
};

struct traces {
	struct running_trace *items;
	size_t n;
	/** Why debugfs was not looked into; empty if it was. Then channels and drops are unknown.
	 */
	struct why no_debugfs;
};

/** @debugfs: its mount point, or NULL: looked for. The caller deinits *@ret. */
int traces_list(const struct sysroot *root, const struct kernel_ops *kernel, const char *debugfs,
		struct traces *ret, struct why *why);
void traces_deinit(struct traces *traces);

/** The trace of a request queue; NULL if it has none. @disk: block_device.disk. */
const struct running_trace *traces_find(const struct traces *traces, uint32_t disk);

/** One sentence: whose trace it is, and what to do about it. */
void trace_describe_owner(const struct running_trace *trace, struct why *ret);

/**
 * Ends a trace: STOP, TEARDOWN; what was not read is gone.
 * -EBUSY, untouched, unless @force: its owner is alive or cannot be known. -ENOENT: there was none.
 */
int trace_end(const struct sysroot *root, const struct kernel_ops *kernel,
	      const struct running_trace *trace, const struct block_device *device, bool force,
	      struct why *why);

#endif
