/* SPDX-License-Identifier: MIT */
/**
 * @file
 * A recording's usual sink: one log, written aside as NAME.part until it is whole.
 */
#ifndef BLKBOX_CAPTURE_LOG_SINK_H
#define BLKBOX_CAPTURE_LOG_SINK_H

#include "span_sink.h"

#include <stdbool.h>

struct log_sink;

struct log_sink_options {
	bool compress;
	bool force; /* overwrite what is there */
};

/** Creates PATH.part now, so that an output that cannot be had is refused before the kernel is
 * touched. */
int log_sink_create(const char *path, const struct log_sink_options *options, struct log_sink **ret,
		    struct why *why);
/** The same in memory, for programs that read the events at once: see log_sink_take_fd(). */
int log_sink_create_in_memory(const struct log_sink_options *options, struct log_sink **ret,
			      struct why *why);
void log_sink_destroy(struct log_sink *sink);

/** Borrowed, as long as the sink lives. */
const struct span_sink *log_sink_span_sink(struct log_sink *sink);

/** Removes what was written. For a recording that never began. */
void log_sink_discard(struct log_sink *sink);
/** It is whole: END is written, and it has its name. */
bool log_sink_finished(const struct log_sink *sink);
/** Where the log is by now: its path, or its .part path while it is unfinished. NULL: in memory. */
const char *log_sink_path(const struct log_sink *sink);
uint64_t log_sink_file_bytes(const struct log_sink *sink);
/** Hands the finished log in memory out, to be closed by the caller. */
int log_sink_take_fd(struct log_sink *sink);

#endif
