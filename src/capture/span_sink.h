/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Where a recording goes: the log, or something else that takes the same bytes.
 */
#ifndef BLKBOX_CAPTURE_SPAN_SINK_H
#define BLKBOX_CAPTURE_SPAN_SINK_H

#include "log_format.h"
#include "why.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** A log that is not finished: what somebody needs who finishes it if the recorder dies. */
struct log_rescue {
	int fd;		  /* for reading and writing */
	const char *part; /* what it is called by now */
	const char *path; /* what it will be called */
};

/**
 * The collector thread calls these, one at a time (@meta and @finish: the main thread while the
 * collector does not run). All but @data and @total may be NULL. A failure ends the recording.
 */
struct span_sink {
	void *context;
	int (*meta)(void *context, const char *text, size_t size, struct why *why);
	int (*devices)(void *context, const struct log_device *devices, size_t n, struct why *why);
	int (*channels)(void *context, const struct log_channel *channels, size_t n,
			struct why *why);
	/** @bytes may cut a record anywhere. */
	int (*data)(void *context, uint32_t channel, const void *bytes, size_t size,
		    struct why *why);
	int (*drops)(void *context, const struct log_drops *drops, size_t n, struct why *why);
	int (*names)(void *context, const struct log_name *names, size_t n, struct why *why);
	/** A moment to sample the clocks. */
	int (*clock)(void *context, struct why *why);
	/** Live reading: every event older than @time_ns (CLOCK_MONOTONIC) has been handed over. */
	int (*complete_until)(void *context, uint64_t time_ns, struct why *why);
	int (*finish)(void *context, enum log_end_reason reason, struct why *why);
	/**
	 * After a failure of @data, @drops, @names or @clock: true if it may pass, and all of the
	 * call was undone, so that it can be made once more. NULL: never.
	 */
	bool (*retry)(void *context);
	/**
	 * The output is on a disk that is recorded: from now on, the thread that writes it sees to
	 * it that it gets there, so that nobody else is taken for who writes. May be NULL.
	 */
	void (*write_through)(void *context);
	/** What was counted of a channel so far. */
	void (*total)(void *context, uint32_t channel, struct log_total *ret);
	/** Borrowed, as long as the sink lives; NULL: nobody else can finish it. */
	const struct log_rescue *rescue;
};

#endif
