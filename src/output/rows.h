/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Events as rows: JSON lines and CSV, from one list of columns. Every 64-bit value is exact.
 */
#ifndef BLKBOX_OUTPUT_ROWS_H
#define BLKBOX_OUTPUT_ROWS_H

#include "scene.h"
#include "sink.h"

/**
 * One object a line. The first one, {"header": ...}, has the columns' units, the clocks, the
 * devices and the losses of @recording; members that an event does not have are left out.
 * @fd and @scene are borrowed.
 */
int jsonl_sink_create(int fd, const struct scene *scene, const struct recording *recording,
		      struct sink **ret);

/** RFC 4180, with a line of names. What an event does not have is empty. */
int csv_sink_create(int fd, const struct scene *scene, const struct recording *recording,
		    struct sink **ret);

#endif
