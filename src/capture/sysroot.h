/* SPDX-License-Identifier: MIT */
/**
 * @file
 * The machine that we look at: a directory that stands for "/". Tests give it a made-up tree.
 */
#ifndef BLKBOX_CAPTURE_SYSROOT_H
#define BLKBOX_CAPTURE_SYSROOT_H

#include <dirent.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sysroot {
	int fd; /* of the directory */
};

/** @path: NULL or "/" for this machine. */
int sysroot_open(struct sysroot *root, const char *path);
void sysroot_close(struct sysroot *root);

/** openat(2) below the root. @path: absolute. O_CLOEXEC is added. Returns a new fd or -errno. */
int sysroot_openf(const struct sysroot *root, int flags, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/** opendir(3) below the root. The caller closes *@ret. */
int sysroot_opendir(const struct sysroot *root, DIR **ret, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/** Where a symbolic link points, as it is written there. Returns its length or -errno. */
int sysroot_readlink(const struct sysroot *root, char *ret, size_t size, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

/**
 * Reads a small file whole: NUL-terminated, trailing white space cut off.
 * Returns its length or -errno; -EFBIG if it does not fit in @size.
 */
int sysroot_read(const struct sysroot *root, char *buffer, size_t size, const char *format, ...)
	__attribute__((format(printf, 4, 5)));
/** Reads one decimal number. -EINVAL if the file holds anything else. */
int sysroot_read_u64(const struct sysroot *root, uint64_t *ret, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/** Writes a short text in one write(2), as the shell's ">" does. The file must be there. */
int sysroot_write(const struct sysroot *root, const char *text, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
bool sysroot_exists(const struct sysroot *root, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/**
 * First mount point of a filesystem type, from /proc/self/mounts (octal escapes undone).
 * -ENOENT if none is mounted in this mount namespace.
 */
int sysroot_find_mount(const struct sysroot *root, const char *type, char *ret, size_t size);

#endif
