/* SPDX-License-Identifier: MIT */
/**
 * @file
 * What a recording needs, looked at before it starts, and what a failure to start means.
 *
 * Nothing here changes the machine: nothing is mounted, made or stopped.
 */
#ifndef BLKBOX_CAPTURE_PREFLIGHT_H
#define BLKBOX_CAPTURE_PREFLIGHT_H

#include "device.h"
#include "kernel.h"
#include "sysroot.h"
#include "trace_source.h"
#include "why.h"

#include <stdbool.h>
#include <stddef.h>

enum need_state {
	NEED_MET,
	NEED_NOT_MET,
	NEED_UNKNOWN, /* cannot be told beforehand; a recording tries */
};

/** Whom a need stops when it is not met. */
enum need_scope {
	NEED_FOR_RELAY = 1 << 0,
	NEED_FOR_FTRACE = 1 << 1,
	NEED_FOR_NAMES = 0, /* nobody: something is missing in the result */
};

struct need {
	const char *name;
	char device[DEVICE_NAME_BYTES]; /* empty: of the machine */
	enum need_state state;
	unsigned scope; /* enum need_scope */
	int error;	/* -errno that a recording would fail with; 0 if met */
	struct why why; /* what is so, and what to do */
};

struct preflight {
	struct need *needs;
	size_t n;
	/* What the needs come to. */
	bool relay;
	bool ftrace;
};

/**
 * Looks at every need. @debugfs: its mount point, or NULL: looked for. @devices: may be none.
 * The caller deinits *@ret.
 */
int preflight_run(const struct sysroot *root, const struct kernel_ops *kernel, const char *debugfs,
		  const struct block_device *devices, size_t n_devices, struct preflight *ret,
		  struct why *why);
void preflight_deinit(struct preflight *preflight);

/** The first need that stops @scope (one bit); NULL if none does. */
const struct need *preflight_obstacle(const struct preflight *preflight, enum need_scope scope);

/**
 * Which source to record from: relay, or ftrace where relay cannot be had.
 * @wanted: SOURCE_AUTO, or the source that the user insists on
 * @built: bits 1 << enum source_kind: the sources to choose from, as SOURCES_BUILT
 * @why: the reason, in success too. -errno of the first obstacle if none works.
 */
int preflight_source(const struct preflight *preflight, enum source_kind wanted, unsigned built,
		     enum source_kind *ret, struct why *why);

/**
 * What a relay recording needs of the machine. *@ret: where debugfs is.
 * -EPERM: lockdown; -EBUSY: the blk tracer takes all events; else as debugfs_find().
 */
int preflight_relay(const struct sysroot *root, const struct kernel_ops *kernel,
		    const char *debugfs, char *ret, size_t size, struct why *why);

/** -EBUSY while ftrace's blk tracer is on: relay channels then get no events, without an error. */
int preflight_tracer_conflict(const struct sysroot *root, struct why *why);

/**
 * -EOPNOTSUPP: all categories that are asked for are ones that @protocol does not have. The kernel
 * would drop them from the mask, and record everything, or nothing.
 */
int preflight_check_mask(const struct trace_options *options, unsigned protocol, struct why *why);

/** The sentence for a failed SETUP; returns @error. */
int preflight_explain_setup(const struct sysroot *root, const struct kernel_ops *kernel,
			    const struct block_device *device, const struct trace_options *options,
			    int error, struct why *why);
/** The sentence for a trace file that does not open; returns @error. */
int preflight_explain_open(const struct sysroot *root, const char *name, const char *file,
			   int error, struct why *why);

#endif
