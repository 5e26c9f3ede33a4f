/* SPDX-License-Identifier: MIT */
#include "trace_owner.h"

#include "cleanup.h"
#include "state.h"

#include <ctype.h>
#include <limits.h>
#include <string.h>

static void ask_state_file(const struct sysroot *root, struct running_trace *trace)
{
	struct trace_state state;
	pid_t pid;

	/* Our own file is written before the set-up: the trace that is in its way is another's. */
	if (!trace->disk || state_read(root, trace->disk, &state) < 0 || state.pid == getpid() ||
	    state_is_of_another_boot(root, &state))
		return;
	/* A guardian without its recorder is about to end the trace. */
	pid = state_owner_alive(root, &state)	   ? state.pid
	      : state_guardian_alive(root, &state) ? state.guardian_pid
						   : 0;
	if (pid && process_read(root, pid, &trace->process) == 0) {
		trace->owner = TRACE_OWNER_ALIVE;
		trace->protocol = state.protocol;
	} else {
		trace->left_by = state.pid;
		strcpy(trace->left_log, state.output);
	}
}

/* True for an open ".../block/NAME/trace3" or ".../block/NAME/dropped". */
static bool is_file_of(const char *path, const struct running_trace *trace)
{
	char directory[DEVICE_NAME_BYTES + 16];
	const char *file;

	snprintf(directory, sizeof(directory), "/block/%s/", trace->name);
	file = strstr(path, directory);
	if (!file)
		return false;
	file += strlen(directory);
	if (!strcmp(file, "dropped"))
		return true;
	if (strncmp(file, "trace", 5) != 0 || !file[5])
		return false;
	return strspn(file + 5, "0123456789") == strlen(file + 5);
}

bool trace_owner_reads_buffer(const char *path)
{
	const char *file = strrchr(path, '/');

	return file && !strstr(path, "/instances/") &&
	       (!strcmp(file, "/trace_pipe") || !strcmp(file, "/trace_pipe_raw"));
}

static bool reads(const char *path, const struct running_trace *trace)
{
	if (trace->has_channels && is_file_of(path, trace))
		return true;
	return trace->to_ftrace && trace_owner_reads_buffer(path);
}

static void look_at_file(const struct sysroot *root, struct traces *traces, pid_t pid,
			 const char *path)
{
	for (size_t i = 0; i < traces->n; i++) {
		struct running_trace *trace = &traces->items[i];

		if (trace->owner != TRACE_OWNER_ALIVE && reads(path, trace) &&
		    process_read(root, pid, &trace->process) == 0)
			trace->owner = TRACE_OWNER_ALIVE;
	}
}

/* -EACCES: not for this user. A process that ends meanwhile has nothing open. */
static int look_at_process(const struct sysroot *root, struct traces *traces, pid_t pid)
{
	_cleanup_closedir_ DIR *dir = NULL;
	int r = sysroot_opendir(root, &dir, "/proc/%d/fd", (int)pid);

	if (r < 0)
		return r == -EPERM ? -EACCES : r;
	for (struct dirent *entry = readdir(dir); entry; entry = readdir(dir)) {
		char path[PATH_MAX];

		if (sysroot_readlink(root, path, sizeof(path), "/proc/%d/fd/%s", (int)pid,
				     entry->d_name) > 0)
			look_at_file(root, traces, pid, path);
	}
	return 0;
}

int trace_owners_find(const struct sysroot *root, struct traces *traces)
{
	_cleanup_closedir_ DIR *dir = NULL;
	bool all_seen = true, wanted = false;
	int r;

	for (size_t i = 0; i < traces->n; i++) {
		ask_state_file(root, &traces->items[i]);
		wanted = wanted || traces->items[i].owner != TRACE_OWNER_ALIVE;
	}
	if (!wanted)
		return 0;
	r = sysroot_opendir(root, &dir, "/proc");
	if (r < 0)
		return r;
	for (struct dirent *entry = readdir(dir); entry; entry = readdir(dir)) {
		if (isdigit((unsigned char)entry->d_name[0]) &&
		    look_at_process(root, traces, (pid_t)atoi(entry->d_name)) == -EACCES)
			all_seen = false;
	}
	/* Somebody who is alive has made a new one. */
	for (size_t i = 0; i < traces->n; i++) {
		if (traces->items[i].owner == TRACE_OWNER_ALIVE)
			traces->items[i].left_by = 0;
	}
	for (size_t i = 0; i < traces->n && !all_seen; i++) {
		if (traces->items[i].owner == TRACE_OWNER_NONE)
			traces->items[i].owner = TRACE_OWNER_UNKNOWN;
	}
	return 0;
}
