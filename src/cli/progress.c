/* SPDX-License-Identifier: MIT */
#include "progress.h"

#include "clock.h"

#include <inttypes.h>

enum {
	LOOK_EVENTS = 1 << 16
};

void progress_init(struct progress *progress, const struct recording_info *info)
{
	*progress = (struct progress){
		.unit = "events",
		.total = info->events + info->notes,
		.start_ns = clock_mono_ns(),
		.is_terminal = isatty(STDERR_FILENO),
		.next_look = LOOK_EVENTS,
	};
}

void progress_look(struct progress *progress)
{
	progress->next_look = progress->done + LOOK_EVENTS;
	if (!progress->is_terminal || clock_mono_ns() - progress->start_ns < NS_PER_S)
		return;
	fputs("\r", stderr);
	if (progress->total)
		fprintf(stderr, "%3" PRIu64 " %%  ", 100 * progress->done / progress->total);
	fprintf(stderr, "%" PRIu64 " %s\033[K", progress->done, progress->unit);
	progress->is_shown = true;
}

void progress_end(struct progress *progress)
{
	if (progress->is_shown)
		fputs("\r\033[K", stderr);
	progress->is_shown = false;
}
