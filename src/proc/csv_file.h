/* SPDX-License-Identifier: MIT */
/**
 * @file
 * A file of rows for weeks: whole rows only, a header in every file, old ones put aside.
 */
#ifndef BLKBOX_PROC_CSV_FILE_H
#define BLKBOX_PROC_CSV_FILE_H

#include "why.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/** Which file it is by now: in shared memory, for who comes after our death. */
struct csv_identity {
	dev_t device;
	ino_t inode;
};

struct csv_file_options {
	const char *path;	       /* NULL: standard output */
	const char *header;	       /* a line */
	bool force;		       /* overwrite what is there */
	bool append;		       /* go on behind what is there */
	uint64_t max_bytes;	       /* of one file; 0: no limit */
	unsigned keep;		       /* old files: PATH.1 (the latest) to PATH.KEEP */
	struct csv_identity *identity; /* NULL: nobody wants to know */
};

struct csv_file {
	struct csv_file_options options; /* what it points to is borrowed */
	int fd;
	bool regular;
	bool torn;	/* the last row is not whole, and its rest must come next */
	uint64_t bytes; /* of the file, if it is a regular one */
	struct csv_identity identity;
};

/**
 * -EEXIST if it is there, and neither @force nor @append; -EINVAL: what is to be gone on with has
 * another header. A header is written if the file is empty.
 */
int csv_file_open(struct csv_file *file, const struct csv_file_options *options, struct why *why);
void csv_file_close(struct csv_file *file);

/** Removes what was made for nothing; what was there before stays. */
void csv_file_discard(struct csv_file *file);

/**
 * Writes rows, in a new file when this one is full. Whatever fails, there are whole rows in the
 * file, unless @file->torn.
 * @ret_done: how many bytes of @rows are in the file, also on failure
 * 0; -EPIPE: nobody reads any more; -ENOSPC, ...
 */
int csv_file_write(struct csv_file *file, const char *rows, size_t n, size_t *ret_done);
/**
 * Opens it anew by its name: somebody has moved it away. The old one stays if that fails. What is
 * left of a torn row has no place in it.
 */
int csv_file_reopen(struct csv_file *file);

/**
 * Cuts a row off that is not whole, if @path is still that file: its writer has died within
 * write(2).
 */
void csv_file_mend(const char *path, const struct csv_identity *identity);

#endif
