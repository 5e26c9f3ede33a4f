/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Which process a trace belongs to: who wrote its state file, or has its files open.
 */
#ifndef BLKBOX_CAPTURE_TRACE_OWNER_H
#define BLKBOX_CAPTURE_TRACE_OWNER_H

#include "traces.h"

/** Fills in owner, process and protocol of all traces, with one walk through /proc. */
int trace_owners_find(const struct sysroot *root, struct traces *traces);

/**
 * True for trace_pipe, or a trace_pipe_raw, of the machine's trace buffer; buffers of instances
 * (rasdaemon has one) are others. @path: of a file that some process has open
 */
bool trace_owner_reads_buffer(const char *path);

#endif
