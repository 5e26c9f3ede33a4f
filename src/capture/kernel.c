/* SPDX-License-Identifier: MIT */
#include "kernel.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/vfs.h>
#include <unistd.h>

static int linux_open(void *context, int dir_fd, const char *path, int flags)
{
	int fd = openat(dir_fd, path, flags | O_CLOEXEC);

	(void)context;
	return fd < 0 ? -errno : fd;
}

static int linux_ioctl(void *context, int fd, unsigned long request, void *argument)
{
	(void)context;
	return ioctl(fd, request, argument) < 0 ? -errno : 0;
}

static ssize_t linux_read(void *context, int fd, void *buffer, size_t size)
{
	ssize_t n;

	(void)context;
	do
		n = read(fd, buffer, size);
	while (n < 0 && errno == EINTR);
	return n < 0 ? -errno : n;
}

static ssize_t linux_pread(void *context, int fd, void *buffer, size_t size, off_t offset)
{
	ssize_t n = pread(fd, buffer, size, offset);

	(void)context;
	return n < 0 ? -errno : n;
}

static int linux_stat_size(void *context, int fd, uint64_t *ret)
{
	struct stat st;

	(void)context;
	if (fstat(fd, &st) < 0)
		return -errno;
	*ret = (uint64_t)st.st_size;
	return 0;
}

static int linux_poll(void *context, struct pollfd *fds, nfds_t n, int timeout_ms)
{
	int ready = poll(fds, n, timeout_ms);

	(void)context;
	return ready < 0 ? -errno : ready;
}

static int linux_fs_type(void *context, int fd, uint64_t *ret)
{
	struct statfs st;

	(void)context;
	if (fstatfs(fd, &st) < 0)
		return -errno;
	*ret = (uint64_t)st.f_type;
	return 0;
}

static int linux_close(void *context, int fd)
{
	(void)context;
	return close(fd) < 0 ? -errno : 0;
}

const struct kernel_ops kernel_linux = {
	.open = linux_open,
	.ioctl = linux_ioctl,
	.read = linux_read,
	.pread = linux_pread,
	.stat_size = linux_stat_size,
	.poll = linux_poll,
	.fs_type = linux_fs_type,
	.close = linux_close,
};
