/* SPDX-License-Identifier: MIT */
/**
 * @file
 * A reader thread: moves one CPU's channels from the kernel into their rings.
 */
#ifndef BLKBOX_CAPTURE_READER_H
#define BLKBOX_CAPTURE_READER_H

#include "channel.h"
#include "trace_source.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

/** How far a recording is; set by the session, read by its threads. */
enum phase {
	PHASE_RECORDING,
	PHASE_STOPPED, /* the kernel records no more: read the rest and end */
	PHASE_ABORTED, /* nobody takes the bytes any more: end */
};

/** What the readers of a session share. */
struct reader_shared {
	struct trace_source *source;
	_Atomic int phase; /* enum phase */
	bool live;	   /* read unfinished sub-buffers too, from the channel's own CPU */
	int idle_ms;	   /* longest sleep; -1: until something comes */
	struct ring_sleep *collector_sleep;
	/* The collector is woken when a ring holds this much; less waits for its tick. */
	size_t wake_bytes;
};

enum {
	READER_LIVE_MS = 100
};

struct reader;

/**
 * Starts a thread for @channels, all of one CPU, which are borrowed. Signals must be blocked.
 * @n: at least 1
 */
int reader_start(struct reader_shared *shared, struct channel **channels, size_t n,
		 struct reader **ret);
/** Waits for its end, which comes after PHASE_STOPPED when all is drained, or PHASE_ABORTED. */
void reader_join(struct reader *reader);
void reader_destroy(struct reader *reader);

/** Wakes it to look at the phase. */
void reader_kick(struct reader *reader);
/**
 * Passes over all channels that the thread has completed. To wait until all that is finished now
 * has been read: note the number, kick, wait until it has grown by two.
 */
uint64_t reader_passes(const struct reader *reader);
bool reader_ended(const struct reader *reader);

#endif
