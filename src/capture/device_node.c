/* SPDX-License-Identifier: MIT */
#include "device_node.h"

#include "device_tag.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

enum {
	SCSI_GENERIC_MAJOR = 21
};

int device_number_parse(const char *text, dev_t *ret)
{
	unsigned major_number, minor_number;
	int used = 0;

	if (sscanf(text, "%9u:%9u%n", &major_number, &minor_number, &used) != 2 || text[used] ||
	    strspn(text, "0123456789:") != strlen(text))
		return -EINVAL;
	*ret = makedev(major_number, minor_number);
	return 0;
}

int device_kernel_name(const struct sysroot *root, dev_t number, const char *below, char *ret,
		       size_t size)
{
	static const char key[] = "DEVNAME=";
	char text[4096], *save;
	int r = sysroot_read(root, text, sizeof(text), "/sys/dev/block/%u:%u%s/uevent",
			     major(number), minor(number), below);

	if (r < 0)
		return r;
	for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		if (strncmp(line, key, strlen(key)) != 0)
			continue;
		line += strlen(key);
		if (strlen(line) >= size)
			return -ENAMETOOLONG;
		strcpy(ret, line);
		return 0;
	}
	return -ENOENT;
}

/* As stat(2), for a path that a person gave: a relative one starts where the program runs. */
static int stat_path(const struct sysroot *root, const char *path, struct stat *ret)
{
	_cleanup_close_ int fd = -1;

	if (path[0] != '/')
		return stat(path, ret) < 0 ? -errno : 0;
	fd = sysroot_openf(root, O_PATH, "%s", path);
	if (fd < 0)
		return fd;
	return fstat(fd, ret) < 0 ? -errno : 0;
}

static bool is_block_device(const struct sysroot *root, const char *path, dev_t *ret)
{
	struct stat st;

	if (stat_path(root, path, &st) < 0 || !S_ISBLK(st.st_mode))
		return false;
	*ret = st.st_rdev;
	return true;
}

int device_node_by_number(const struct sysroot *root, dev_t number, struct device_node *ret)
{
	char name[NAME_MAX], path[PATH_MAX];
	dev_t found;
	int r = device_kernel_name(root, number, "", name, sizeof(name));

	if (r < 0)
		return r;
	snprintf(path, sizeof(path), "/dev/%s", name);
	if (!is_block_device(root, path, &found) || found != number)
		return -ENOENT;
	strcpy(ret->path, path);
	ret->number = number;
	return 0;
}

static int find_number(const struct sysroot *root, const char *spec, dev_t number,
		       struct device_node *ret, struct why *why)
{
	int r;

	if (!sysroot_exists(root, "/sys/dev/block/%u:%u", major(number), minor(number)))
		return why_set(why, -ENOENT, "there is no block device %u:%u (lsblk lists them)",
			       major(number), minor(number));
	r = device_node_by_number(root, number, ret);
	if (r == -ENOENT)
		return why_set(why, r,
			       "the kernel has a block device %s, but /dev has no node for it: it "
			       "is hidden (a path of NVMe multipath), or make one with "
			       "'mknod NODE b %u %u' and name that",
			       spec, major(number), minor(number));
	return r < 0 ? why_errno(why, r, "cannot look up %s in sysfs", spec) : 0;
}

/* By the kernel's name; sysfs writes '!' for '/'. -ENODEV without a sentence if it knows none. */
static int find_kernel_name(const struct sysroot *root, const char *spec, struct device_node *ret,
			    struct why *why)
{
	char name[NAME_MAX], number_text[64];
	dev_t number;

	if (!*spec || spec[0] == '.' || strlen(spec) >= sizeof(name))
		return -ENODEV;
	strcpy(name, spec);
	for (char *c = name; *c; c++) {
		if (*c == '/')
			*c = '!';
	}
	if (sysroot_read(root, number_text, sizeof(number_text), "/sys/class/block/%s/dev", name) <
		    0 ||
	    device_number_parse(number_text, &number) < 0)
		return -ENODEV;
	return find_number(root, spec, number, ret, why);
}

static int say_scsi_generic(const struct sysroot *root, const char *path, dev_t number,
			    struct why *why)
{
	_cleanup_closedir_ DIR *dir = NULL;

	if (sysroot_opendir(root, &dir, "/sys/dev/char/%u:%u/device/block", major(number),
			    minor(number)) == 0) {
		for (struct dirent *entry = readdir(dir); entry; entry = readdir(dir)) {
			if (entry->d_name[0] != '.')
				return why_set(why, -ENOTBLK,
					       "%s is the SCSI generic node of disk %s; give the "
					       "disk, its trace has the same requests",
					       path, entry->d_name);
		}
	}
	return why_set(why, -ENOTBLK, "%s is a SCSI generic node of a device that is no disk",
		       path);
}

static int say_not_block(const struct sysroot *root, const char *path, const struct stat *st,
			 struct why *why)
{
	if (S_ISCHR(st->st_mode) && major(st->st_rdev) == SCSI_GENERIC_MAJOR)
		return say_scsi_generic(root, path, st->st_rdev, why);
	if (S_ISREG(st->st_mode))
		return why_set(why, -ENOTBLK,
			       "%s is a regular file, not a block device; 'findmnt -n -o SOURCE -T "
			       "%s' names the device it is on",
			       path, path);
	if (S_ISDIR(st->st_mode))
		return why_set(why, -ENOTBLK,
			       "%s is a directory, not a block device; 'findmnt -n -o SOURCE -T "
			       "%s' names the device it is on",
			       path, path);
	return why_set(why, -ENOTBLK, "%s is a %s, not a block device", path,
		       S_ISCHR(st->st_mode)    ? "character device"
		       : S_ISFIFO(st->st_mode) ? "named pipe"
					       : "socket");
}

static int find_path(const struct sysroot *root, const char *path, struct device_node *ret,
		     struct why *why)
{
	_cleanup_free_ char *absolute = NULL;
	struct stat st;
	int r = strlen(path) < sizeof(ret->path) ? stat_path(root, path, &st) : -ENAMETOOLONG;

	if (r == -ENOENT || r == -ENOTDIR)
		return why_set(why, -ENOENT, "%s does not exist (lsblk lists the block devices)",
			       path);
	if (r < 0)
		return why_errno(why, r, "cannot look at %s", path);
	if (!S_ISBLK(st.st_mode))
		return say_not_block(root, path, &st, why);
	/* The kernel's own node if it is the same device: a link may change under us. */
	if (device_node_by_number(root, st.st_rdev, ret) == 0)
		return 0;
	if (path[0] != '/') {
		/* All who open it start at "/". */
		absolute = realpath(path, NULL);
		if (!absolute)
			return why_errno(why, -errno, "cannot look at %s", path);
	}
	strcpy(ret->path, absolute ? absolute : path);
	ret->number = st.st_rdev;
	return 0;
}

static int find_tag(const struct sysroot *root, const char *spec, struct device_node *ret,
		    struct why *why)
{
	_cleanup_free_ char *path = NULL;
	int r = device_tag_find(root, spec, &path, why);

	return r < 0 ? r : find_path(root, path, ret, why);
}

int device_node_find(const struct sysroot *root, const char *spec, struct device_node *ret,
		     struct why *why)
{
	const char *equals = strchr(spec, '='), *slash = strchr(spec, '/');
	char path[PATH_MAX];
	struct stat st;
	dev_t number;
	int r;

	if (!*spec)
		return why_set(why, -EINVAL, "the name of a device is empty");
	if (spec[0] == '/')
		return find_path(root, spec, ret, why);
	if (equals && (!slash || equals < slash))
		return find_tag(root, spec, ret, why);
	if (device_number_parse(spec, &number) == 0)
		return find_number(root, spec, number, ret, why);
	r = find_kernel_name(root, spec, ret, why);
	if (r != -ENODEV)
		return r;
	if (stat(spec, &st) == 0)
		return find_path(root, spec, ret, why);
	/* "mapper/home", "disk/by-id/x", "sg0" */
	if (snprintf(path, sizeof(path), "/dev/%s", spec) < (int)sizeof(path) &&
	    stat_path(root, path, &st) == 0)
		return find_path(root, path, ret, why);
	return why_set(why, -ENOENT, "there is no block device '%s' (lsblk lists them)", spec);
}
