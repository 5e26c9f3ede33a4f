/* SPDX-License-Identifier: MIT */
#include "foreign_writes.h"

#include "cleanup.h"

#include <fcntl.h>
#include <limits.h>
#include <stdalign.h>
#include <stdarg.h>
#include <string.h>
#include <sys/inotify.h>

struct watched_directory {
	int watch;
	const char *const *names; /* NULL: all */
	char path[PATH_MAX];
};

void foreign_writes_init(struct foreign_writes *writes)
{
	*writes = (struct foreign_writes){.fd = -1};
}

void foreign_writes_deinit(struct foreign_writes *writes)
{
	close_keep_errno(take_fd(&writes->fd));
	free(writes->directories);
	foreign_writes_init(writes);
}

/* By way of a descriptor: @path is below the root. */
static int add_watch(struct foreign_writes *writes, const struct sysroot *root, const char *path)
{
	_cleanup_close_ int fd = sysroot_openf(root, O_PATH | O_DIRECTORY, "%s", path);
	char link[64];
	int watch;

	if (fd < 0)
		return fd;
	if (writes->fd < 0)
		writes->fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
	if (writes->fd < 0)
		return -errno;
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	/* Who opens for writing may empty a file without a write. */
	watch = inotify_add_watch(writes->fd, link, IN_MODIFY | IN_CLOSE_WRITE);
	return watch < 0 ? -errno : watch;
}

int foreign_writes_watch(struct foreign_writes *writes, const struct sysroot *root,
			 const char *const *names, const char *format, ...)
{
	struct watched_directory *more =
		reallocarray(writes->directories, writes->n + 1, sizeof(*more));
	struct watched_directory *directory;
	va_list args;
	int watch;

	if (!more)
		return -ENOMEM;
	writes->directories = more;
	directory = &more[writes->n];
	va_start(args, format);
	vsnprintf(directory->path, sizeof(directory->path), format, args);
	va_end(args);
	watch = add_watch(writes, root, directory->path);
	if (watch == -ENOENT)
		return 0;
	if (watch < 0)
		return watch;
	directory->watch = watch;
	directory->names = names;
	writes->n++;
	return 0;
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

static const struct watched_directory *find(const struct foreign_writes *writes, int watch)
{
	for (size_t i = 0; i < writes->n; i++) {
		if (writes->directories[i].watch == watch)
			return &writes->directories[i];
	}
	return NULL;
}

static bool is_watched(const struct watched_directory *directory, const char *name)
{
	if (!directory->names)
		return true;
	for (size_t i = 0; directory->names[i]; i++) {
		if (!strcmp(directory->names[i], name))
			return true;
	}
	return false;
}

static int take(const struct foreign_writes *writes, const struct inotify_event *event,
		const char *own, struct why *why)
{
	const struct watched_directory *directory = find(writes, event->wd);
	const char *name = event->len ? event->name : "";

	if (event->mask & IN_Q_OVERFLOW)
		return why_set(why, -EBUSY,
			       "somebody else wrote to the kernel's tracing files very often while "
			       "we recorded");
	if (!directory || !(event->mask & (IN_MODIFY | IN_CLOSE_WRITE)) ||
	    !is_watched(directory, name) || (own && !strcmp(own, name)))
		return 0;
	return why_set(why, -EBUSY,
		       "somebody else wrote to %s/%s while we recorded, which takes events away",
		       directory->path, name);
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
