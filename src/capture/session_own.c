/* SPDX-License-Identifier: MIT */
/*
 * An output that lies on a disk which is being recorded.
 */
#include "session_parts.h"

#include "cleanup.h"

#include <limits.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

enum {
	DEPTH_MAX = 8 /* of devices on devices */
};

static bool is_on(const struct sysroot *root, const char *path, uint32_t disk, int depth);

/* Of a device mapper or md device: the disks below it. */
static bool is_above(const struct sysroot *root, const char *path, uint32_t disk, int depth)
{
	_cleanup_closedir_ DIR *dir = NULL;

	if (sysroot_opendir(root, &dir, "%s/slaves", path) < 0)
		return false;
	for (struct dirent *entry = readdir(dir); entry; entry = readdir(dir)) {
		char below[PATH_MAX];

		if (entry->d_name[0] == '.')
			continue;
		snprintf(below, sizeof(below), "/sys/class/block/%.64s", entry->d_name);
		if (is_on(root, below, disk, depth + 1))
			return true;
	}
	return false;
}

/* @path: of a device in sysfs */
static bool is_on(const struct sysroot *root, const char *path, uint32_t disk, int depth)
{
	unsigned dev_major, dev_minor;
	char whole[PATH_MAX + 8], text[64];

	if (depth > DEPTH_MAX)
		return false;
	snprintf(whole, sizeof(whole), "%s%s", path,
		 sysroot_exists(root, "%s/partition", path) ? "/.." : "");
	if (sysroot_read(root, text, sizeof(text), "%s/dev", whole) < 0 ||
	    sscanf(text, "%u:%u", &dev_major, &dev_minor) != 2)
		return false;
	return (dev_major << 20 | dev_minor) == disk || is_above(root, whole, disk, depth);
}

void session_mark_own_writes(struct session *session)
{
	const struct span_sink *sink = session->sink;
	char path[64];
	struct stat st;

	if (!sink->rescue || !sink->write_through || fstat(sink->rescue->fd, &st) < 0)
		return;
	snprintf(path, sizeof(path), "/sys/dev/block/%u:%u", major(st.st_dev), minor(st.st_dev));
	for (size_t i = 0; i < session->n_devices; i++) {
		if (!is_on(session->root, path, session->devices[i].disk, 0))
			continue;
		news_add(&session->news,
			 "the log is on %s, which is recorded: its own writes are in the "
			 "recording, and make it larger; 'blkbox report --no-own' leaves them out",
			 session->devices[i].name);
		sink->write_through(sink->context);
		return;
	}
}
