/* SPDX-License-Identifier: MIT */
/**
 * @file
 * A kernel buffer that is read, with the ring that its bytes go through.
 */
#ifndef BLKBOX_CAPTURE_CHANNEL_H
#define BLKBOX_CAPTURE_CHANNEL_H

#include "log_format.h"
#include "ring.h"

#include <stdint.h>

struct channel {
	struct log_channel id; /* number, device, cpu, kind */
	int fd;		       /* the source's file; closed with the channel */
	struct ring ring;

	/* The reader's own. */
	uint64_t bytes_read;
	uint64_t produced_bytes; /* what the kernel says that it put in; 0: it does not tell */
	uint64_t pass_ns;     /* when the reader's present pass over it began (CLOCK_MONOTONIC) */
	unsigned empty_reads; /* in a row, after STOP */
	bool hung_up;	      /* nobody writes there any more */
	bool finished;	      /* drained after STOP, or gone */

	/* For the collector. */
	_Atomic uint64_t complete_until_ns; /* live reading: everything older is in the ring */
	_Atomic uint64_t full_waits;	    /* times that the reader had to wait for room */
	atomic_bool gone;		    /* the kernel took the buffer away */
	struct ring_sleep *reader_sleep;    /* of the thread that fills it; borrowed */
};

/** Adopts @fd. @ring_bytes: power of two. */
int channel_adopt_create(const struct log_channel *id, int fd, size_t ring_bytes,
			 struct channel **ret);
/** Closes the file; what is in the ring stays. Its reader has ended. */
void channel_close(struct channel *channel);
void channel_destroy(struct channel *channel);

#endif
