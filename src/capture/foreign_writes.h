/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Whether somebody else writes to a file of the kernel that steers a recording. What is changed and
 * changed back between two looks at its content leaves no other trace, but takes events away: a
 * buffer that is emptied, a filter, a tracer that is off for a moment.
 *
 * inotify(7) tells of every write(2) of a process; not of what the kernel changes by itself.
 */
#ifndef BLKBOX_CAPTURE_FOREIGN_WRITES_H
#define BLKBOX_CAPTURE_FOREIGN_WRITES_H

#include "sysroot.h"
#include "why.h"

#include <stddef.h>

/** What a recording without it lacks; the text of the errno follows. */
#define FOREIGN_WRITES_UNSEEN                                                                   \
	"if somebody else changes the kernel's tracing settings for a moment, nobody notices, " \
	"because they cannot be watched (see sysctl fs.inotify)"

struct watched_file;

struct foreign_writes {
	int fd; /* -1: nothing is watched */
	struct watched_file *files;
	size_t n;
};

/** Nothing is watched yet. */
void foreign_writes_init(struct foreign_writes *writes);
void foreign_writes_deinit(struct foreign_writes *writes);

/**
 * Watches the files @names (ended by NULL) of the directory that @format names; those that are not
 * there are passed over. -ENOMEM, -EMFILE, -ENOSPC (limits of inotify), ...: not all are watched.
 */
int foreign_writes_watch(struct foreign_writes *writes, const struct sysroot *root,
			 const char *const *names, const char *format, ...) _printf_(4, 5);

/**
 * Watches what steers the trace of a request queue: @names in the trace/ directories of its disk
 * and of all its partitions, any of which does. @major, @minor: of the disk, or of a partition.
 */
int foreign_writes_watch_disk(struct foreign_writes *writes, const struct sysroot *root,
			      const char *const *names, unsigned major, unsigned minor);

/**
 * -EBUSY with the sentence if anything watched was written to since the last call, else 0.
 * @own: name of a file that the caller has just written itself; or NULL
 */
int foreign_writes_look(struct foreign_writes *writes, const char *own, struct why *why);

#endif
