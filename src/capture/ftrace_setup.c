/* SPDX-License-Identifier: MIT */
/*
 * How the ftrace source makes the machine's trace buffer its own.
 */
#include "ftrace_parts.h"

#include "blktrace.h"
#include "cleanup.h"
#include "leftover.h"
#include "mounts.h"
#include "number.h"
#include "preflight.h"
#include "state.h"
#include "tracing_users.h"

#include <fcntl.h>
#include <string.h>
#include <sys/sysmacros.h>

enum {
	CMDLINES_MIN = 4096, /* names that the kernel should remember */
	CMDLINES_WANTED = 8192,
};

static int read_facts(struct ftrace_source *ftrace, const char *tracefs, struct why *why)
{
	const struct sysroot *root = ftrace->source.root;
	char page[1024], entry[1024], format[4096];
	const char *id;
	unsigned long type;
	int r = sysroot_read(root, page, sizeof(page), "%s/events/header_page", tracefs);

	if (r >= 0)
		r = sysroot_read(root, entry, sizeof(entry), "%s/events/header_event", tracefs);
	if (r >= 0)
		r = sysroot_read(root, format, sizeof(format), "%s/events/ftrace/user_stack/format",
				 tracefs);
	if (r < 0)
		return why_errno(why, r, "cannot read how %s lays its buffer out", tracefs);
	/* The blk tracer's entries have no format file; their number follows this one. */
	id = strstr(format, "ID: ");
	type = id ? strtoul(id + strlen("ID: "), NULL, 10) : 0;
	if (ftrace_page_layout_parse(page, &ftrace->facts.layout) < 0 ||
	    ftrace_page_check_entries(entry) < 0 || !type || type >= UINT16_MAX)
		return why_set(why, -ENOTSUP,
			       "the kernel lays its trace buffer out in a way that this version of "
			       "blkbox does not know (events/header_page, header_event and "
			       "ftrace/user_stack/format in %s)",
			       tracefs);
	ftrace->facts.type_id = (uint16_t)(type + 1);
	return 0;
}

/*
 * A trace that sysfs makes has the layout of the newest protocol that the kernel knows. One made
 * by the old ioctl on a new kernel would mix both, and lack FUA, write-zeroes and zone events.
 */
static int find_protocol(struct ftrace_source *ftrace, struct why *why)
{
	struct trace_source *source = &ftrace->source;
	const struct kernel_ops *kernel = source->kernel;
	const char *path = source->devices[0].path;
	int fd = kernel->open(kernel->context, source->root->fd, path + 1, O_RDONLY | O_NONBLOCK);
	bool v2;

	if (fd < 0)
		return why_errno(why, fd, "cannot open %s", path);
	v2 = kernel->ioctl(kernel->context, fd, BT_IOC_SETUP2, NULL) == -EFAULT;
	kernel->close(kernel->context, fd);
	ftrace->facts.protocol = v2 ? 2 : 1;
	for (size_t i = 0; i < source->n_devices; i++) {
		source->log_devices[i].protocol = ftrace->facts.protocol;
		snprintf(source->log_devices[i].name, sizeof(source->log_devices[i].name), "%s",
			 source->devices[i].name);
	}
	return preflight_check_mask(&source->options, ftrace->facts.protocol, why);
}

static int set(struct ftrace_source *ftrace, const char *file, const char *value, struct why *why)
{
	int r = tracing_state_set(ftrace->source.root, &ftrace->state, file, value);

	if (r == -EBUSY && !strcmp(file, "current_tracer"))
		return tracing_explain_busy(ftrace->source.root, ftrace->state.tracefs, why);
	if (r == -ENOMEM && !strcmp(file, "buffer_size_kb"))
		return why_set(why, r,
			       "the kernel could not allocate a trace buffer of %s KiB for each "
			       "CPU; ask for less with -b and -n",
			       value);
	return r < 0 ? why_errno(why, r, "cannot write '%s' to %s/%s", value, ftrace->state.tracefs,
				 file)
		     : 0;
}

/* Not worth a recording: a kernel without the file does what it does. */
static int set_if_there(struct ftrace_source *ftrace, const char *file, const char *value,
			struct why *why)
{
	int r = set(ftrace, file, value, why);

	return r == -ENOENT ? 0 : r;
}

static int set_buffers(struct ftrace_source *ftrace, struct why *why)
{
	const struct trace_options *options = &ftrace->source.options;
	uint64_t kb = ((uint64_t)options->buffer_bytes * options->buffer_count + 1023) / 1024;
	char text[32];

	snprintf(text, sizeof(text), "%llu", (unsigned long long)kb);
	return set(ftrace, "buffer_size_kb", text, why);
}

static int set_cmdlines(struct ftrace_source *ftrace, struct why *why)
{
	char text[32];
	uint64_t size;

	if (sysroot_read_u64(ftrace->source.root, &size, "%s/saved_cmdlines_size",
			     ftrace->state.tracefs) < 0 ||
	    size >= CMDLINES_MIN)
		return 0;
	snprintf(text, sizeof(text), "%d", CMDLINES_WANTED);
	return set_if_there(ftrace, "saved_cmdlines_size", text, why);
}

static int set_all(struct ftrace_source *ftrace, struct why *why)
{
	/* First, and refused if somebody reads the buffer: nothing has been changed then. */
	int r = set(ftrace, "current_tracer", "blk", why);

	/* Devices are traced before all of their filters are set: nothing must pass until then. */
	if (r >= 0)
		r = set(ftrace, "tracing_on", "0", why);
	if (r >= 0)
		r = set(ftrace, "trace_clock", "mono", why);
	/*
	 * A full buffer refuses new events, as a relay channel does, and the kernel counts each.
	 * With overwriting, events that had been recorded would vanish from under the reader, the
	 * start of a burst is what would be lost, and a full page has no room for their number.
	 */
	if (r >= 0)
		r = set(ftrace, "options/overwrite", "0", why);
	if (r >= 0)
		r = set_buffers(ftrace, why);
	/*
	 * Readers are woken when a quarter of the buffer is full. With 0, any event wakes one, who
	 * then gets a page for it alone; the rest of the buffer is their time to come.
	 */
	if (r >= 0)
		r = set_if_there(ftrace, "buffer_percent", "25", why);
	if (r >= 0)
		r = set_cmdlines(ftrace, why);
	return r;
}

/* What the guardian reads before it puts things back, if they are still ours. */
struct reading {
	const struct trace_source *source;
	pid_t recorder;
	struct leftovers left;
};

static void take_left(void *context, struct tracing_state *state)
{
	struct reading *reading = context;
	const struct trace_source *source = reading->source;

	if (state->pid == reading->recorder)
		leftovers_take_ftrace(source->root, source->kernel, state, &reading->left);
}

/* In the guardian: what was changed is on disk, whose it was too. */
static void put_back(void *context)
{
	enum {
		TRIES = 600
	};
	const struct ftrace_source *ftrace = context;
	const struct trace_source *source = &ftrace->source;
	struct reading reading = {.source = source, .recorder = ftrace->state.pid};

	/* While somebody reads the buffer, its tracer cannot be changed. */
	for (int i = 0;
	     i < TRIES && tracing_state_recover(source->root, take_left, &reading, NULL) == -EBUSY;
	     i++) {
		/* Another recorder has put it back, and changed it anew. */
		if (tracing_state_user(source->root, NULL) != 1)
			break;
		sleep(1);
	}
	for (size_t i = 0; i < source->n_devices; i++)
		state_remove_dead(source->root, source->devices[i].disk);
	if (source->rescue)
		leftovers_finish_log(&reading.left, source->rescue, NULL);
	leftovers_deinit(&reading.left);
}

void ftrace_keep_guarded(struct ftrace_source *ftrace)
{
	struct trace_source *source = &ftrace->source;
	struct why why = {""};

	if (trace_source_lost_guardian(source))
		trace_source_guarded_again(source,
					   trace_source_guard(source, put_back, NULL, 0, &why),
					   &why);
}

int ftrace_prepare(struct ftrace_source *ftrace, struct why *why)
{
	struct trace_source *source = &ftrace->source;
	/* Held until what we are about to change is noted. */
	_cleanup_close_ int claim = -1;
	char tracefs[PATH_MAX];
	int r = tracing_state_claim(source->root, &claim, why);

	if (r >= 0)
		r = tracefs_find(source->root, tracefs, sizeof(tracefs), why);
	if (r >= 0)
		r = tracing_users_check(source->root, source->kernel, tracefs,
					source->options.debugfs, why);
	if (r >= 0)
		r = read_facts(ftrace, tracefs, why);
	if (r >= 0)
		r = find_protocol(ftrace, why);
	if (r >= 0)
		r = tracing_state_save(source->root, tracefs, &ftrace->state, why);
	if (r >= 0)
		r = trace_source_guard(&ftrace->source, put_back, NULL, 0, why);
	if (r < 0)
		return r;
	if (source->guarded)
		source->guarded(source->guarded_context);
	ftrace->saved = true;
	r = tracing_state_store(source->root, &ftrace->state);
	if (r < 0)
		return why_errno(why, r,
				 "cannot note the machine's tracing state in /run/blkbox, without "
				 "which nobody could put it back if the recorder were killed; "
				 "/run must be writable and have room");
	return set_all(ftrace, why);
}

static int write_filter(struct ftrace_source *ftrace, size_t i, const char *file, const char *value,
			struct why *why)
{
	const struct block_device *device = &ftrace->source.devices[i];
	int r = sysroot_write(ftrace->source.root, value, "/sys/dev/block/%u:%u/trace/%s",
			      major(device->number), minor(device->number), file);

	return r < 0 ? why_errno(why, r, "cannot set trace/%s of %s to %s", file, device->name,
				 value)
		     : 0;
}

static int write_filters(struct ftrace_source *ftrace, size_t i, struct why *why)
{
	const struct trace_options *options = &ftrace->source.options;
	const struct {
		const char *file;
		uint64_t value;
	} filters[] = {
		{"act_mask", options->mask},
		{"pid", options->pid},
		{"start_lba", options->first_sector},
		{"end_lba", options->last_sector},
	};
	int r = 0;

	for (size_t n = 0; r == 0 && n < sizeof(filters) / sizeof(filters[0]); n++) {
		char text[32];

		/* 0 is the kernel's default for all of them. */
		if (!filters[n].value)
			continue;
		snprintf(text, sizeof(text), "%llu", (unsigned long long)filters[n].value);
		r = write_filter(ftrace, i, filters[n].file, text, why);
	}
	return r;
}

int ftrace_enable_device(struct ftrace_source *ftrace, size_t i, struct why *why)
{
	struct trace_source *source = &ftrace->source;
	const struct block_device *device = &source->devices[i];
	unsigned dev_major = major(device->number), dev_minor = minor(device->number);
	uint64_t enabled;
	int r = sysroot_read_u64(source->root, &enabled, "/sys/dev/block/%u:%u/trace/enable",
				 dev_major, dev_minor);

	if (r == -ENOENT)
		r = -ENOTTY;
	/* Setting it once more would be silently accepted, and the trace somebody else's. */
	if (r >= 0 && enabled)
		r = -EBUSY;
	if (r < 0)
		return preflight_explain_setup(source->root, source->kernel, device,
					       &source->options, r, why);
	r = tracing_state_add_device(source->root, &ftrace->state, device->device);
	if (r < 0)
		return why_errno(why, r, "cannot start a recording");
	r = sysroot_write(source->root, "1", "/sys/dev/block/%u:%u/trace/enable", dev_major,
			  dev_minor);
	if (r < 0)
		return preflight_explain_setup(source->root, source->kernel, device,
					       &source->options, r, why);
	ftrace->enabled[i] = true;
	return write_filters(ftrace, i, why);
}

void ftrace_watch_others(struct ftrace_source *ftrace)
{
	static const char *const top[] = {"current_tracer",
					  "free_buffer",
					  "buffer_size_kb",
					  "snapshot",
					  "buffer_subbuf_size_kb",
					  "trace",
					  "trace_clock",
					  "tracing_cpumask",
					  "tracing_on",
					  NULL};
	static const char *const per_cpu[] = {"buffer_size_kb", "snapshot", "trace", NULL};
	struct trace_source *source = &ftrace->source;
	const char *tracefs = ftrace->state.tracefs;
	int r = foreign_writes_watch(&source->foreign, source->root, top, "%s", tracefs);

	for (unsigned cpu = 0; r == 0 && cpu < ftrace->cpus_room; cpu++)
		r = foreign_writes_watch(&source->foreign, source->root, per_cpu,
					 "%s/per_cpu/cpu%u", tracefs, cpu);
	if (r == 0)
		r = trace_source_watch_devices(source, true);
	if (r < 0)
		why_errno(&source->notice, r, FOREIGN_WRITES_UNSEEN);
}
