/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Chrome's trace format (JSON), for Perfetto and chrome://tracing: a process for each device, in it
 * a track for each process that does I/O (more than one where its I/Os overlap), a slice for each
 * I/O from issue to completion, and the number of I/Os in the driver as a counter.
 */
#ifndef BLKBOX_OUTPUT_PERFETTO_H
#define BLKBOX_OUTPUT_PERFETTO_H

#include "scene.h"
#include "sink.h"

/** @fd and @scene are borrowed. */
int perfetto_sink_create(int fd, const struct scene *scene, const struct recording *recording,
			 struct sink **ret);

#endif
