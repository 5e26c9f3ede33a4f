/* SPDX-License-Identifier: MIT */
/**
 * @file
 * A blktrace set on disk: NAME.blktrace.CPU. Written aside and renamed together at the end.
 */
#ifndef BLKBOX_OUTPUT_BLKTRACE_FILES_H
#define BLKBOX_OUTPUT_BLKTRACE_FILES_H

#include "why.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct blktrace_files;

/**
 * @base: NULL: the files are called after their devices, in the current directory; "DIR/": the
 * same, in DIR; else BASE.blktrace.CPU, and there can be one device only
 */
int blktrace_files_create(const char *base, bool force, struct blktrace_files **ret);
/** Is PATH free to be written? 0, or an error told in @why. */
typedef int (*blktrace_may_write)(const void *context, const char *path, struct why *why);
/** Asks @may_write before each file is opened. */
void blktrace_files_ask(struct blktrace_files *files, blktrace_may_write may_write,
			const void *context);
/** Writes out what is buffered and leaves the .part files where they are: a recording that failed.
 */
void blktrace_files_keep(struct blktrace_files *files);
/** What was not committed or kept is removed. */
void blktrace_files_destroy(struct blktrace_files *files);
DEFINE_CLEANUP(struct blktrace_files, blktrace_files_destroy);

/**
 * Opens the file of a device and CPU, or finds it again. -EEXIST: it is there, without force;
 * -EINVAL: a second device under one BASE.
 */
int blktrace_files_add(struct blktrace_files *files, const char *device, uint32_t cpu,
		       size_t *ret_index, struct why *why);
int blktrace_files_append(struct blktrace_files *files, size_t index, const void *bytes,
			  size_t size, struct why *why);
/** Flushes, closes and renames all. If a name cannot be had, the .part files, all whole, stay. */
int blktrace_files_commit(struct blktrace_files *files, struct why *why);

#endif
