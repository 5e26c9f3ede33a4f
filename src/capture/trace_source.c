/* SPDX-License-Identifier: MIT */
#include "trace_source.h"

#include "cleanup.h"

#include <string.h>
#include <sys/sysmacros.h>

enum {
	GUARDIANS_MAX = 20, /* whoever ends more of them means it */
};

int trace_source_guard(struct trace_source *source, void (*restore)(void *source), const int *keep,
		       size_t n_keep, struct why *why)
{
	_cleanup_free_ int *all = calloc(n_keep + 2, sizeof(*all));

	if (!all)
		return why_errno(why, -ENOMEM, "cannot start the guardian process");
	if (n_keep)
		memcpy(all, keep, n_keep * sizeof(*keep));
	all[n_keep++] = source->root->fd;
	if (source->rescue)
		all[n_keep++] = source->rescue->fd;
	source->guardians++;
	return guardian_start(&source->guardian, restore, source, all, n_keep, why);
}

bool trace_source_lost_guardian(struct trace_source *source)
{
	if (!guardian_is_gone(&source->guardian))
		return false;
	guardian_leave(&source->guardian);
	if (source->guardians < GUARDIANS_MAX)
		return true;
	news_add(source->news,
		 "the guardian process was ended once more; there is no other one: should we be "
		 "killed now, 'blkbox stop' ends the trace");
	return false;
}

void trace_source_guarded_again(struct trace_source *source, int r, const struct why *why)
{
	if (r < 0) {
		news_add(source->news,
			 "the guardian process was ended by somebody, and %s: should we be killed "
			 "now, 'blkbox stop' ends the trace",
			 why->text);
		return;
	}
	news_add(source->news,
		 "the guardian process was ended by somebody; another one (process %d) has taken "
		 "its place",
		 (int)source->guardian.pid);
	if (source->guarded)
		source->guarded(source->guarded_context);
}

int trace_source_watch_devices(struct trace_source *source, bool enable)
{
	static const char *const filters[] = {"act_mask", "end_lba", "pid", "start_lba", NULL};
	static const char *const all[] = {"act_mask",  "end_lba", "pid",
					  "start_lba", "enable",  NULL};
	int r = 0;

	for (size_t i = 0; r == 0 && i < source->n_devices; i++)
		r = foreign_writes_watch_disk(&source->foreign, source->root,
					      enable ? all : filters,
					      major(source->devices[i].number),
					      minor(source->devices[i].number));
	return r;
}
