/* SPDX-License-Identifier: MIT */
/*
 * How the relay source makes its traces.
 */
#include "relay_parts.h"

#include "blktrace.h"
#include "cleanup.h"
#include "mounts.h"
#include "preflight.h"

#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

int relay_open_at(const struct relay_source *relay, int dir_fd, const char *name, int flags)
{
	const struct kernel_ops *kernel = relay->source.kernel;

	return kernel->open(kernel->context, dir_fd, name, flags);
}

int relay_open_device(struct relay_source *relay, size_t i, struct why *why)
{
	const struct trace_source *source = &relay->source;
	const struct block_device *device = &source->devices[i];
	/* O_NONBLOCK: a drive without a medium must not make us wait. */
	int fd = source->kernel->open(source->kernel->context, source->root->fd,
				      device->path[0] == '/' ? device->path + 1 : device->path,
				      O_RDONLY | O_NONBLOCK);

	if (fd < 0)
		return why_errno(why, fd, "cannot open %s", device->path);
	relay->devices[i].fd = fd;
	return 0;
}

/*
 * Asks for protocol v2 without side effect: only a kernel that knows the call looks at the pointer.
 * A v1 trace on such a kernel would silently lack every FUA, write-zeroes and zone event.
 */
static bool has_v2(const struct trace_source *source, int fd)
{
	const struct kernel_ops *kernel = source->kernel;

	return kernel->ioctl(kernel->context, fd, BT_IOC_SETUP2, NULL) == -EFAULT;
}

static int setup_v1(const struct trace_source *source, int fd, char name[LOG_NAME_BYTES])
{
	struct bt_setup1 setup = {
		.act_mask = (uint16_t)source->options.mask,
		.buf_size = source->options.buffer_bytes,
		.buf_nr = source->options.buffer_count,
		.start_lba = source->options.first_sector,
		.end_lba = source->options.last_sector,
		.pid = source->options.pid,
	};
	int r = source->kernel->ioctl(source->kernel->context, fd, BT_IOC_SETUP, &setup);

	if (r < 0)
		return r;
	memcpy(name, setup.name, sizeof(setup.name));
	name[sizeof(setup.name) - 1] = '\0';
	return 0;
}

static int setup_v2(const struct trace_source *source, int fd, char name[LOG_NAME_BYTES])
{
	struct bt_setup2 setup = {
		.act_mask = source->options.mask,
		.buf_size = source->options.buffer_bytes,
		.buf_nr = source->options.buffer_count,
		.start_lba = source->options.first_sector,
		.end_lba = source->options.last_sector,
		.pid = source->options.pid,
	};
	int r = source->kernel->ioctl(source->kernel->context, fd, BT_IOC_SETUP2, &setup);

	if (r < 0)
		return r;
	memcpy(name, setup.name, sizeof(setup.name));
	name[sizeof(setup.name) - 1] = '\0';
	return 0;
}

/* Is there a trace of this queue, whoever made it? Unknown is taken for yes. */
static bool has_trace(const struct trace_source *source, const struct block_device *device)
{
	uint64_t enabled;
	int r = sysroot_read_u64(source->root, &enabled, "/sys/dev/block/%u:%u/trace/enable",
				 major(device->number), minor(device->number));

	return r < 0 || enabled;
}

static int setup_once(struct relay_source *relay, size_t i)
{
	struct trace_source *source = &relay->source;
	struct log_device *log = &source->log_devices[i];
	int fd = relay->devices[i].fd;
	bool v2 = has_v2(source, fd);
	int r;

	/* Should we be killed inside of the call, the guardian knows what to think of a trace. */
	if (!has_trace(source, &source->devices[i]))
		relay->shared[i].owner = RELAY_ABOUT_TO_BE;
	r = v2 ? setup_v2(source, fd, log->name) : setup_v1(source, fd, log->name);
	relay->shared[i].owner = r < 0 ? RELAY_NOT_OURS : RELAY_OURS;
	log->protocol = v2 ? 2 : 1;
	return r;
}

static int make_trace(struct relay_source *relay, size_t i, struct why *why)
{
	struct trace_source *source = &relay->source;
	unsigned protocol = has_v2(source, relay->devices[i].fd) ? 2 : 1;
	int r = preflight_check_mask(&source->options, protocol, why);

	if (r < 0)
		return r;
	r = setup_once(relay, i);
	if (r == -EIO || r == -ENOMEM) {
		/* Memory was short at this moment; the kernel may have freed some by now. */
		source->kernel->poll(source->kernel->context, NULL, 0, 200);
		r = setup_once(relay, i);
	}
	if (r < 0)
		return preflight_explain_setup(source->root, source->kernel, &source->devices[i],
					       &source->options, r, why);
	return 0;
}

/*
 * The kernel's name builds the path. Where it has a slash, 6.1 names the directory as sysfs does,
 * with '!', so that one is tried too.
 */
static int open_directory(struct relay_source *relay, size_t i, struct why *why)
{
	const struct trace_source *source = &relay->source;
	const char *debugfs = relay->debugfs;
	char in_sysfs[DEVICE_NAME_BYTES];
	const char *names[] = {source->log_devices[i].name, in_sysfs};
	struct stat st;
	int fd = -ENOENT;

	snprintf(in_sysfs, sizeof(in_sysfs), "%s", source->devices[i].name);
	for (char *slash = in_sysfs; (slash = strchr(slash, '/'));)
		*slash = '!';
	for (size_t n = 0; fd == -ENOENT && n < 2; n++) {
		_cleanup_free_ char *path = NULL;

		if (asprintf(&path, "%s/block/%s", debugfs + 1, names[n]) < 0)
			return -ENOMEM;
		fd = relay_open_at(relay, source->root->fd, path, O_RDONLY | O_DIRECTORY);
	}
	if (fd < 0)
		return why_errno(why, fd, "cannot open the trace directory %s/block/%s", debugfs,
				 names[0]);
	relay->devices[i].dir_fd = fd;
	fd = relay_open_at(relay, fd, "dropped", O_RDONLY);
	if (fd < 0)
		return why_errno(why, fd, "cannot open %s/block/%s/dropped", debugfs, names[0]);
	relay->devices[i].dropped_fd = fd;
	if (fstat(fd, &st) == 0)
		relay->shared[i].inode = st.st_ino;
	return 0;
}

int relay_setup_device(struct relay_source *relay, size_t i, struct why *why)
{
	int r = make_trace(relay, i, why);

	return r < 0 ? r : open_directory(relay, i, why);
}

void relay_watch_others(struct relay_source *relay)
{
	static const char *const tracer[] = {"current_tracer", NULL};
	struct trace_source *source = &relay->source;
	char tracefs[PATH_MAX];
	/* Whoever ends the trace itself is seen by its files. */
	int r = trace_source_watch_devices(source, false);

	/* A tracer that is on for a moment takes all events of that moment. */
	if (r == 0 && tracefs_find(source->root, tracefs, sizeof(tracefs), NULL) >= 0)
		r = foreign_writes_watch(&relay->tracer, source->root, tracer, "%s", tracefs);
	if (r < 0)
		why_errno(&source->notice, r, FOREIGN_WRITES_UNSEEN);
}
