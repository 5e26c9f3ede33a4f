/* SPDX-License-Identifier: MIT */
#include "tracing_users.h"

#include "cleanup.h"
#include "cpus.h"
#include "process.h"
#include "trace_owner.h"
#include "traces.h"

#include <ctype.h>
#include <limits.h>
#include <string.h>

static int check_tracer(const struct sysroot *root, const char *tracefs, struct why *why)
{
	char tracer[64];
	int r = sysroot_read(root, tracer, sizeof(tracer), "%s/current_tracer", tracefs);

	if (r == -EPERM)
		return why_set(why, r,
			       "kernel lockdown forbids tracefs, even to root (level "
			       "confidentiality)");
	if (r < 0)
		return why_errno(why, r, "cannot read %s/current_tracer", tracefs);
	if (strcmp(tracer, "nop") != 0)
		return why_set(
			why, -EBUSY,
			"ftrace's tracer '%s' is on; 'echo nop > %s/current_tracer' switches "
			"it off, and erases what it has recorded",
			tracer, tracefs);
	return 0;
}

/* Their entries would share the buffer, push ours out, and be read away from their owner by us. */
static int check_events(const struct sysroot *root, const char *tracefs, struct why *why)
{
	char events[1 << 12], on[8];
	int r = sysroot_read(root, on, sizeof(on), "%s/events/enable", tracefs);

	if (r < 0 || !strcmp(on, "0"))
		return 0;
	/* It may be a long list; the first one will do. */
	r = sysroot_read(root, events, sizeof(events), "%s/set_event", tracefs);
	if (r < 0)
		strcpy(events, "all");
	events[strcspn(events, "\n")] = '\0';
	if (!events[0])
		return 0;
	return why_set(why, -EBUSY,
		       "somebody records trace events (%s, ...) in the buffer that ftrace's blk "
		       "tracer uses; 'echo 0 > %s/events/enable' switches them off",
		       events, tracefs);
}

static uint64_t unread_entries(const struct sysroot *root, const char *tracefs, uint32_t cpu)
{
	char text[512];

	if (sysroot_read(root, text, sizeof(text), "%s/per_cpu/cpu%u/stats", tracefs, cpu) < 0 ||
	    strncmp(text, "entries: ", 9) != 0)
		return 0;
	return strtoull(text + 9, NULL, 10);
}

static int check_unread(const struct sysroot *root, const char *tracefs, const struct cpus *online,
			struct why *why)
{
	uint64_t entries = 0;

	for (size_t i = 0; i < online->n; i++)
		entries += unread_entries(root, tracefs, online->numbers[i]);
	if (!entries)
		return 0;
	return why_set(why, -EBUSY,
		       "the kernel's trace buffer holds %llu entries that somebody recorded and "
		       "nobody has read; a recording would erase them: read them with 'cat "
		       "%s/trace', then empty it with 'echo > %s/trace'",
		       (unsigned long long)entries, tracefs, tracefs);
}

/* "ff" or "f,ffffffff": comma-separated words of 32 bits, the highest first. */
static bool mask_has(const char *mask, uint32_t cpu)
{
	size_t n = 0;

	for (const char *at = mask + strlen(mask); at > mask;) {
		char digit = *--at;
		unsigned value;

		if (digit == ',')
			continue;
		if (n++ != cpu / 4)
			continue;
		value = isdigit((unsigned char)digit) ? (unsigned)(digit - '0')
						      : (unsigned)(digit | 0x20) - 'a' + 10;
		return value >> cpu % 4 & 1;
	}
	return false;
}

/* A CPU that is left out records nothing, and nobody counts what it loses. */
static int check_cpumask(const struct sysroot *root, const char *tracefs, const struct cpus *online,
			 struct why *why)
{
	char mask[4096];

	if (sysroot_read(root, mask, sizeof(mask), "%s/tracing_cpumask", tracefs) < 0)
		return 0;
	for (size_t i = 0; i < online->n; i++) {
		if (!mask_has(mask, online->numbers[i]))
			return why_set(why, -EBUSY,
				       "%s/tracing_cpumask is set to '%s': CPU %u would not be "
				       "recorded",
				       tracefs, mask, online->numbers[i]);
	}
	return 0;
}

/* While the blk tracer is on, no relay channel gets an event, and nobody tells its reader. */
static int check_relay(const struct sysroot *root, const struct kernel_ops *kernel,
		       const char *debugfs, struct why *why)
{
	_cleanup_(traces_deinit) struct traces traces = {0};
	int r = traces_list(root, kernel, debugfs, &traces, why);

	for (size_t i = 0; r == 0 && i < traces.n; i++) {
		struct why owner = {""};

		/* Without debugfs nobody knows whether it has channels. */
		if (!traces.items[i].has_channels && !traces.no_debugfs.text[0])
			continue;
		trace_describe_owner(&traces.items[i], &owner);
		r = why_set(why, -EBUSY,
			    "%s; a recording through ftrace would take its events away",
			    owner.text);
	}
	return r;
}

int tracing_users_check(const struct sysroot *root, const struct kernel_ops *kernel,
			const char *tracefs, const char *debugfs, struct why *why)
{
	_cleanup_(cpus_deinit) struct cpus online = {0};
	int r = cpus_online(root, &online);

	if (r < 0)
		return why_errno(why, r, "cannot find out which CPUs are online");
	r = check_tracer(root, tracefs, why);
	if (r == 0)
		r = check_events(root, tracefs, why);
	if (r == 0)
		r = check_cpumask(root, tracefs, &online, why);
	if (r == 0)
		r = check_unread(root, tracefs, &online, why);
	return r == 0 ? check_relay(root, kernel, debugfs, why) : r;
}

/* True if it has trace_pipe, or a trace_pipe_raw, of the top-level buffer open. */
static bool reads_buffer(const struct sysroot *root, pid_t pid)
{
	_cleanup_closedir_ DIR *dir = NULL;

	if (sysroot_opendir(root, &dir, "/proc/%d/fd", (int)pid) < 0)
		return false;
	for (struct dirent *entry = readdir(dir); entry; entry = readdir(dir)) {
		char path[PATH_MAX];

		if (sysroot_readlink(root, path, sizeof(path), "/proc/%d/fd/%s", (int)pid,
				     entry->d_name) >= 0 &&
		    trace_owner_reads_buffer(path))
			return true;
	}
	return false;
}

int tracing_explain_busy(const struct sysroot *root, const char *tracefs, struct why *why)
{
	_cleanup_closedir_ DIR *dir = NULL;
	struct dirent *entry;

	if (!why)
		return -EBUSY;

	if (sysroot_opendir(root, &dir, "/proc") < 0)
		dir = NULL;
	while (dir && (entry = readdir(dir))) {
		struct process process;
		pid_t pid = isdigit((unsigned char)entry->d_name[0]) ? atoi(entry->d_name) : 0;

		if (pid && reads_buffer(root, pid) && process_read(root, pid, &process) == 0)
			return why_set(
				why, -EBUSY,
				"%s (process %d) reads the kernel's trace buffer (trace_pipe "
				"in %s), so that its tracer cannot be changed",
				process.name, (int)process.pid, tracefs);
	}
	return why_set(why, -EBUSY,
		       "somebody reads the kernel's trace buffer (trace_pipe in %s), so that its "
		       "tracer cannot be changed",
		       tracefs);
}
