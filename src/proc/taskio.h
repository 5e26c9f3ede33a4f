/* SPDX-License-Identifier: MIT */
/**
 * @file
 * The experiment on what the kernel's per-task I/O accounting counts: all of its experiments, as
 * often as wanted, and what came of them.
 */
#ifndef BLKBOX_PROC_TASKIO_H
#define BLKBOX_PROC_TASKIO_H

#include "bench.h"
#include "environment.h"
#include "out.h"
#include "truth.h"
#include "watch.h"

enum {
	REPETITIONS_MAX = 20,
	PAYLOAD_MIB_MAX = 16,
};

/** Records what a block device does. */
struct device_recorder {
	void *context;
	/** @device: a path. 0 when it records. */
	int (*start)(void *context, const char *device, struct why *why);
	/** Ends, and hands every event to truth_add(). */
	int (*stop)(void *context, struct truth *truth, struct why *why);
};

struct taskio_options {
	unsigned repetitions; /* 1 to REPETITIONS_MAX */
	size_t payload_bytes; /* whole MiB */
	const char *temp_dir; /* NULL: as scratch_create() */
	bool extended;
	const char *truth_fs;			/* make this file system; NULL: no device truth */
	const struct device_recorder *recorder; /* with truth_fs */
};

/** What came of it. */
struct taskio {
	struct taskio_options options;
	struct environment environment;
	const struct experiment *const *experiments;
	size_t n_experiments;
	/* [repetition][experiment], so many times so many. */
	struct observation *observations;
	struct truth *truth; /* NULL without truth_fs */
};

/**
 * Makes all experiments. Nothing is left behind in any outcome: no file, process, mount or device.
 * On failure, one sentence; there is no result then.
 */
int taskio_run(const struct taskio_options *options, const struct watch *watch, struct taskio **ret,
	       struct why *why);
void taskio_destroy(struct taskio *taskio);
DEFINE_CLEANUP(struct taskio, taskio_destroy);

const struct observation *taskio_observation(const struct taskio *taskio, size_t repetition,
					     size_t experiment);

/** Writes the document. */
void taskio_write_json(const struct taskio *taskio, struct out *out);

#endif
