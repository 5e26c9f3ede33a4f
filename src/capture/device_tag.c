/* SPDX-License-Identifier: MIT */
#include "device_tag.h"

#include <blkid/blkid.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

static void put_cache(blkid_cache *cache)
{
	if (*cache)
		blkid_put_cache(*cache);
}

static bool is_known(const char *type)
{
	static const char *const known[] = {"LABEL", "UUID", "PARTLABEL", "PARTUUID"};

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		if (!strcmp(type, known[i]))
			return true;
	}
	return false;
}

/* A member of a RAID, or a path of a multipath device, repeats what the device on top says. */
static bool is_part_of_another(const struct sysroot *root, const char *path)
{
	_cleanup_closedir_ DIR *dir = NULL;
	struct stat st;

	if (stat(path, &st) < 0 || sysroot_opendir(root, &dir, "/sys/dev/block/%u:%u/holders",
						   major(st.st_rdev), minor(st.st_rdev)) < 0)
		return false;
	for (struct dirent *entry = readdir(dir); entry; entry = readdir(dir)) {
		if (entry->d_name[0] != '.')
			return true;
	}
	return false;
}

/* Writes the paths of all devices with the tag, separated by blanks. Returns how many. */
static int list_devices(const struct sysroot *root, blkid_cache cache, const char *type,
			const char *value, char *ret, size_t size)
{
	blkid_dev_iterate iterate = blkid_dev_iterate_begin(cache);
	blkid_dev device;
	size_t used = 0;
	int n = 0;

	ret[0] = '\0';
	blkid_dev_set_search(iterate, (char *)type, (char *)value);
	while (blkid_dev_next(iterate, &device) == 0) {
		const char *path = blkid_dev_devname(device);

		if (is_part_of_another(root, path))
			continue;
		if (used < size)
			used += (size_t)snprintf(ret + used, size - used, "%s%s", n ? " " : "",
						 path);
		n++;
	}
	blkid_dev_iterate_end(iterate);
	return n;
}

int device_tag_find(const struct sysroot *root, const char *spec, char **ret, struct why *why)
{
	_cleanup_free_ char *type = NULL, *value = NULL, *path = NULL;
	_cleanup_(put_cache) blkid_cache cache = NULL;
	char paths[256];

	if (blkid_parse_tag_string(spec, &type, &value) < 0 || !is_known(type) || !*value)
		return why_set(why, -EINVAL,
			       "'%s' is not understood; a device is named by LABEL=, UUID=, "
			       "PARTLABEL= or PARTUUID= and a value, by a path, by MAJOR:MINOR, or "
			       "by its kernel name",
			       spec);
	/* No cache file: what is on the devices now. */
	if (blkid_get_cache(&cache, "/dev/null") < 0)
		return why_set(why, -ENOMEM, "cannot look for %s: out of memory", spec);
	path = blkid_evaluate_tag(type, value, &cache);
	if (!path)
		return why_set(why, -ENOENT, "no block device has %s%s", spec,
			       geteuid() ? " (only root can look into all devices)" : "");
	blkid_probe_all(cache);
	if (list_devices(root, cache, type, value, paths, sizeof(paths)) > 1)
		return why_set(why, -ENOTUNIQ, "%s is on several devices: %s; name one of them",
			       spec, paths);
	*ret = take_ptr(path);
	return 0;
}
