/* SPDX-License-Identifier: MIT */
/*
 * The kernel's relay channels: one file for each device and CPU, in debugfs.
 */
#include "relay_parts.h"

#include "blktrace.h"
#include "cleanup.h"
#include "clock.h"
#include "locked.h"
#include "preflight.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/membarrier.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>

static struct relay_source *to_relay(struct trace_source *source)
{
	return (struct relay_source *)source;
}

static int relay_teardown(struct trace_source *source, struct why *why);

static int open_devices(struct relay_source *relay, struct why *why)
{
	size_t n = relay->source.n_devices;
	int r = 0;

	relay->devices = calloc(n, sizeof(*relay->devices));
	if (!relay->devices)
		return why_errno(why, -ENOMEM, "cannot start a recording");
	for (size_t i = 0; i < n; i++)
		relay->devices[i] = (struct relay_device){.fd = -1, .dir_fd = -1, .dropped_fd = -1};
	for (size_t i = 0; r >= 0 && i < n; i++)
		r = relay_open_device(relay, i, why);
	return r;
}

/* All nodes are opened, and the guardian is there, before the first trace is made. */
static int relay_setup(struct trace_source *source, struct why *why)
{
	struct relay_source *relay = to_relay(source);
	int r = preflight_relay(source->root, source->kernel, source->options.debugfs,
				relay->debugfs, sizeof(relay->debugfs), why);

	if (r >= 0)
		r = open_devices(relay, why);
	if (r >= 0)
		r = relay_share_with_guardian(relay, why);
	if (r >= 0)
		r = relay_start_guardian(relay, why);
	if (r >= 0 && source->guarded)
		source->guarded(source->guarded_context);
	for (size_t i = 0; r >= 0 && i < source->n_devices; i++)
		r = relay_setup_device(relay, i, why);
	if (r < 0) {
		relay_teardown(source, NULL);
		return r;
	}
	source->ops->sample_drops(source, false); /* the base line */
	return 0;
}

/* -EIO: our trace is gone. */
static int read_dropped(const struct relay_source *relay, size_t i, uint64_t *ret)
{
	const struct kernel_ops *kernel = relay->source.kernel;
	char text[32];
	char *end;
	ssize_t n = kernel->pread(kernel->context, relay->devices[i].dropped_fd, text,
				  sizeof(text) - 1, 0);

	if (n < 0)
		return (int)n;
	text[n] = '\0';
	errno = 0;
	*ret = strtoull(text, &end, 10);
	return errno || end == text ? -EINVAL : 0;
}

/* Forgets a trace that is gone: what is there by now belongs to somebody else. */
static bool is_gone(const struct relay_source *relay, size_t i)
{
	uint64_t value;

	return read_dropped(relay, i, &value) == -EIO;
}

static bool still_ours(struct relay_source *relay, size_t i)
{
	if (relay->shared[i].owner == RELAY_OURS && is_gone(relay, i)) {
		relay->shared[i].owner = RELAY_NOT_OURS;
		relay->devices[i].started = false;
	}
	return relay->shared[i].owner == RELAY_OURS;
}

static bool knows_cpu(const struct relay_device *device, uint32_t cpu)
{
	for (size_t i = 0; i < device->n_cpus; i++) {
		if (device->cpus[i] == cpu)
			return true;
	}
	return false;
}

/* "trace12" -> 12; false for every other file of the directory. */
static bool parse_trace_name(const char *name, uint32_t *ret)
{
	char *end;
	unsigned long cpu;

	if (strncmp(name, "trace", 5) != 0 || name[5] < '0' || name[5] > '9')
		return false;
	errno = 0;
	cpu = strtoul(name + 5, &end, 10);
	if (errno || *end || cpu >= LOG_NO_CPU)
		return false;
	*ret = (uint32_t)cpu;
	return true;
}

static int add_channel(struct relay_source *relay, size_t i, uint32_t cpu, source_channel_fn *fn,
		       void *context, struct why *why)
{
	struct trace_source *source = &relay->source;
	struct relay_device *device = &relay->devices[i];
	struct log_channel id = {
		.device_index = (uint32_t)i,
		.cpu = cpu,
		.kind = LOG_RELAY_RECORDS,
	};
	char name[32];
	uint32_t *cpus;
	int fd, r;

	cpus = reallocarray(device->cpus, device->n_cpus + 1, sizeof(*cpus));
	if (!cpus)
		return -ENOMEM;
	device->cpus = cpus;
	snprintf(name, sizeof(name), "trace%u", cpu);
	fd = relay_open_at(relay, device->dir_fd, name, O_RDONLY | O_NONBLOCK);
	if (fd < 0)
		return preflight_explain_open(source->root, source->log_devices[i].name, name, fd,
					      why);
	r = fn(context, &id, fd);
	if (r >= 0)
		cpus[device->n_cpus++] = cpu;
	return r;
}

/* The kernel makes a file for each CPU that is, or comes, online; the numbers may have holes. */
static int find_device_channels(struct relay_source *relay, size_t i, source_channel_fn *fn,
				void *context, struct why *why)
{
	struct relay_device *device = &relay->devices[i];
	_cleanup_closedir_ DIR *dir = NULL;
	struct dirent *entry;
	int fd = openat(device->dir_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd >= 0)
		dir = fdopendir(fd);
	if (!dir) {
		int r = -errno;

		close_keep_errno(fd);
		return why_errno(why, r, "cannot list the trace files of %s",
				 relay->source.log_devices[i].name);
	}
	while ((entry = readdir(dir))) {
		uint32_t cpu;
		int r;

		if (!parse_trace_name(entry->d_name, &cpu) || knows_cpu(device, cpu))
			continue;
		r = add_channel(relay, i, cpu, fn, context, why);
		if (r < 0)
			return r;
	}
	return 0;
}

static int relay_find_channels(struct trace_source *source, source_channel_fn *fn, void *context,
			       struct why *why)
{
	struct relay_source *relay = to_relay(source);
	LOCKED(&relay->lock);

	for (size_t i = 0; i < source->n_devices; i++) {
		int r;

		/* Only check() and stop() forget a trace: they tell of it. */
		if (relay->shared[i].owner != RELAY_OURS || is_gone(relay, i))
			continue;
		r = find_device_channels(relay, i, fn, context, why);
		if (r < 0)
			return r;
		if (!relay->devices[i].n_cpus)
			return why_set(why, -ENOENT,
				       "the kernel made no trace files for %s in debugfs",
				       source->log_devices[i].name);
	}
	return 0;
}

static int relay_start(struct trace_source *source, struct why *why)
{
	struct relay_source *relay = to_relay(source);
	LOCKED(&relay->lock);
	int r;

	relay_watch_others(relay);
	r = preflight_tracer_conflict(source->root, why);
	if (r < 0)
		return r;

	for (size_t i = 0; i < source->n_devices; i++) {
		r = source->kernel->ioctl(source->kernel->context, relay->devices[i].fd,
					  BT_IOC_START, NULL);
		if (r < 0)
			return why_errno(why, r, "cannot start the trace of %s",
					 source->log_devices[i].name);
		relay->devices[i].started = true;
	}
	return 0;
}

static ssize_t relay_read(struct trace_source *source, struct channel *channel, void *room,
			  size_t size, enum read_mode mode)
{
	const struct kernel_ops *kernel = source->kernel;
	ssize_t n;

	if (mode == READ_FINISHED) {
		uint64_t finished;
		int r = kernel->stat_size(kernel->context, channel->fd, &finished);

		if (r < 0)
			return r;
		/*
		 * st_size counts the bytes of finished sub-buffers. What lies behind may still be
		 * half written, or old bytes that look like a record.
		 */
		if (finished <= channel->bytes_read)
			return 0;
		if (finished - channel->bytes_read < size)
			size = (size_t)(finished - channel->bytes_read);
	}
	n = kernel->read(kernel->context, channel->fd, room, size);
	if (n > 0)
		channel->bytes_read += (uint64_t)n;
	return n == -EAGAIN ? 0 : n;
}

static void look_at_drops(struct relay_source *relay, size_t i, bool cpu_came, uint64_t noise_max)
{
	uint64_t value;

	if (read_dropped(relay, i, &value) < 0)
		return; /* check() tells of a trace that is gone */
	/* -ENOMEM: the tracker keeps its last value, so that the next look catches up. */
	drop_tracker_look(&relay->source.drops, (uint32_t)i, LOG_NO_CPU, value, clock_mono_ns(),
			  cpu_came, noise_max);
}

static void relay_sample_drops(struct trace_source *source, bool at_stop)
{
	struct relay_source *relay = to_relay(source);
	LOCKED(&relay->lock);
	long online = sysconf(_SC_NPROCESSORS_ONLN);
	/* A CPU that comes back brings its share of the counter along (6.17 and later). */
	bool cpu_came = online > 0 && (size_t)online > relay->online_cpus;

	for (size_t i = 0; i < source->n_devices; i++)
		look_at_drops(relay, i, cpu_came, at_stop ? relay->devices[i].n_cpus : 0);
	relay->online_cpus = online > 0 ? (size_t)online : 0;
}

/* A disk that is being removed has no size any more, then no entry. */
static bool was_removed(const struct sysroot *root, const struct block_device *device)
{
	unsigned dev_major = major(device->number), dev_minor = minor(device->number);
	uint64_t sectors;

	return !sysroot_exists(root, "/sys/dev/block/%u:%u", dev_major, dev_minor) ||
	       (sysroot_read_u64(root, &sectors, "/sys/dev/block/%u:%u/size", dev_major,
				 dev_minor) >= 0 &&
		!sectors);
}

/* Other tracers leave relay channels alone: that one was set is told, but ends nothing. */
static int look_at_writes(struct relay_source *relay, struct why *why)
{
	int r = foreign_writes_look(&relay->source.foreign, NULL, why);

	if (r == 0 && foreign_writes_look(&relay->tracer, NULL, NULL) < 0)
		return why_set(
			why, -ESTALE,
			"somebody set ftrace's tracer while we recorded: if it was blk for a "
			"moment, events are missing");
	return r;
}

static int relay_check(struct trace_source *source, struct why *why)
{
	struct relay_source *relay = to_relay(source);
	LOCKED(&relay->lock);
	int r = preflight_tracer_conflict(source->root, why);

	relay_keep_guarded(relay);
	if (r < 0)
		return r;
	for (size_t i = 0; i < source->n_devices; i++) {
		const struct block_device *device = &source->devices[i];

		if (relay->shared[i].owner != RELAY_OURS || still_ours(relay, i))
			continue;
		if (was_removed(source->root, device))
			return why_set(why, -ENODEV, "%s was removed while it was recorded",
				       source->log_devices[i].name);
		return why_set(why, -EBUSY,
			       "somebody else ended the trace of %s while it was recorded",
			       source->log_devices[i].name);
	}
	return look_at_writes(relay, why);
}

/* STOP has finished all sub-buffers: the file's size then counts every byte. */
static int relay_produced(struct trace_source *source, struct channel *channel, uint64_t *ret)
{
	return source->kernel->stat_size(source->kernel->context, channel->fd, ret);
}

static int relay_stop(struct trace_source *source, struct why *why)
{
	struct relay_source *relay = to_relay(source);
	LOCKED(&relay->lock);
	int result = look_at_writes(relay, why) < 0 ? SOURCE_DISTURBED : 0;

	for (size_t i = 0; i < source->n_devices; i++) {
		struct relay_device *device = &relay->devices[i];
		int r = -EINVAL;

		if (!device->started)
			continue;
		if (still_ours(relay, i)) {
			/* As late as can be: what is counted after this is mostly STOP's noise. */
			look_at_drops(relay, i, false, 0);
			r = source->kernel->ioctl(source->kernel->context, device->fd, BT_IOC_STOP,
						  NULL);
		}
		device->started = false;
		if (r == -EINVAL && !result)
			result = why_set(why,
					 was_removed(source->root, &source->devices[i])
						 ? SOURCE_ENDED
						 : SOURCE_DISTURBED,
					 "the trace of %s had already been ended",
					 source->log_devices[i].name);
		else if (r < 0 && r != -EINVAL)
			return why_errno(why, r, "cannot stop the trace of %s",
					 source->log_devices[i].name);
	}
	/*
	 * STOP does not wait for CPUs that are inside the log function just now. This waits until
	 * every CPU has passed a point where it cannot be. No harm where it is not supported.
	 */
	syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0);
	return result;
}

static uint64_t relay_trace_inode(struct trace_source *source, size_t i)
{
	struct relay_source *relay = to_relay(source);

	return relay->shared ? relay->shared[i].inode : 0;
}

static int relay_teardown(struct trace_source *source, struct why *why)
{
	struct relay_source *relay = to_relay(source);
	LOCKED(&relay->lock);
	int result = 0;

	for (size_t i = 0; relay->shared && i < source->n_devices; i++) {
		struct relay_device *device = &relay->devices[i];
		int r;

		if (!still_ours(relay, i))
			continue;
		/* Old kernels leak a trace that is torn down while it runs. */
		if (device->started)
			source->kernel->ioctl(source->kernel->context, device->fd, BT_IOC_STOP,
					      NULL);
		r = source->kernel->ioctl(source->kernel->context, device->fd, BT_IOC_TEARDOWN,
					  NULL);
		relay->shared[i].owner = RELAY_NOT_OURS;
		device->started = false;
		/* EINVAL: it is gone already, with its device or by somebody else's hand. */
		if (r < 0 && r != -EINVAL)
			result = why_errno(why, r, "cannot tear the trace of %s down",
					   source->log_devices[i].name);
	}
	if (source->unguarding)
		source->unguarding(source->guarded_context);
	guardian_release(&source->guardian);
	return result;
}

static void relay_destroy(struct trace_source *source)
{
	struct relay_source *relay = to_relay(source);

	relay_teardown(source, NULL);
	for (size_t i = 0; relay->devices && i < source->n_devices; i++) {
		close_keep_errno(relay->devices[i].fd);
		close_keep_errno(relay->devices[i].dir_fd);
		close_keep_errno(relay->devices[i].dropped_fd);
		free(relay->devices[i].cpus);
	}
	free(relay->devices);
	if (relay->shared)
		munmap(relay->shared, source->n_devices * sizeof(*relay->shared));
	foreign_writes_deinit(&source->foreign);
	foreign_writes_deinit(&relay->tracer);
	pthread_mutex_destroy(&relay->lock);
	free(relay);
}

static const struct trace_source_ops relay_ops = {
	.name = "relay",
	.read_unit = 1,
	.setup = relay_setup,
	.find_channels = relay_find_channels,
	.start = relay_start,
	.read = relay_read,
	.sample_drops = relay_sample_drops,
	.check = relay_check,
	.stop = relay_stop,
	.produced = relay_produced,
	.trace_inode = relay_trace_inode,
	.teardown = relay_teardown,
	.destroy = relay_destroy,
};

int relay_source_create(struct trace_source **ret)
{
	struct relay_source *relay = calloc(1, sizeof(*relay));

	if (!relay)
		return -ENOMEM;
	relay->source.ops = &relay_ops;
	foreign_writes_init(&relay->source.foreign);
	foreign_writes_init(&relay->tracer);
	relay->source.guardian.fd = -1;
	pthread_mutex_init(&relay->lock, NULL);
	*ret = &relay->source;
	return 0;
}
