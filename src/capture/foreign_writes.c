/* SPDX-License-Identifier: MIT */
#include "foreign_writes.h"

#include "cleanup.h"

#include <fcntl.h>
#include <limits.h>
#include <stdalign.h>
#include <stdarg.h>
#include <string.h>
#include <sys/inotify.h>

struct watched_file {
	int watch;
	char *path;
};

void foreign_writes_init(struct foreign_writes *writes)
{
	*writes = (struct foreign_writes){.fd = -1};
}

void foreign_writes_deinit(struct foreign_writes *writes)
{
	close_keep_errno(take_fd(&writes->fd));
	for (size_t i = 0; i < writes->n; i++)
		free(writes->files[i].path);
	free(writes->files);
	foreign_writes_init(writes);
}

/* By way of a descriptor: @path is below the root. */
static int add_watch(struct foreign_writes *writes, const struct sysroot *root, const char *path)
{
	_cleanup_close_ int fd = sysroot_openf(root, O_PATH, "%s", path);
	char link[64];
	int watch;

	if (fd < 0)
		return fd;
	if (writes->fd < 0)
		writes->fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
	if (writes->fd < 0)
		return -errno;
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	/* Emptying a file by opening it counts as a modification, too. */
	watch = inotify_add_watch(writes->fd, link, IN_MODIFY);
	if (watch >= 0)
		return watch;
	/* /proc is not there: not to be taken for a missing file. */
	return errno == ENOENT ? -ENOTSUP : -errno;
}

static int watch_file(struct foreign_writes *writes, const struct sysroot *root, const char *path)
{
	struct watched_file *more = reallocarray(writes->files, writes->n + 1, sizeof(*more));
	_cleanup_free_ char *copy = strdup(path);
	int watch;

	if (more)
		writes->files = more;
	if (!more || !copy)
		return -ENOMEM;
	watch = add_watch(writes, root, path);
	if (watch < 0)
		return watch == -ENOENT ? 0 : watch;
	more[writes->n++] = (struct watched_file){.watch = watch, .path = take_ptr(copy)};
	return 0;
}

int foreign_writes_watch(struct foreign_writes *writes, const struct sysroot *root,
			 const char *const *names, const char *format, ...)
{
	char directory[PATH_MAX], path[PATH_MAX + 64];
	va_list args;
	int r = 0;

	va_start(args, format);
	vsnprintf(directory, sizeof(directory), format, args);
	va_end(args);
	for (size_t i = 0; r == 0 && names[i]; i++) {
		snprintf(path, sizeof(path), "%s/%s", directory, names[i]);
		r = watch_file(writes, root, path);
	}
	return r;
}

int foreign_writes_watch_disk(struct foreign_writes *writes, const struct sysroot *root,
			      const char *const *names, unsigned major, unsigned minor)
{
	_cleanup_closedir_ DIR *dir = NULL;
	char disk[64];
	int r;

	snprintf(disk, sizeof(disk), "/sys/dev/block/%u:%u", major, minor);
	if (sysroot_exists(root, "%s/partition", disk))
		strcat(disk, "/..");
	r = foreign_writes_watch(writes, root, names, "%s/trace", disk);
	if (r < 0 || sysroot_opendir(root, &dir, "%s", disk) < 0)
		return r;
	for (struct dirent *entry = readdir(dir); r == 0 && entry; entry = readdir(dir)) {
		if (sysroot_exists(root, "%s/%s/partition", disk, entry->d_name))
			r = foreign_writes_watch(writes, root, names, "%s/%s/trace", disk,
						 entry->d_name);
	}
	return r;
}

static const char *find(const struct foreign_writes *writes, int watch)
{
	for (size_t i = 0; i < writes->n; i++) {
		if (writes->files[i].watch == watch)
			return writes->files[i].path;
	}
	return NULL;
}

static int take(const struct foreign_writes *writes, const struct inotify_event *event,
		const char *own, struct why *why)
{
	const char *path = find(writes, event->wd);

	if (event->mask & IN_Q_OVERFLOW)
		return why_set(why, -EBUSY,
			       "somebody else wrote to the kernel's tracing files very often while "
			       "we recorded");
	if (!path || !(event->mask & IN_MODIFY) || (own && !strcmp(own, strrchr(path, '/') + 1)))
		return 0;
	return why_set(why, -EBUSY,
		       "somebody else wrote to %s while we recorded: events may be missing", path);
}

int foreign_writes_look(struct foreign_writes *writes, const char *own, struct why *why)
{
	alignas(struct inotify_event) char buffer[4096];
	int result = 0;
	ssize_t n;

	while (writes->fd >= 0 && (n = read(writes->fd, buffer, sizeof(buffer))) > 0) {
		for (ssize_t at = 0; at < n;) {
			const struct inotify_event *event = (void *)(buffer + at);

			/* The first one is told; the queue is emptied all the same. */
			if (result == 0)
				result = take(writes, event, own, why);
			at += (ssize_t)(sizeof(*event) + event->len);
		}
	}
	return result;
}
