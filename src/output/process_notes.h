/* SPDX-License-Identifier: MIT */
/**
 * @file
 * A sink in front of another one, for tools that know processes only by the kernel's process notes:
 * recordings through ftrace have none, but know the names from elsewhere.
 */
#ifndef BLKBOX_OUTPUT_PROCESS_NOTES_H
#define BLKBOX_OUTPUT_PROCESS_NOTES_H

#include "recording.h"
#include "sink.h"

/**
 * Puts a process note in front of the first event of each thread, and where its name changes.
 * Inputs that have notes of their own pass unchanged.
 *
 * @next: adopted, also on failure
 * @recording: borrowed
 */
int process_notes_adopt_create(struct sink *next, const struct recording *recording,
			       struct sink **ret);

#endif
