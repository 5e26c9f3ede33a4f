/* SPDX-License-Identifier: MIT */
/**
 * @file
 * A file that is written aside, as PATH.part, and gets its name when it is whole.
 */
#ifndef BLKBOX_BASE_ASIDE_H
#define BLKBOX_BASE_ASIDE_H

#include "why.h"

#include <stdbool.h>

struct aside {
	int fd; /* -1 = not open */
	char *path;
	char *part; /* NULL: PATH is a pipe or a device, written directly, has got its name, or: */
	bool stays; /* the .part file does */
	bool unnamed; /* it has no name until aside_commit() */
	int dir_fd;   /* that its name will be in, if it is unnamed */
};

/**
 * Creates PATH.part, readable by its owner alone: what a device did tells what people do.
 * -EEXIST if PATH or PATH.part is there and @force is not set; nothing is touched then. An existing
 * PATH stays as it is until aside_commit(). Started through sudo, the file belongs to the user
 * behind it.
 */
int aside_open(struct aside *aside, const char *path, bool force, struct why *why);
/**
 * As aside_open() without @force, but the file has no name at all until it is whole: whatever
 * happens to this process, nothing is left. No sentence advises --force. File systems that cannot
 * do that (O_TMPFILE) get a .part file.
 */
int aside_open_unnamed(struct aside *aside, const char *path, struct why *why);
/** Closes and renames. If only the name cannot be had, the .part file, which is whole, stays. */
int aside_commit(struct aside *aside, bool force, struct why *why);
/** Closes, and leaves the .part file where it is, whole or not. */
void aside_keep(struct aside *aside);
/** Frees; a .part file that does not stay is removed. */
void aside_deinit(struct aside *aside);

#endif
