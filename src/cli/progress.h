/* SPDX-License-Identifier: MIT */
/**
 * @file
 * A line of progress on stderr: on a terminal only, and only for work that takes over a second.
 */
#ifndef BLKBOX_CLI_PROGRESS_H
#define BLKBOX_CLI_PROGRESS_H

#include "recording.h"

struct progress {
	const char *unit; /* of @total and @done: "events" */
	uint64_t total;	  /* 0 = not known */
	uint64_t done;
	uint64_t next_look;
	uint64_t start_ns;
	bool is_terminal;
	bool is_shown;
};

void progress_init(struct progress *progress, const struct recording_info *info);
/** The line again, with what is done. Called now and then by progress_step(). */
void progress_look(struct progress *progress);
/** Takes the line away. */
void progress_end(struct progress *progress);

/** One more event. */
static inline void progress_step(struct progress *progress)
{
	if (++progress->done >= progress->next_look)
		progress_look(progress);
}

#endif
