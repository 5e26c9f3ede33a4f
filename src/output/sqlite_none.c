/* SPDX-License-Identifier: MIT */
#include "sqlite.h"

int sqlite_sink_create(const char *path, const struct scene *scene,
		       const struct recording *recording, struct sink **ret, struct why *why)
{
	(void)path;
	(void)scene;
	(void)recording;
	(void)ret;
	return why_set(why, -ENOSYS, "this blkbox was built without SQLite (libsqlite3)");
}
