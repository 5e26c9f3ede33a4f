/* SPDX-License-Identifier: MIT */
/**
 * @file
 * The file under a log that is written: it only ever holds whole pieces.
 */
#ifndef BLKBOX_FORMAT_LOG_OUT_H
#define BLKBOX_FORMAT_LOG_OUT_H

#include "why.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/uio.h>

struct log_out {
	int fd;		    /* borrowed */
	bool regular;	    /* can be cut back */
	off_t start_offset; /* of the log in the file */
	uint64_t bytes;	    /* of whole pieces */
	int error;	    /* of what failed first; then nothing is written any more */
	bool torn;	    /* part of a piece could not be cut off */
	struct why why;
};

int log_out_init(struct log_out *out, int fd, struct why *why);

/**
 * Writes one piece, all of it, with one writev(2) if the kernel takes it so. @iov is used up.
 * If that fails, a regular file is cut back to the pieces before.
 */
int log_out_write(struct log_out *out, struct iovec *iov, int n, struct why *why);

/** Makes @error, with its sentence in @out->why, the failure that all later writes give. */
int log_out_give_up(struct log_out *out, int error, struct why *why);

/**
 * After a failure: true if it may pass (no space, an I/O error), and what was half written could be
 * cut off; the next write is then tried. False: it stays.
 */
bool log_out_retry(struct log_out *out);

/** 0, or the failure that there was before. */
int log_out_state(const struct log_out *out, struct why *why);

#endif
