/* SPDX-License-Identifier: MIT */
/**
 * @file
 * The machine's tracing state: what a recording through ftrace changes, and how it is put back.
 *
 * What was there before is also in /run/blkbox/tracing, so that any process can put it back after
 * the recorder died: tracing_state_recover(). A value that somebody else changed in the meantime
 * is theirs, and stays.
 */
#ifndef BLKBOX_CAPTURE_TRACING_STATE_H
#define BLKBOX_CAPTURE_TRACING_STATE_H

#include "process.h"
#include "sysroot.h"
#include "why.h"

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum {
	TRACING_FILE_BYTES = 48,
	TRACING_VALUE_BYTES = 64
};

/** A file of tracefs that we change. */
struct tracing_item {
	char file[TRACING_FILE_BYTES];
	char before[TRACING_VALUE_BYTES];
	char ours[TRACING_VALUE_BYTES]; /* as it reads by now; empty: we are about to write it */
	bool touched;
};

struct tracing_state {
	char tracefs[PATH_MAX];
	struct tracing_item *items;
	size_t n_items;
	uint32_t *devices; /* major << 20 | minor: whose trace/enable we set */
	size_t n_devices;
	/* Whose state it is. */
	char boot_id[BOOT_ID_BYTES];
	pid_t pid;
	uint64_t start_ticks;
};

/** Reads what is there. Nothing is changed. @tracefs: where it is mounted. */
int tracing_state_save(const struct sysroot *root, const char *tracefs, struct tracing_state *ret,
		       struct why *why);
void tracing_state_deinit(struct tracing_state *state);

/**
 * Changes a file of tracefs ("trace_clock"), or, as "buffer_size_kb", the buffers of all CPUs.
 * A file that this kernel does not have is -ENOENT. Others: from the kernel, or what was there
 * before could not be noted on disk, and nothing was changed; without a sentence.
 */
int tracing_state_set(const struct sysroot *root, struct tracing_state *state, const char *file,
		      const char *value);
/** Notes a device whose trace/enable is about to be set. */
int tracing_state_add_device(const struct sysroot *root, struct tracing_state *state,
			     uint32_t device);
/** Forgets a device whose trace is not ours any more: its number may be another's by now. */
void tracing_state_drop_device(const struct sysroot *root, struct tracing_state *state,
			       uint32_t device);

/**
 * Puts everything back and forgets it, on disk too. Nobody of us may have trace_pipe_raw open any
 * more. On failure as much as possible has been put back, and the rest is noted still.
 */
int tracing_state_restore(const struct sysroot *root, struct tracing_state *state, struct why *why);

typedef void tracing_state_fn(void *context, struct tracing_state *state);

/**
 * Puts back what a recorder that is dead left behind; @before, which may be NULL, is called before
 * anything of it is touched, with its state. 1 = it was so, 0 = there was nothing,
 * -EBUSY = that recorder is alive; nothing is touched. Others: as tracing_state_restore(), or what
 * was noted cannot be read, and stays.
 */
int tracing_state_recover(const struct sysroot *root, tracing_state_fn *before, void *context,
			  struct why *why);

/**
 * tracing_state_recover(), then nobody else may, or may start, until the caller closes *@ret: the
 * time in which a recorder looks at the state, notes it and changes it. Another that does so is
 * waited for, a few seconds at most.
 */
int tracing_state_claim(const struct sysroot *root, int *ret, struct why *why);
/**
 * Whose changes are there now: 0 = nobody's, 1 = those of a recorder that is dead, -EBUSY = those
 * of one that lives, with the sentence; or it cannot be known. Nothing is changed.
 */
int tracing_state_user(const struct sysroot *root, struct why *why);

/** Notes it on disk, whole or not at all. */
int tracing_state_store(const struct sysroot *root, const struct tracing_state *state);
/** -ENOENT: there is none; -EINVAL: damaged; others: it could not be read. */
int tracing_state_load(const struct sysroot *root, struct tracing_state *ret);
void tracing_state_forget(const struct sysroot *root);

#endif
