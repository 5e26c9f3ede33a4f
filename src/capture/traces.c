/* SPDX-License-Identifier: MIT */
#include "traces.h"

#include "blktrace.h"
#include "device_node.h"
#include "mounts.h"
#include "state.h"
#include "trace_owner.h"

#include <fcntl.h>
#include <limits.h>
#include <string.h>

static struct running_trace *add_trace(struct traces *traces)
{
	struct running_trace *items =
		reallocarray(traces->items, traces->n + 1, sizeof(*traces->items));

	if (!items)
		return NULL;
	traces->items = items;
	items[traces->n] = (struct running_trace){.owner = TRACE_OWNER_NONE};
	return &items[traces->n++];
}

static struct running_trace *find_disk(struct traces *traces, uint32_t disk)
{
	for (size_t i = 0; disk && i < traces->n; i++) {
		if (traces->items[i].disk == disk)
			return &traces->items[i];
	}
	return NULL;
}

static int read_disk_number(const struct sysroot *root, const char *path, uint32_t *ret)
{
	char text[64];
	dev_t number;
	int r = sysroot_read(root, text, sizeof(text), "%s/dev", path);

	if (r >= 0)
		r = device_number_parse(text, &number);
	if (r < 0)
		return r;
	*ret = device_from_number(number);
	return 0;
}

/* A disk says by itself whether its queue has a trace, debugfs or not. */
static int list_by_sysfs(const struct sysroot *root, struct traces *traces)
{
	_cleanup_closedir_ DIR *dir = NULL;
	int r = sysroot_opendir(root, &dir, "/sys/block");

	if (r < 0)
		return r;
	for (struct dirent *entry = readdir(dir); entry; entry = readdir(dir)) {
		struct running_trace *trace;
		char path[PATH_MAX];
		uint64_t enabled;
		uint32_t disk;

		snprintf(path, sizeof(path), "/sys/block/%s", entry->d_name);
		if (entry->d_name[0] == '.' ||
		    sysroot_read_u64(root, &enabled, "%s/trace/enable", path) < 0 || !enabled ||
		    read_disk_number(root, path, &disk) < 0)
			continue;
		trace = add_trace(traces);
		if (!trace)
			return -ENOMEM;
		trace->disk = disk;
		snprintf(trace->disk_name, sizeof(trace->disk_name), "%.*s", DEVICE_NAME_BYTES - 1,
			 entry->d_name);
		strcpy(trace->name, trace->disk_name);
	}
	return 0;
}

/* The disk of a directory in debugfs, which is named by a disk, a partition or an sg node. */
static int find_disk_of(const struct sysroot *root, const char *name, uint32_t *ret)
{
	_cleanup_closedir_ DIR *dir = NULL;
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "/sys/class/block/%s%s", name,
		 sysroot_exists(root, "/sys/class/block/%s/partition", name) ? "/.." : "");
	if (read_disk_number(root, path, ret) == 0)
		return 0;
	if (sysroot_opendir(root, &dir, "/sys/class/scsi_generic/%s/device/block", name) < 0)
		return -ENOENT;
	for (struct dirent *entry = readdir(dir); entry; entry = readdir(dir)) {
		snprintf(path, sizeof(path), "/sys/block/%s", entry->d_name);
		if (entry->d_name[0] != '.' && read_disk_number(root, path, ret) == 0)
			return 0;
	}
	return -ENOENT;
}

static int list_by_debugfs(const struct sysroot *root, const char *debugfs, struct traces *traces)
{
	_cleanup_closedir_ DIR *dir = NULL;
	int r = sysroot_opendir(root, &dir, "%s/block", debugfs);

	if (r < 0)
		return r;
	for (struct dirent *entry = readdir(dir); entry; entry = readdir(dir)) {
		const char *name = entry->d_name;
		struct running_trace *trace;
		uint32_t disk = 0;

		if (name[0] == '.' || !sysroot_exists(root, "%s/block/%s/dropped", debugfs, name))
			continue;
		find_disk_of(root, name, &disk);
		trace = find_disk(traces, disk);
		if (!trace)
			trace = add_trace(traces);
		if (!trace)
			return -ENOMEM;
		trace->disk = disk;
		trace->has_channels = true;
		snprintf(trace->name, sizeof(trace->name), "%.*s", DEVICE_NAME_BYTES - 1, name);
		trace->dropped_known = sysroot_read_u64(root, &trace->dropped,
							"%s/block/%s/dropped", debugfs, name) == 0;
	}
	return 0;
}

static bool tracer_is_blk(const struct sysroot *root)
{
	char tracefs[PATH_MAX], tracer[64];

	return tracefs_find(root, tracefs, sizeof(tracefs), NULL) == 0 &&
	       sysroot_read(root, tracer, sizeof(tracer), "%s/current_tracer", tracefs) > 0 &&
	       !strcmp(tracer, "blk");
}

int traces_list(const struct sysroot *root, const struct kernel_ops *kernel, const char *debugfs,
		struct traces *ret, struct why *why)
{
	_cleanup_(traces_deinit) struct traces traces = {0};
	char path[PATH_MAX];
	bool to_ftrace;
	int r = list_by_sysfs(root, &traces);

	if (r < 0)
		return why_errno(why, r, "cannot look through /sys/block");
	r = debugfs_find(root, kernel, debugfs, path, sizeof(path), &traces.no_debugfs);
	if (r == 0)
		r = list_by_debugfs(root, path, &traces);
	if (r == -ENOMEM)
		return why_set(why, r, "out of memory");
	to_ftrace = tracer_is_blk(root);
	for (size_t i = 0; i < traces.n; i++)
		traces.items[i].to_ftrace = to_ftrace;
	r = trace_owners_find(root, &traces);
	if (r < 0)
		return why_errno(why, r, "cannot look through /proc");
	*ret = traces;
	traces.items = NULL;
	return 0;
}

void traces_deinit(struct traces *traces)
{
	free(traces->items);
	traces->items = NULL;
	traces->n = 0;
}

const struct running_trace *traces_find(const struct traces *traces, uint32_t disk)
{
	return find_disk((struct traces *)traces, disk);
}

void trace_describe_owner(const struct running_trace *trace, struct why *ret)
{
	if (trace->owner == TRACE_OWNER_ALIVE)
		why_set(ret, 0, "%s is being traced by %s (process %d)", trace->name,
			trace->process.name, (int)trace->process.pid);
	else if (trace->owner == TRACE_OWNER_UNKNOWN)
		why_set(ret, 0, "%s is being traced; by whom, only root can see ('blkbox status')",
			trace->name);
	else if (trace->has_channels)
		why_set(ret, 0,
			"%s is being traced, but nobody reads this trace: it was left behind; "
			"'blkbox stop %s' ends it",
			trace->name, trace->name);
	else
		why_set(ret, 0,
			"%s is being traced for ftrace (its file trace/enable in sysfs is 1); "
			"'blkbox stop %s' ends it",
			trace->name, trace->name);
}

static int check_owner(const struct running_trace *trace, struct why *why)
{
	if (trace->owner == TRACE_OWNER_ALIVE)
		return why_set(
			why, -EBUSY,
			"%s is being traced by %s, which is alive: 'kill -INT %d' ends it in "
			"good order; --force takes the trace away from it",
			trace->name, trace->process.name, (int)trace->process.pid);
	if (trace->owner == TRACE_OWNER_UNKNOWN)
		return why_set(why, -EBUSY,
			       "%s is being traced; whether its owner is alive, only root can see; "
			       "--force ends it all the same",
			       trace->name);
	return 0;
}

int trace_end(const struct sysroot *root, const struct kernel_ops *kernel,
	      const struct running_trace *trace, const struct block_device *device, bool force,
	      struct why *why)
{
	int r = force ? 0 : check_owner(trace, why), fd;

	if (r < 0)
		return r;
	fd = kernel->open(kernel->context, root->fd, device->path + 1, O_RDONLY | O_NONBLOCK);
	if (fd < 0)
		return why_errno(why, fd, "cannot open %s", device->path);
	/* -EINVAL: it does not run. Old kernels leak a trace that is torn down while it runs. */
	kernel->ioctl(kernel->context, fd, BT_IOC_STOP, NULL);
	r = kernel->ioctl(kernel->context, fd, BT_IOC_TEARDOWN, NULL);
	kernel->close(kernel->context, fd);
	if (r == -EINVAL)
		return why_set(why, -ENOENT, "%s has no trace", device->name);
	if (r < 0)
		return why_errno(why, r, "cannot end the trace of %s", device->name);
	state_clear(root, device->disk);
	return 0;
}
