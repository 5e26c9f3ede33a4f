/* SPDX-License-Identifier: MIT */
#include "io_counters.h"

#include <fcntl.h>
#include <stdbool.h>
#include <string.h>

static const char *const names[N_IO_COUNTERS] = {
	[IO_RCHAR] = "rchar",
	[IO_WCHAR] = "wchar",
	[IO_SYSCR] = "syscr",
	[IO_SYSCW] = "syscw",
	[IO_READ_BYTES] = "read_bytes",
	[IO_WRITE_BYTES] = "write_bytes",
	[IO_CANCELLED_WRITE_BYTES] = "cancelled_write_bytes",
};

const char *io_counter_name(enum io_counter counter)
{
	return names[counter];
}

/* "NAME: NUMBER", of @n bytes. Counters that a newer kernel may add are passed over. */
static int take_line(const char *line, size_t n, struct io_counters *counters, unsigned *found,
		     struct why *why)
{
	const char *colon = memmem(line, n, ": ", 2);
	const char *at = colon ? colon + 2 : line;
	uint64_t value = 0;
	bool good = colon && at < line + n;

	for (; good && at < line + n; at++)
		good = *at >= '0' && *at <= '9' && !__builtin_mul_overflow(value, 10, &value) &&
		       !__builtin_add_overflow(value, (uint64_t)(*at - '0'), &value);
	if (!good)
		return why_set(why, -EBADMSG, "'%.*s' is no line of I/O accounting", (int)n, line);
	for (int i = 0; i < N_IO_COUNTERS; i++) {
		if (!strncmp(line, names[i], (size_t)(colon - line)) && !names[i][colon - line]) {
			counters->value[i] = value;
			*found |= 1u << i;
			break;
		}
	}
	return 0;
}

int io_counters_parse(const char *text, struct io_counters *ret, struct why *why)
{
	struct io_counters counters;
	unsigned found = 0;

	while (*text) {
		size_t n = strcspn(text, "\n");
		int r = n ? take_line(text, n, &counters, &found, why) : 0;

		if (r < 0)
			return r;
		text += text[n] ? n + 1 : n;
	}
	for (int i = 0; i < N_IO_COUNTERS; i++) {
		if (!(found & 1u << i))
			return why_set(why, -ENODATA,
				       "there is no %s: this kernel does not count all of a task's "
				       "I/O (CONFIG_TASK_IO_ACCOUNTING)",
				       names[i]);
	}
	*ret = counters;
	return 0;
}

static int explain(int error, const char *path, struct why *why)
{
	if (error == -EACCES || error == -EPERM)
		return why_set(why, error,
			       "may not read /proc/%s: the kernel shows the accounting only to who "
			       "may trace the process",
			       path);
	if (error == -ENOENT)
		return why_set(why, error,
			       "there is no /proc/%s: /proc is not mounted, or this kernel has no "
			       "I/O accounting (CONFIG_TASK_IO_ACCOUNTING)",
			       path);
	return why_errno(why, error, "cannot read /proc/%s", path);
}

/* Another namespace's /proc shows somebody else's counters at our workers' numbers. */
static int check_own(int proc_fd, struct why *why)
{
	char self[32], own[32];
	ssize_t n = readlinkat(proc_fd, "self", self, sizeof(self) - 1);

	if (n < 0)
		return why_errno(why, -errno,
				 "cannot read /proc/self: /proc is not mounted, or is that of "
				 "another PID namespace");
	self[n] = '\0';
	snprintf(own, sizeof(own), "%d", getpid());
	if (strcmp(self, own) != 0)
		return why_set(why, -ESRCH,
			       "/proc is that of another PID namespace (/proc/self is %s, and this "
			       "is process %s): mount one of this namespace (unshare --mount-proc)",
			       self, own);
	return 0;
}

int io_counters_open_proc(struct why *why)
{
	_cleanup_close_ int fd = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int r;

	if (fd < 0)
		return why_errno(why, -errno, "cannot open /proc");
	r = check_own(fd, why);
	return r < 0 ? r : take_fd(&fd);
}

int io_counters_read(int proc_fd, pid_t pid, pid_t tid, struct io_counters *ret, struct why *why)
{
	_cleanup_close_ int fd = -1;
	char path[64], text[1024];
	ssize_t n;
	int r;

	if (tid)
		snprintf(path, sizeof(path), "%d/task/%d/io", pid, tid);
	else
		snprintf(path, sizeof(path), "%d/io", pid);
	fd = openat(proc_fd, path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return explain(-errno, path, why);
	n = read(fd, text, sizeof(text) - 1);
	if (n < 0)
		return explain(-errno, path, why);
	text[n] = '\0';
	r = io_counters_parse(text, ret, why);
	return r < 0 ? why_prefix(why, r, "/proc/%s", path) : 0;
}

int io_counters_subtract(const struct io_counters *after, const struct io_counters *before,
			 struct io_counters *ret, struct why *why)
{
	struct io_counters delta;

	for (int i = 0; i < N_IO_COUNTERS; i++) {
		if (after->value[i] < before->value[i])
			return why_set(why, -ERANGE, "the counter %s went back from %llu to %llu",
				       names[i], (unsigned long long)before->value[i],
				       (unsigned long long)after->value[i]);
		delta.value[i] = after->value[i] - before->value[i];
	}
	*ret = delta;
	return 0;
}
