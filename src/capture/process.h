/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Processes by number, and whether a number still means the same one.
 */
#ifndef BLKBOX_CAPTURE_PROCESS_H
#define BLKBOX_CAPTURE_PROCESS_H

#include "sysroot.h"

#include <stdint.h>
#include <sys/types.h>

enum {
	PROCESS_NAME_BYTES = 64,
	BOOT_ID_BYTES = 40
};

struct process {
	pid_t pid;
	char name[PROCESS_NAME_BYTES];
	uint64_t start_ticks; /* since boot, field 22 of /proc/PID/stat */
};

/** Reads /proc/PID/stat. -ENOENT: no such process, or it is dead and only waited for. */
int process_read(const struct sysroot *root, pid_t pid, struct process *ret);

/** The random name of this boot, from /proc/sys/kernel/random/boot_id. */
int boot_id_read(const struct sysroot *root, char ret[BOOT_ID_BYTES]);

#endif
