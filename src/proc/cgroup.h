/* SPDX-License-Identifier: MIT */
/**
 * @file
 * A cgroup (v2) in which I/O is counted.
 */
#ifndef BLKBOX_PROC_CGROUP_H
#define BLKBOX_PROC_CGROUP_H

#include "why.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/**
 * The nearest cgroup, ours or above, whose children have the io controller. Nothing is enabled for
 * the purpose: that would be the machine's administrator's business.
 * -ENOENT: there is none, and why.
 */
int cgroup_find_parent(char *ret, size_t size, struct why *why);

struct cgroup_io {
	uint64_t read_bytes;
	uint64_t write_bytes;
};

/** Sums of io.stat over all devices. -EBADMSG. */
int cgroup_io_parse(const char *text, struct cgroup_io *ret);
/** Of a cgroup, by its path. */
int cgroup_io_read(const char *path, struct cgroup_io *ret, struct why *why);
/** Does it have a controller? */
bool cgroup_has(const char *path, const char *controller);
int cgroup_add(const char *path, pid_t pid, struct why *why);
/** Removes it, should it exist. Dying processes are its members for a moment longer. */
void cgroup_remove(const char *path);

#endif
