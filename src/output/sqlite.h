/* SPDX-License-Identifier: MIT */
/**
 * @file
 * A SQLite database: tables events, ios, devices, processes, losses, meta; indexes; views.
 */
#ifndef BLKBOX_OUTPUT_SQLITE_H
#define BLKBOX_OUTPUT_SQLITE_H

#include "scene.h"
#include "sink.h"

/**
 * Into the empty file @path, which the caller created and will rename. @scene and @recording are
 * borrowed. -ENOSYS if this program was built without SQLite.
 */
int sqlite_sink_create(const char *path, const struct scene *scene,
		       const struct recording *recording, struct sink **ret, struct why *why);

#endif
