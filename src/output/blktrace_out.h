/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Events as blktrace records again: one stream in order of time, or a file for each device and CPU.
 *
 * For bytes that need no change (kernel bytes into per-CPU files) use blktrace_files directly.
 */
#ifndef BLKBOX_OUTPUT_BLKTRACE_OUT_H
#define BLKBOX_OUTPUT_BLKTRACE_OUT_H

#include "blktrace_files.h"
#include "sink.h"

/** What became of the events. */
struct blktrace_counts {
	uint64_t written;
	uint64_t bent;	   /* v1 has no word for their operation: written as plain writes */
	uint64_t left_out; /* v1 cannot say them at all */
};

/** Name of a device, for its files. Borrowed. */
typedef const char *(*blktrace_device_name)(void *context, uint32_t tag, uint32_t device);

/**
 * One merged stream into @fd (borrowed). Nothing is renamed: that is the caller's.
 *
 * @protocol: 1, 2, or 0 = of each event as it came
 * @counts: kept up to date; must outlive the sink
 *
 * Sequence numbers are closed up behind events that are left out or held back by a filter, so that
 * they don't look like losses; gaps that the kernel left stay.
 */
int blktrace_stream_create(int fd, int protocol, struct blktrace_counts *counts, struct sink **ret);

/** The same into @files, adopted also on failure and committed by sink_finish(). */
int blktrace_split_create(struct blktrace_files *adopted, int protocol, blktrace_device_name name,
			  void *context, struct blktrace_counts *counts, struct sink **ret);

#endif
