/* SPDX-License-Identifier: MIT */
/**
 * @file
 * From a running recording to blktrace's files: the kernel's bytes, as they are.
 */
#ifndef BLKBOX_CLI_FILES_SINK_H
#define BLKBOX_CLI_FILES_SINK_H

#include "blktrace_files.h"
#include "span_sink.h"

struct files_sink;

/** Adopts @files, also on failure. */
int files_sink_adopt_create(struct blktrace_files *files, struct files_sink **ret);
void files_sink_destroy(struct files_sink *sink);

/** Removes what was written. For a recording that never began. */
void files_sink_discard(struct files_sink *sink);

/** Borrowed, as long as the sink lives. */
const struct span_sink *files_sink_span_sink(struct files_sink *sink);

#endif
