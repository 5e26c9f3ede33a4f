/* SPDX-License-Identifier: MIT */
/**
 * @file
 * A private directory for files that nobody needs afterwards. It is removed on every way out: a
 * guardian process does it when its maker is killed.
 */
#ifndef BLKBOX_PROC_SCRATCH_H
#define BLKBOX_PROC_SCRATCH_H

#include "guardian.h"
#include "why.h"

#include <limits.h>

enum {
	SCRATCH_NAME_BYTES = 48
};

struct scratch {
	int parent_fd;
	int fd; /* the directory; -1: there is none */
	char name[SCRATCH_NAME_BYTES];
	char path[PATH_MAX];
	char cgroup[PATH_MAX]; /* empty: none; to be removed, too, should it exist */
	struct guardian guardian;
};

/**
 * @parent: an existing directory; NULL: $TMPDIR, or /tmp
 * @cgroup_parent: a cgroup in which one of the same name may be made later (path in @scratch); NULL
 * -ENOENT, -ENOTDIR, -EROFS, -EACCES ...: with a sentence that names it
 */
int scratch_create(struct scratch *scratch, const char *parent, const char *cgroup_parent,
		   struct why *why);
/** Removes the files in a directory of ours. -errno of one that stays. */
int directory_empty(int fd);
/** Removes the directory with what is in it. -errno: it is still there. */
int scratch_destroy(struct scratch *scratch);

#endif
