/* SPDX-License-Identifier: MIT */
#include "needs.h"

#include "blktrace.h"
#include "traces.h"

#include <fcntl.h>
#include <string.h>
#include <sys/sysmacros.h>

/*
 * Asks without side effect: only a kernel that knows the call looks at the pointer. Says what the
 * device's driver and the kernel can do.
 */
static int probe(const struct kernel_ops *kernel, int fd, const struct block_device *device,
		 struct why *why)
{
	int r = kernel->ioctl(kernel->context, fd, BT_IOC_SETUP2, NULL);

	if (r == -EFAULT)
		return why_set(why, 0, "protocol v2");
	r = kernel->ioctl(kernel->context, fd, BT_IOC_SETUP, NULL);
	if (r == -EFAULT)
		return why_set(why, 0,
			       device->zoned ? "protocol v1: zone operations will look like writes"
					     : "protocol v1");
	return why_set(why, -ENOTTY,
		       "the kernel (CONFIG_BLK_DEV_IO_TRACE) or the driver of %s has no block "
		       "tracing",
		       device->name);
}

static int need_block_tracing(const struct sysroot *root, const struct kernel_ops *kernel,
			      const struct block_device *device, struct preflight *preflight)
{
	struct need *need = need_add(preflight, "block tracing", NEED_FOR_RELAY | NEED_FOR_FTRACE);
	int fd, r;

	if (!need)
		return -ENOMEM;
	strcpy(need->device, device->name);
	fd = kernel->open(kernel->context, root->fd, device->path + 1, O_RDONLY | O_NONBLOCK);
	if (fd < 0) {
		need_fails(need, fd);
		why_errno(&need->why, fd, "cannot open %s", device->path);
		return 0;
	}
	r = probe(kernel, fd, device, &need->why);
	kernel->close(kernel->context, fd);
	if (r < 0)
		need_fails(need, r);
	return 0;
}

static int need_no_trace(const struct traces *traces, const struct block_device *device,
			 struct preflight *preflight)
{
	struct need *need = need_add(preflight, "no other trace", NEED_FOR_RELAY | NEED_FOR_FTRACE);
	const struct running_trace *trace = traces_find(traces, device->disk);

	if (!need)
		return -ENOMEM;
	strcpy(need->device, device->name);
	if (trace) {
		need_fails(need, -EBUSY);
		trace_describe_owner(trace, &need->why);
	} else {
		why_set(&need->why, 0, "nobody traces it");
	}
	return 0;
}

int needs_of_devices(const struct sysroot *root, const struct kernel_ops *kernel,
		     const char *debugfs, const struct block_device *devices, size_t n_devices,
		     struct preflight *preflight, struct why *why)
{
	_cleanup_(traces_deinit) struct traces traces = {0};
	int r = traces_list(root, kernel, debugfs, &traces, why);

	for (size_t i = 0; r == 0 && i < n_devices; i++) {
		r = need_block_tracing(root, kernel, &devices[i], preflight);
		if (r == 0)
			r = need_no_trace(&traces, &devices[i], preflight);
	}
	return r;
}

int need_any_block_tracing(const struct sysroot *root, struct preflight *preflight)
{
	struct need *need = need_add(preflight, "block tracing", NEED_FOR_RELAY | NEED_FOR_FTRACE);
	_cleanup_closedir_ DIR *dir = NULL;
	size_t disks = 0, traceable = 0;

	if (!need)
		return -ENOMEM;
	if (sysroot_opendir(root, &dir, "/sys/block") < 0) {
		need_fails(need, -ENOENT);
		why_set(&need->why, 0,
			"sysfs is not mounted at /sys; 'mount -t sysfs sysfs /sys' does it");
		return 0;
	}
	for (struct dirent *entry = readdir(dir); entry; entry = readdir(dir)) {
		if (entry->d_name[0] == '.')
			continue;
		disks++;
		traceable += sysroot_exists(root, "/sys/block/%s/trace/enable", entry->d_name);
	}
	if (traceable) {
		why_set(&need->why, 0, "the kernel can trace %zu disks", traceable);
	} else if (disks) {
		need_fails(need, -ENOTTY);
		why_set(&need->why, 0, "the kernel has no block tracing (CONFIG_BLK_DEV_IO_TRACE)");
	} else {
		need->state = NEED_UNKNOWN;
		why_set(&need->why, 0, "there is no disk to try");
	}
	return 0;
}
