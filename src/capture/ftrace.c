/* SPDX-License-Identifier: MIT */
/*
 * The kernel's ftrace buffer, for machines that refuse relay channels: one buffer for each CPU,
 * with the events of all devices, read page by page.
 */
#include "ftrace_parts.h"

#include "cleanup.h"
#include "clock.h"
#include "cpus.h"
#include "locked.h"

#include <fcntl.h>
#include <string.h>
#include <sys/sysmacros.h>

static struct ftrace_source *to_ftrace(struct trace_source *source)
{
	return (struct ftrace_source *)source;
}

static int ftrace_teardown(struct trace_source *source, struct why *why);

static int make_room(struct ftrace_source *ftrace)
{
	_cleanup_(cpus_deinit) struct cpus possible = {0};
	int r = cpus_possible(ftrace->source.root, &possible);

	if (r < 0)
		return r;
	ftrace->cpus_room = possible.n ? possible.numbers[possible.n - 1] + 1 : 0;
	ftrace->cpus = calloc(ftrace->cpus_room + 1, sizeof(*ftrace->cpus));
	ftrace->enabled = calloc(ftrace->source.n_devices, sizeof(*ftrace->enabled));
	return ftrace->cpus && ftrace->enabled ? 0 : -ENOMEM;
}

static void look_at_losses(struct ftrace_source *ftrace, unsigned cpu)
{
	struct ftrace_stats stats;

	if (ftrace_cpu_stats(ftrace, cpu, &stats) < 0)
		return;
	/* -ENOMEM: the tracker keeps its last value, so that the next look catches up. */
	drop_tracker_look(&ftrace->source.drops, LOG_NO_CHANNEL, cpu, stats.lost, clock_mono_ns(),
			  false, 0);
}

/*
 * The base lines of the losses, before a CPU can have any: one that comes online later has lost
 * events already when it is found. The kernel resets the counters only of those that are online.
 */
static int note_base_lines(struct ftrace_source *ftrace, struct why *why)
{
	int r = 0;

	for (unsigned cpu = 0; r >= 0 && cpu < ftrace->cpus_room; cpu++) {
		struct ftrace_stats stats = {0};

		/* On failure it is not there yet, and has lost nothing. */
		ftrace_cpu_stats(ftrace, cpu, &stats);
		r = drop_tracker_look(&ftrace->source.drops, LOG_NO_CHANNEL, cpu, stats.lost,
				      clock_mono_ns(), false, 0);
	}
	return r < 0 ? why_errno(why, r, "cannot start a recording") : 0;
}

static int ftrace_setup(struct trace_source *source, struct why *why)
{
	struct ftrace_source *ftrace = to_ftrace(source);
	int r = make_room(ftrace);

	if (r < 0)
		return why_errno(why, r, "cannot start a recording");
	r = ftrace_prepare(ftrace, why);
	if (r >= 0)
		r = note_base_lines(ftrace, why);
	if (r < 0) {
		ftrace_teardown(source, NULL);
		return r;
	}
	ftrace->ops.read_unit = ftrace_page_bytes(&ftrace->facts.layout);
	return 0;
}

static int add_channel(struct ftrace_source *ftrace, unsigned cpu, source_channel_fn *fn,
		       void *context, struct why *why)
{
	const struct kernel_ops *kernel = ftrace->source.kernel;
	struct log_channel id = {
		.device_index = LOG_NO_CHANNEL,
		.cpu = cpu,
		.kind = LOG_FTRACE_PAGES,
	};
	char path[PATH_MAX + 64];
	int fd, r;

	snprintf(path, sizeof(path), "%s/per_cpu/cpu%u/trace_pipe_raw", ftrace->state.tracefs + 1,
		 cpu);
	fd = kernel->open(kernel->context, ftrace->source.root->fd, path, O_RDONLY | O_NONBLOCK);
	if (fd < 0)
		return why_errno(why, fd, "cannot open /%s", path);
	pthread_mutex_lock(&ftrace->lock);
	r = ftrace_cpu_create(cpu, ftrace->source.n_devices, &ftrace->cpus[cpu]);
	if (r >= 0)
		look_at_losses(ftrace, cpu);
	pthread_mutex_unlock(&ftrace->lock);
	if (r < 0) {
		close_keep_errno(fd);
		return r;
	}
	return fn(context, &id, fd);
}

static int ftrace_find_channels(struct trace_source *source, source_channel_fn *fn, void *context,
				struct why *why)
{
	struct ftrace_source *ftrace = to_ftrace(source);
	_cleanup_(cpus_deinit) struct cpus online = {0};
	int r = cpus_online(source->root, &online);

	if (r < 0)
		return why_errno(why, r, "cannot find out which CPUs are online");
	for (size_t i = 0; r >= 0 && i < online.n; i++) {
		unsigned cpu = online.numbers[i];

		if (cpu < ftrace->cpus_room && !ftrace->cpus[cpu])
			r = add_channel(ftrace, cpu, fn, context, why);
	}
	return r;
}

static int ftrace_start(struct trace_source *source, struct why *why)
{
	struct ftrace_source *ftrace = to_ftrace(source);
	LOCKED(&ftrace->lock);
	int r = 0;

	for (size_t i = 0; r >= 0 && i < source->n_devices; i++)
		r = ftrace_enable_device(ftrace, i, why);
	if (r < 0)
		return r;
	/* Our own writes are over, but for the next one. */
	ftrace_watch_others(ftrace);
	r = tracing_state_set(source->root, &ftrace->state, "tracing_on", "1");
	if (r < 0)
		return why_errno(why, r, "cannot switch %s/tracing_on on", ftrace->state.tracefs);
	r = foreign_writes_look(&source->foreign, "tracing_on", why);
	atomic_store(&ftrace->recording, r == 0);
	return r;
}

/*
 * A page that is still being written is handed out too, and the next read gets one event more in a
 * page of its own. So a pass ends with the page whose start is younger than the pass: all that is
 * older has been read then.
 */
static bool caught_up(const struct ftrace_cpu *cpu, const struct channel *channel)
{
	return atomic_load_explicit(&cpu->newest_ns, memory_order_relaxed) > channel->pass_ns;
}

static ssize_t ftrace_read(struct trace_source *source, struct channel *channel, void *room,
			   size_t size, enum read_mode mode)
{
	struct ftrace_source *ftrace = to_ftrace(source);
	const struct kernel_ops *kernel = source->kernel;
	struct ftrace_cpu *cpu = ftrace->cpus[channel->id.cpu];
	size_t page = ftrace->ops.read_unit;
	ssize_t n;

	(void)size; /* at least a page */
	if (mode != READ_REST && caught_up(cpu, channel))
		return 0;
	n = kernel->read(kernel->context, channel->fd, room, page);
	if (n == -EAGAIN)
		return atomic_load_explicit(&ftrace->all_gone, memory_order_relaxed) ? -ENODEV : 0;
	if (n <= 0)
		return n;
	if ((size_t)n != page)
		return -EIO;
	channel->bytes_read += (uint64_t)n;
	ftrace_cpu_count(ftrace, cpu, room);
	return n;
}

static void ftrace_sample_drops(struct trace_source *source, bool at_stop)
{
	struct ftrace_source *ftrace = to_ftrace(source);

	/* Stopping counts nothing of its own here: what was lost was lost. */
	(void)at_stop;
	pthread_mutex_lock(&ftrace->lock);
	for (unsigned cpu = 0; cpu < ftrace->cpus_room; cpu++) {
		if (ftrace->cpus[cpu])
			look_at_losses(ftrace, cpu);
	}
	pthread_mutex_unlock(&ftrace->lock);
}

static bool has_value(const struct ftrace_source *ftrace, const char *file, const char *value)
{
	char text[256];

	/* What cannot be read is not known to be wrong. */
	return sysroot_read(ftrace->source.root, text, sizeof(text), "%s/%s", ftrace->state.tracefs,
			    file) < 0 ||
	       strstr(text, value);
}

static int check_buffer(const struct ftrace_source *ftrace, struct why *why)
{
	static const struct {
		const char *file, *value;
	} ours[] = {{"current_tracer", "blk"}, {"trace_clock", "[mono]"}, {"tracing_on", "1"}};

	for (size_t i = 0; i < sizeof(ours) / sizeof(ours[0]); i++) {
		if (!has_value(ftrace, ours[i].file, ours[i].value))
			return why_set(why, -EBUSY,
				       "somebody else changed %s in %s while we recorded from it",
				       ours[i].file, ftrace->state.tracefs);
	}
	return 0;
}

/* Whatever has its number later is not ours to end. The caller's thread may be storing, too. */
static void drop_device(struct ftrace_source *ftrace, uint32_t device)
{
	LOCKED(&ftrace->lock);

	tracing_state_drop_device(ftrace->source.root, &ftrace->state, device);
}

/* Told once for each device. */
static int check_device(struct ftrace_source *ftrace, size_t i, struct why *why)
{
	const struct block_device *device = &ftrace->source.devices[i];
	uint64_t enabled = 0;
	int r = sysroot_read_u64(ftrace->source.root, &enabled, "/sys/dev/block/%u:%u/trace/enable",
				 major(device->number), minor(device->number));

	/* What cannot be read is not known to be gone. */
	if (r >= 0 ? enabled : r != -ENOENT && r != -ENODEV && r != -ENXIO)
		return 0;
	ftrace->enabled[i] = false;
	drop_device(ftrace, device->device);
	if (r == 0)
		return why_set(why, -EBUSY,
			       "somebody else ended the trace of %s while it was recorded",
			       device->name);
	return why_set(why, -ENODEV, "%s was removed while it was recorded", device->name);
}

static int look_around(struct ftrace_source *ftrace, struct why *why)
{
	const struct trace_source *source = &ftrace->source;
	bool any = false;
	int r = check_buffer(ftrace, why);

	for (size_t i = 0; r == 0 && i < source->n_devices; i++) {
		if (ftrace->enabled[i])
			r = check_device(ftrace, i, why);
	}
	for (size_t i = 0; i < source->n_devices; i++)
		any |= ftrace->enabled[i];
	if (!any)
		atomic_store_explicit(&ftrace->all_gone, true, memory_order_relaxed);
	return r;
}

static int ftrace_check(struct trace_source *source, struct why *why)
{
	struct ftrace_source *ftrace = to_ftrace(source);
	struct why found = {""};
	int r = atomic_load(&ftrace->recording) ? look_around(ftrace, &found) : 0;
	LOCKED(&ftrace->lock);

	ftrace_keep_guarded(ftrace);
	/* Asked once more: what we saw may be our own start or stop, which another thread does. */
	if (!atomic_load(&ftrace->recording))
		return 0;
	if (r == 0)
		r = foreign_writes_look(&source->foreign, NULL, &found);
	return r < 0 ? why_set(why, r, "%s", found.text) : 0;
}

static int ftrace_stop(struct trace_source *source, struct why *why)
{
	struct ftrace_source *ftrace = to_ftrace(source);
	struct why found = {""};
	bool foreign = check_buffer(ftrace, &found) < 0;
	int r;

	/* As late as can be: the collector looks twice a second. */
	for (size_t i = 0; !foreign && i < source->n_devices; i++)
		foreign = ftrace->enabled[i] && check_device(ftrace, i, &found) == -EBUSY;
	pthread_mutex_lock(&ftrace->lock);
	atomic_store(&ftrace->recording, false);
	r = tracing_state_set(source->root, &ftrace->state, "tracing_on", "0");
	if (!foreign)
		foreign = foreign_writes_look(&source->foreign, "tracing_on", &found) < 0;
	pthread_mutex_unlock(&ftrace->lock);
	for (size_t i = 0; i < source->n_devices; i++) {
		const struct block_device *device = &source->devices[i];

		if (ftrace->enabled[i])
			sysroot_write(source->root, "0", "/sys/dev/block/%u:%u/trace/enable",
				      major(device->number), minor(device->number));
		ftrace->enabled[i] = false;
	}
	if (r < 0)
		return why_errno(why, r, "cannot switch %s/tracing_on off", ftrace->state.tracefs);
	return foreign ? why_set(why, SOURCE_DISTURBED, "%s", found.text) : 0;
}

/* Every entry that the kernel counts has been read, and nobody else has read one. */
static int ftrace_audit(struct trace_source *source, struct why *why)
{
	struct ftrace_source *ftrace = to_ftrace(source);

	for (unsigned cpu = 0; cpu < ftrace->cpus_room; cpu++) {
		struct ftrace_stats stats;
		uint64_t entries;

		if (!ftrace->cpus[cpu] || ftrace_cpu_stats(ftrace, cpu, &stats) < 0)
			continue;
		entries = ftrace->cpus[cpu]->entries;
		if (stats.unread || stats.read != entries)
			return why_set(why, -EBADMSG,
				       "CPU %u: the kernel counts %llu entries that were read from "
				       "its buffer and %llu that were not, but we read %llu: "
				       "somebody else read or emptied it",
				       cpu, (unsigned long long)stats.read,
				       (unsigned long long)stats.unread,
				       (unsigned long long)entries);
	}
	return 0;
}

static ssize_t ftrace_collect_names(struct trace_source *source, bool at_end, struct log_name **ret)
{
	struct ftrace_source *ftrace = to_ftrace(source);
	int r = atomic_load_explicit(&ftrace->note_failure, memory_order_relaxed);

	return r < 0 ? r
		     : name_book_collect(&ftrace->names, source->root, ftrace->state.tracefs,
					 clock_mono_ns(), at_end, ret);
}

static void ftrace_count(struct trace_source *source, uint32_t cpu, uint32_t device,
			 struct log_total *ret)
{
	struct ftrace_source *ftrace = to_ftrace(source);
	const struct ftrace_device_count *count;

	*ret = (struct log_total){0};
	if (cpu >= ftrace->cpus_room || !ftrace->cpus[cpu])
		return;
	count = &ftrace->cpus[cpu]->counts[device];
	ret->events = count->events;
	ret->notes = count->notes;
	ret->bytes = count->bytes;
}

static void ftrace_uncount(struct trace_source *source, uint32_t cpu, const uint8_t *bytes,
			   size_t size)
{
	struct ftrace_source *ftrace = to_ftrace(source);
	size_t page = ftrace->ops.read_unit;

	for (size_t at = 0; at + page <= size; at += page)
		ftrace_cpu_uncount(ftrace, ftrace->cpus[cpu], bytes + at);
}

/* As the kernel counts them; a reader of the log will count once more. */
static void add_entries(const struct ftrace_source *ftrace, FILE *out)
{
	uint64_t entries = 0;

	for (unsigned cpu = 0; cpu < ftrace->cpus_room; cpu++) {
		struct ftrace_stats stats;

		if (ftrace->cpus[cpu] && ftrace_cpu_stats(ftrace, cpu, &stats) == 0)
			entries += stats.read;
	}
	fprintf(out, FTRACE_META_ENTRIES "=%llu%c", (unsigned long long)entries, '\0');
}

static void ftrace_add_meta(struct trace_source *source, FILE *out, bool at_end)
{
	const struct ftrace_source *ftrace = to_ftrace(source);
	const struct ftrace_facts *facts = &ftrace->facts;
	const struct {
		const char *key;
		uint32_t value;
	} keys[] = {
		{FTRACE_META_DATA_OFFSET, facts->layout.data_offset},
		{FTRACE_META_DATA_BYTES, facts->layout.data_bytes},
		{FTRACE_META_COMMIT_OFFSET, facts->layout.commit_offset},
		{FTRACE_META_TYPE_ID, facts->type_id},
		{FTRACE_META_PROTOCOL, facts->protocol},
	};

	if (at_end) {
		add_entries(ftrace, out);
		return;
	}
	fprintf(out, "trace_clock=mono%c", '\0');
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		fprintf(out, "%s=%u%c", keys[i].key, keys[i].value, '\0');
}

static int ftrace_teardown(struct trace_source *source, struct why *why)
{
	struct ftrace_source *ftrace = to_ftrace(source);
	struct why reason = {""};
	int r;

	if (!ftrace->saved)
		return 0;
	r = tracing_state_restore(source->root, &ftrace->state, &reason);
	if (r >= 0 && source->unguarding)
		source->unguarding(source->guarded_context);
	if (r >= 0)
		guardian_release(&source->guardian);
	/* On failure it is tried once more by the destructor, then by the guardian. */
	ftrace->saved = r < 0;
	if (r < 0 && r != -EBUSY)
		return why_set(why, r, "%s", reason.text);
	return r < 0 ? why_set(why, r,
			       "%s; ftrace's state is put back when that is over, or by 'blkbox "
			       "stop'",
			       reason.text)
		     : 0;
}

static void ftrace_destroy(struct trace_source *source)
{
	struct ftrace_source *ftrace = to_ftrace(source);

	ftrace_teardown(source, NULL);
	guardian_leave(&source->guardian);
	for (size_t i = 0; ftrace->cpus && i < ftrace->cpus_room; i++)
		ftrace_cpu_destroy(ftrace->cpus[i]);
	free(ftrace->cpus);
	free(ftrace->enabled);
	tracing_state_deinit(&ftrace->state);
	name_book_deinit(&ftrace->names);
	foreign_writes_deinit(&source->foreign);
	pthread_mutex_destroy(&ftrace->lock);
	free(ftrace);
}

static const struct trace_source_ops ftrace_ops = {
	.name = "ftrace",
	.any_cpu = true,
	.setup = ftrace_setup,
	.find_channels = ftrace_find_channels,
	.start = ftrace_start,
	.read = ftrace_read,
	.sample_drops = ftrace_sample_drops,
	.check = ftrace_check,
	.stop = ftrace_stop,
	.audit = ftrace_audit,
	.collect_names = ftrace_collect_names,
	.count = ftrace_count,
	.uncount = ftrace_uncount,
	.add_meta = ftrace_add_meta,
	.teardown = ftrace_teardown,
	.destroy = ftrace_destroy,
};

int ftrace_source_create(struct trace_source **ret)
{
	struct ftrace_source *ftrace = calloc(1, sizeof(*ftrace));
	int r;

	if (!ftrace)
		return -ENOMEM;
	r = name_book_init(&ftrace->names);
	if (r < 0) {
		free(ftrace);
		return r;
	}
	ftrace->source.guardian.fd = -1;
	ftrace->lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
	ftrace->ops = ftrace_ops;
	ftrace->source.ops = &ftrace->ops;
	foreign_writes_init(&ftrace->source.foreign);
	*ret = &ftrace->source;
	return 0;
}
