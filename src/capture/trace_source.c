/* SPDX-License-Identifier: MIT */
#include "trace_source.h"

#include <sys/sysmacros.h>

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
