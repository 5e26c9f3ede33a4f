/* SPDX-License-Identifier: MIT */
/**
 * @file
 * What a recorder leaves in /run/blkbox while it records, for `status`, `stop` and other recorders:
 * one small file of "key=value" lines for each request queue, named by its disk's major:minor.
 *
 * It is a help, not a lock: the kernel's one trace for each queue is the lock.
 */
#ifndef BLKBOX_CAPTURE_STATE_H
#define BLKBOX_CAPTURE_STATE_H

#include "device.h"
#include "process.h"
#include "sysroot.h"
#include "why.h"

#include <limits.h>
#include <stdbool.h>

struct trace_state {
	char device[DEVICE_NAME_BYTES];
	char boot_id[BOOT_ID_BYTES];
	pid_t pid;
	uint64_t start_ticks;
	unsigned protocol; /* 1 or 2; 0: not known yet */
	char source[16];   /* "relay", "ftrace" */
	/* Of its guardian; 0: none. */
	pid_t guardian_pid;
	uint64_t guardian_start_ticks;
	uint64_t trace_inode; /* of the trace's file "dropped"; 0: not known */
	/* The unfinished log, as an absolute path, and the file that it was; empty: there is none.
	 */
	char output[PATH_MAX];
	uint64_t output_device, output_inode;
};

/**
 * Says that this process is about to trace @device; replaces what is there. To be called before the
 * kernel is set up, if there is no state_of_another(), and after it, when the trace is ours for
 * sure. @what: all but device, boot and process, which are filled in. A failure (/run read-only or
 * full) is to be told, but no reason not to record.
 */
int state_write(const struct sysroot *root, const struct block_device *device,
		const struct trace_state *what, struct why *why);

/**
 * A living process other than this one says that it traces the disk. To be asked before set-up: if
 * so, the kernel will most likely refuse us, and its owner is the one to be named then.
 */
bool state_of_another(const struct sysroot *root, uint32_t disk);

/** After teardown. @disk: block_device.disk. 0 if there was none; only our own is removed. */
int state_remove(const struct sysroot *root, uint32_t disk);
/** As state_remove(), if the process that wrote it is dead. */
void state_remove_dead(const struct sysroot *root, uint32_t disk);
/** As state_remove(), whoever wrote it: the trace is gone and so is its owner. */
int state_clear(const struct sysroot *root, uint32_t disk);

/** -ENOENT: none; -EINVAL: damaged. */
int state_read(const struct sysroot *root, uint32_t disk, struct trace_state *ret);

/** The process that wrote it runs still: same boot, same pid, same time of start. */
bool state_owner_alive(const struct sysroot *root, const struct trace_state *state);
/** The same for its guardian, which is cleaning up if the owner is dead. */
bool state_guardian_alive(const struct sysroot *root, const struct trace_state *state);
/** It was written before the machine was started anew: what it tells of is gone. */
bool state_is_of_another_boot(const struct sysroot *root, const struct trace_state *state);

/** Called with the disk and the note of each that is there and whole. */
typedef void state_fn(void *context, uint32_t disk, const struct trace_state *state);
/** All notes. */
void state_each(const struct sysroot *root, state_fn *fn, void *context);
/** Removes the notes of earlier boots. Returns how many there are; @ret_removed: could be removed.
 */
size_t state_remove_stale(const struct sysroot *root, size_t *ret_removed);

#endif
