/* SPDX-License-Identifier: MIT */
#include "mounts.h"

#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <string.h>

/* True if a boot parameter is there, as "debugfs=off"; copies it whole. */
static bool boot_parameter(const struct sysroot *root, const char *key, char *ret, size_t size)
{
	char text[4096], *save;

	if (sysroot_read(root, text, sizeof(text), "/proc/cmdline") < 0)
		return false;
	for (char *word = strtok_r(text, " ", &save); word; word = strtok_r(NULL, " ", &save)) {
		if (!strncmp(word, key, strlen(key))) {
			snprintf(ret, size, "%s", word);
			return true;
		}
	}
	return false;
}

static bool kernel_has_filesystem(const struct sysroot *root, const char *type)
{
	char text[8192], word[64];

	if (sysroot_read(root, text, sizeof(text), "/proc/filesystems") < 0)
		return true; /* cannot know */
	strncat(text, "\n", sizeof(text) - strlen(text) - 1);
	snprintf(word, sizeof(word), "\t%s\n", type);
	return strstr(text, word);
}

static bool in_container(const struct sysroot *root)
{
	char ours[64], inits[64];

	if (sysroot_exists(root, "/.dockerenv") || sysroot_exists(root, "/run/.containerenv") ||
	    sysroot_exists(root, "/run/systemd/container"))
		return true;
	return sysroot_readlink(root, ours, sizeof(ours), "/proc/self/ns/mnt") > 0 &&
	       sysroot_readlink(root, inits, sizeof(inits), "/proc/1/ns/mnt") > 0 &&
	       strcmp(ours, inits) != 0;
}

static int say_not_mounted(const struct sysroot *root, struct why *why)
{
	char parameter[64];

	if (!kernel_has_filesystem(root, "debugfs")) {
		if (boot_parameter(root, "debugfs=", parameter, sizeof(parameter)))
			return why_set(why, -ENODEV,
				       "debugfs is switched off by the boot parameter %s; boot "
				       "without it, or with debugfs=on",
				       parameter);
		return why_set(why, -ENODEV,
			       "this kernel was built without debugfs (CONFIG_DEBUG_FS)");
	}
	if (in_container(root))
		return why_set(why, -ENOENT,
			       "debugfs is not mounted in this mount namespace (a container?); run "
			       "blkbox outside of it, or 'mount -t debugfs debugfs "
			       "/sys/kernel/debug' in it");
	return why_set(
		why, -ENOENT,
		"debugfs is not mounted; 'mount -t debugfs debugfs /sys/kernel/debug' mounts it");
}

static int say_no_block(const struct sysroot *root, const char *path, struct why *why)
{
	_cleanup_closedir_ DIR *dir = NULL;
	bool empty = true;
	int r = sysroot_opendir(root, &dir, "%s", path);

	if (r < 0)
		return why_errno(why, r, "cannot read debugfs at %s%s", path,
				 r == -EACCES ? " (only root may)" : "");
	for (struct dirent *entry = readdir(dir); entry; entry = readdir(dir))
		empty = empty && entry->d_name[0] == '.';
	if (empty)
		return why_set(
			why, -ENODEV,
			"debugfs is mounted at %s, but it is empty: access to it is switched "
			"off (boot parameter debugfs=, or CONFIG_DEBUG_FS_ALLOW_NONE)",
			path);
	return why_set(why, -ENODEV,
		       "debugfs at %s has no directory 'block': this kernel's block layer has no "
		       "tracing (CONFIG_BLK_DEV_IO_TRACE)",
		       path);
}

/* @given: the user named it. */
static int check_debugfs(const struct sysroot *root, const struct kernel_ops *kernel,
			 const char *path, bool given, struct why *why)
{
	uint64_t type = 0;
	int fd = kernel->open(kernel->context, root->fd, path + 1, O_RDONLY | O_DIRECTORY), r;

	if (fd == -EACCES)
		return why_set(why, fd, "debugfs at %s cannot be read by this user; run as root",
			       path);
	if (fd < 0)
		return why_errno(why, fd, "cannot open %s, which should be debugfs", path);
	r = kernel->fs_type(kernel->context, fd, &type);
	kernel->close(kernel->context, fd);
	if (r < 0)
		return why_errno(why, r, "cannot ask what is mounted at %s", path);
	if (type != DEBUGFS_MAGIC)
		return why_set(why, -EINVAL,
			       given ? "%s exists, but it is not debugfs"
				     : "debugfs at %s is hidden by another mount",
			       path);
	if (!sysroot_exists(root, "%s/block", path))
		return say_no_block(root, path, why);
	return 0;
}

int debugfs_find(const struct sysroot *root, const struct kernel_ops *kernel, const char *given,
		 char *ret, size_t size, struct why *why)
{
	char path[PATH_MAX];
	int r;

	if (given) {
		if (given[0] != '/' || strlen(given) >= sizeof(path))
			return why_set(why, -EINVAL,
				       "'%s' is no absolute path to where debugfs is mounted",
				       given);
		strcpy(path, given);
		for (size_t n = strlen(path); n > 1 && path[n - 1] == '/'; n--)
			path[n - 1] = '\0';
		if (!path[1]) /* "/" */
			return why_set(why, -EINVAL, "%s exists, but it is not debugfs", path);
	} else {
		r = sysroot_find_mount(root, "debugfs", path, sizeof(path));
		if (r == -ENOENT)
			return say_not_mounted(root, why);
		if (r < 0)
			return why_errno(why, r, "cannot find out where debugfs is mounted");
	}
	r = check_debugfs(root, kernel, path, given, why);
	if (r < 0)
		return r;
	if (strlen(path) >= size)
		return why_set(why, -ENAMETOOLONG, "the path of debugfs is too long");
	strcpy(ret, path);
	return 0;
}

int tracefs_find(const struct sysroot *root, char *ret, size_t size, struct why *why)
{
	char path[PATH_MAX], debugfs[PATH_MAX - sizeof("/tracing")];
	int r = sysroot_find_mount(root, "tracefs", path, sizeof(path));

	/* The kernel mounts it there by itself when somebody looks. */
	if (r == -ENOENT && sysroot_find_mount(root, "debugfs", debugfs, sizeof(debugfs)) == 0) {
		snprintf(path, sizeof(path), "%s/tracing", debugfs);
		if (sysroot_exists(root, "%s/current_tracer", path))
			r = 0;
	}
	if (r == -ENOENT && !kernel_has_filesystem(root, "tracefs"))
		return why_set(why, -ENODEV,
			       "this kernel was built without tracing (CONFIG_TRACING)");
	if (r == -ENOENT)
		return why_set(why, r,
			       "tracefs is not mounted; 'mount -t tracefs tracefs "
			       "/sys/kernel/tracing' mounts it");
	if (r < 0)
		return why_errno(why, r, "cannot find out where tracefs is mounted");
	if (strlen(path) >= size)
		return why_set(why, -ENAMETOOLONG, "the path of tracefs is too long");
	strcpy(ret, path);
	return 0;
}
