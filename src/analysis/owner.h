/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Who an I/O is charged to.
 */
#ifndef BLKBOX_ANALYSIS_OWNER_H
#define BLKBOX_ANALYSIS_OWNER_H

#include "track.h"

enum owner_kind {
	OWNER_PROCESS,
	OWNER_WRITEBACK,     /* a kworker that wrote data: nobody knows whose */
	OWNER_KERNEL_THREAD, /* of the kernel's own: journal, crypt, RAID, loop, swap ... */
	OWNER_INTERRUPT,     /* queued in an interrupt: the interrupted process has no part in it */
	OWNER_UNKNOWN,	     /* not seen queued */
	OWNER_KINDS
};

/** @comm: of the owner's thread, NULL = unknown. */
enum owner_kind owner_kind(const struct track_io *io, const char *comm);
/** "process", "kernel writeback", ... */
const char *owner_kind_name(enum owner_kind kind);

#endif
