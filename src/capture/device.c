/* SPDX-License-Identifier: MIT */
#include "device.h"

#include "device_node.h"

#include <string.h>
#include <sys/sysmacros.h>

uint32_t device_from_number(dev_t number)
{
	return major(number) << 20 | (minor(number) & 0xfffff);
}

/* sysfs of a device: "" is itself, "/.." of a partition is its disk. */
static int read_number(const struct sysroot *root, dev_t number, const char *below, dev_t *ret)
{
	char text[64];
	int r = sysroot_read(root, text, sizeof(text), "/sys/dev/block/%u:%u%s/dev", major(number),
			     minor(number), below);

	return r < 0 ? r : device_number_parse(text, ret);
}

static int read_sysfs(const struct sysroot *root, dev_t number, struct block_device *device)
{
	unsigned major_number = major(number), minor_number = minor(number);
	const char *disk;
	char zoned[32];
	dev_t disk_number;
	int r;

	device->partition =
		sysroot_exists(root, "/sys/dev/block/%u:%u/partition", major_number, minor_number);
	disk = device->partition ? "/.." : "";
	r = read_number(root, number, disk, &disk_number);
	if (r == 0)
		r = device_kernel_name(root, number, "", device->name, sizeof(device->name));
	if (r == 0)
		r = device_kernel_name(root, number, disk, device->disk_name,
				       sizeof(device->disk_name));
	if (r == 0)
		r = sysroot_read_u64(root, &device->sectors, "/sys/dev/block/%u:%u/size",
				     major_number, minor_number);
	if (r == 0 && device->partition)
		r = sysroot_read_u64(root, &device->start_sector, "/sys/dev/block/%u:%u/start",
				     major_number, minor_number);
	if (r < 0)
		return r;
	device->zoned =
		sysroot_read(root, zoned, sizeof(zoned), "/sys/dev/block/%u:%u%s/queue/zoned",
			     major_number, minor_number, disk) > 0 &&
		strcmp(zoned, "none") != 0;
	device->number = number;
	device->device = device_from_number(number);
	device->disk = device_from_number(disk_number);
	return 0;
}

int device_resolve(const struct sysroot *root, const char *spec, struct block_device *ret,
		   struct why *why)
{
	struct block_device device = {.spec = spec};
	struct device_node node;
	int r = device_node_find(root, spec, &node, why);

	if (r < 0)
		return r;
	if (!sysroot_exists(root, "/sys/dev/block"))
		return why_set(why, -ENOENT,
			       "sysfs is not mounted at /sys; 'mount -t sysfs sysfs /sys' does it");
	r = read_sysfs(root, node.number, &device);
	if (r == -ENOENT)
		return why_set(
			why, -ENXIO,
			"%s is a node for block device %u:%u, which the kernel does not have",
			node.path, major(node.number), minor(node.number));
	if (r < 0)
		return why_errno(why, r, "cannot read what sysfs says of %s", node.path);
	strcpy(device.path, node.path);
	*ret = device;
	return 0;
}

static int check_pair(const struct block_device *a, const struct block_device *b, struct why *why)
{
	const struct block_device *part = a->partition ? a : b;

	if (a->disk != b->disk)
		return 0;
	if (a->device == b->device)
		return why_set(why, -EINVAL, "%s is given twice ('%s' and '%s')", a->name, a->spec,
			       b->spec);
	if (a->partition && b->partition)
		return why_set(why, -EINVAL,
			       "%s and %s are on the same disk, and a disk has one trace; record "
			       "%s instead",
			       a->name, b->name, a->disk_name);
	return why_set(why, -EINVAL,
		       "%s is a partition of %s, and a disk has one trace; leave %s away, the "
		       "disk's trace has it",
		       part->name, part->disk_name, part->name);
}

int devices_resolve(const struct sysroot *root, char *const *specs, size_t n,
		    struct block_device *ret, struct why *why)
{
	_cleanup_free_ struct block_device *devices = calloc(n ? n : 1, sizeof(*devices));

	if (!devices)
		return why_set(why, -ENOMEM, "out of memory");
	for (size_t i = 0; i < n; i++) {
		int r = device_resolve(root, specs[i], &devices[i], why);

		for (size_t j = 0; r == 0 && j < i; j++)
			r = check_pair(&devices[j], &devices[i], why);
		if (r < 0)
			return r;
	}
	for (size_t i = 0; i < n; i++)
		ret[i] = devices[i];
	return 0;
}
