/* SPDX-License-Identifier: MIT */
#include "lockdown.h"

#include "cleanup.h"

#include <fcntl.h>
#include <limits.h>
#include <string.h>

static enum lockdown from_securityfs(const struct sysroot *root)
{
	char text[128];

	/* The level in force is in brackets: "none [integrity] confidentiality". */
	if (sysroot_read(root, text, sizeof(text), "/sys/kernel/security/lockdown") < 0)
		return LOCKDOWN_UNKNOWN;
	if (strstr(text, "[confidentiality]"))
		return LOCKDOWN_CONFIDENTIALITY;
	if (strstr(text, "[integrity]"))
		return LOCKDOWN_INTEGRITY;
	return strstr(text, "[none]") ? LOCKDOWN_NONE : LOCKDOWN_UNKNOWN;
}

/* Every block-mq disk has this file, and its mode has a write bit: lockdown refuses to open it. */
static enum lockdown try_file(const struct sysroot *root, const struct kernel_ops *kernel,
			      const char *debugfs, const char *disk)
{
	char path[PATH_MAX];
	struct stat st;
	int fd;

	snprintf(path, sizeof(path), "%s/block/%s/state", debugfs + 1, disk);
	if (fstatat(root->fd, path, &st, 0) < 0 || !(st.st_mode & 0222))
		return LOCKDOWN_UNKNOWN;
	fd = kernel->open(kernel->context, root->fd, path, O_RDONLY);
	if (fd == -EPERM)
		return LOCKDOWN_INTEGRITY;
	if (fd < 0)
		return LOCKDOWN_UNKNOWN;
	kernel->close(kernel->context, fd);
	return LOCKDOWN_NONE;
}

enum lockdown lockdown_read(const struct sysroot *root, const struct kernel_ops *kernel,
			    const char *debugfs)
{
	enum lockdown level = from_securityfs(root);
	_cleanup_closedir_ DIR *dir = NULL;

	if (level != LOCKDOWN_UNKNOWN || !debugfs)
		return level;
	if (sysroot_opendir(root, &dir, "%s/block", debugfs) < 0)
		return LOCKDOWN_UNKNOWN;
	for (struct dirent *entry = readdir(dir); entry && level == LOCKDOWN_UNKNOWN;
	     entry = readdir(dir)) {
		if (entry->d_name[0] != '.')
			level = try_file(root, kernel, debugfs, entry->d_name);
	}
	return level;
}
