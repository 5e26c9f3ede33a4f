/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Common Trace Format 1.8: a folder with the metadata and a stream for each CPU. Packets tell the
 * events that were discarded before them, from the recording's losses.
 */
#ifndef BLKBOX_OUTPUT_CTF_H
#define BLKBOX_OUTPUT_CTF_H

#include "scene.h"
#include "sink.h"

/**
 * Writes @path.part/ and renames it in sink_finish(). -EEXIST if @path or @path.part is there,
 * unless @force is set and it is a CTF trace, which is then removed.
 * @scene and @recording are borrowed.
 */
int ctf_sink_create(const char *path, bool force, const struct scene *scene,
		    const struct recording *recording, struct sink **ret, struct why *why);

#endif
