/* SPDX-License-Identifier: MIT */
/**
 * @file
 * The calls with which a recording touches the kernel. Tests put a made-up kernel behind them.
 */
#ifndef BLKBOX_CAPTURE_KERNEL_H
#define BLKBOX_CAPTURE_KERNEL_H

#include <poll.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

struct kernel_ops {
	/* All return >= 0, or -errno. @context is the field below. */
	int (*open)(void *context, int dir_fd, const char *path, int flags);
	int (*ioctl)(void *context, int fd, unsigned long request, void *argument);
	ssize_t (*read)(void *context, int fd, void *buffer, size_t size);
	ssize_t (*pread)(void *context, int fd, void *buffer, size_t size, off_t offset);
	int (*stat_size)(void *context, int fd, uint64_t *ret); /* fstat: st_size */
	int (*poll)(void *context, struct pollfd *fds, nfds_t n, int timeout_ms);
	int (*fs_type)(void *context, int fd, uint64_t *ret); /* fstatfs: f_type */
	int (*close)(void *context, int fd);
	void *context;
};

/** The real one. */
extern const struct kernel_ops kernel_linux;

#endif
