/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Files that we write, maybe as root, where others may have put something before: no symbolic link
 * is followed, nobody else's pipe or file is written to, and what is new belongs to the user who
 * started us (through sudo, too) and to nobody else (0600).
 */
#ifndef BLKBOX_BASE_OUTPUT_H
#define BLKBOX_BASE_OUTPUT_H

#include "why.h"

#include <stdbool.h>

/** What is there under the name of an output. */
enum output_place {
	OUTPUT_NOTHING,
	OUTPUT_FILE,   /* a plain file, or a symbolic link: the link is what would be replaced */
	OUTPUT_DIRECT, /* a pipe, a terminal, a device: it is what was meant */
};

/** Looks. -errno with the sentence where nothing may be written: directories, disks, our own fds */
int output_look(const char *path, enum output_place *ret, struct why *why);

/**
 * Opens what is there, an OUTPUT_DIRECT. -ENXIO, at once, if it is a pipe that nobody reads from.
 * Returns a descriptor.
 */
int output_open_direct(const char *path, struct why *why);
/** Makes a new file, 0600, of the invoking user. @flags: O_RDWR, O_APPEND, ... */
int output_create(const char *path, int flags, struct why *why);
/** Opens a plain file to go on behind its end: ours or the invoking user's, of one name only. */
int output_open_append(const char *path, struct why *why);
/** Makes a directory of the invoking user, 0777 less the umask; that it is there is fine. */
int output_make_directory(const char *path, struct why *why);

/** Gives what was just made to the invoking user, if it was made as root for somebody. */
void output_give_to_user(int fd);

#endif
