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

/* Lockdown refuses to open a file of debugfs whose mode has a write bit, for reading too. */
static enum lockdown try_file(const struct sysroot *root, const struct kernel_ops *kernel,
			      const char *path, int flags)
{
	struct stat st;
	int fd;

	if (fstatat(root->fd, path + 1, &st, 0) < 0 || !(st.st_mode & 0222))
		return LOCKDOWN_UNKNOWN;
	fd = kernel->open(kernel->context, root->fd, path + 1, flags);
	if (fd == -EPERM)
		return LOCKDOWN_INTEGRITY;
	if (fd < 0)
		return LOCKDOWN_UNKNOWN;
	kernel->close(kernel->context, fd);
	return LOCKDOWN_NONE;
}

/* Every block-mq disk has this file, where the kernel has CONFIG_BLK_DEBUG_FS. */
static enum lockdown try_disks(const struct sysroot *root, const struct kernel_ops *kernel,
			       const char *debugfs)
{
	_cleanup_closedir_ DIR *dir = NULL;
	enum lockdown level = LOCKDOWN_UNKNOWN;
	char path[PATH_MAX];

	if (sysroot_opendir(root, &dir, "%s/block", debugfs) < 0)
		return LOCKDOWN_UNKNOWN;
	for (struct dirent *entry = readdir(dir); entry && level == LOCKDOWN_UNKNOWN;
	     entry = readdir(dir)) {
		snprintf(path, sizeof(path), "%s/block/%s/state", debugfs, entry->d_name);
		if (entry->d_name[0] != '.')
			level = try_file(root, kernel, path, O_RDONLY);
	}
	return level;
}

enum lockdown lockdown_read(const struct sysroot *root, const struct kernel_ops *kernel,
			    const char *debugfs)
{
	enum lockdown level = from_securityfs(root);
	char path[PATH_MAX];

	if (level != LOCKDOWN_UNKNOWN || !debugfs)
		return level;
	/* All kernels with CONFIG_BUG have it; nothing is written, so nothing is cleared. */
	snprintf(path, sizeof(path), "%s/clear_warn_once", debugfs);
	level = try_file(root, kernel, path, O_WRONLY);
	return level == LOCKDOWN_UNKNOWN ? try_disks(root, kernel, debugfs) : level;
}
