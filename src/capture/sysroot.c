/* SPDX-License-Identifier: MIT */
#include "sysroot.h"

#include "cleanup.h"

#include <ctype.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <string.h>

int sysroot_open(struct sysroot *root, const char *path)
{
	int fd = open(path ? path : "/", O_PATH | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	root->fd = fd;
	return 0;
}

void sysroot_close(struct sysroot *root)
{
	close_keep_errno(root->fd);
	root->fd = -1;
}

/* A path of the machine, relative to the root's descriptor. */
struct below {
	char buffer[PATH_MAX];
	const char *path; /* in @buffer */
};

static int __attribute__((format(printf, 2, 0)))
below_root(struct below *below, const char *format, va_list args)
{
	int n = vsnprintf(below->buffer, sizeof(below->buffer), format, args);

	if (n < 0)
		return -EINVAL;
	if ((size_t)n >= sizeof(below->buffer))
		return -ENAMETOOLONG;
	below->path = below->buffer + strspn(below->buffer, "/");
	if (!*below->path)
		below->path = ".";
	return 0;
}

/* Declares @below from the caller's variable arguments; @status tells whether it is good. */
#define BELOW_ROOT(below, status, format)                 \
	struct below below;                               \
	va_list args_;                                    \
	va_start(args_, format);                          \
	int status = below_root(&(below), format, args_); \
	va_end(args_)

static int open_below(const struct sysroot *root, const struct below *below, int flags)
{
	int fd = openat(root->fd, below->path, flags | O_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

int sysroot_openf(const struct sysroot *root, int flags, const char *format, ...)
{
	BELOW_ROOT(below, r, format);

	return r < 0 ? r : open_below(root, &below, flags);
}

int sysroot_opendir(const struct sysroot *root, DIR **ret, const char *format, ...)
{
	BELOW_ROOT(below, r, format);
	_cleanup_close_ int fd = -1;
	DIR *dir;

	if (r < 0)
		return r;
	fd = open_below(root, &below, O_RDONLY | O_DIRECTORY);
	if (fd < 0)
		return fd;
	dir = fdopendir(fd);
	if (!dir)
		return -errno;
	take_fd(&fd);
	*ret = dir;
	return 0;
}

int sysroot_readlink(const struct sysroot *root, char *ret, size_t size, const char *format, ...)
{
	BELOW_ROOT(below, r, format);
	char target[PATH_MAX];
	ssize_t n;

	if (r < 0)
		return r;
	n = readlinkat(root->fd, below.path, target, sizeof(target));
	if (n < 0)
		return -errno;
	if ((size_t)n >= size || n == (ssize_t)sizeof(target))
		return -ENAMETOOLONG;
	memcpy(ret, target, (size_t)n);
	ret[n] = '\0';
	return (int)n;
}

/* Fills @buffer from @fd. Returns the number of bytes, at most @size. */
static ssize_t read_all(int fd, char *buffer, size_t size)
{
	size_t used = 0;

	while (used < size) {
		ssize_t n = read(fd, buffer + used, size - used);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (n == 0)
			break;
		used += (size_t)n;
	}
	return (ssize_t)used;
}

static int read_small(const struct sysroot *root, const struct below *below, char *ret, size_t size)
{
	_cleanup_close_ int fd = open_below(root, below, O_RDONLY);
	ssize_t n;

	if (fd < 0)
		return fd;
	n = read_all(fd, ret, size);
	if (n < 0)
		return (int)n;
	if ((size_t)n == size)
		return -EFBIG;
	while (n > 0 && isspace((unsigned char)ret[n - 1]))
		n--;
	ret[n] = '\0';
	return (int)n;
}

int sysroot_read(const struct sysroot *root, char *buffer, size_t size, const char *format, ...)
{
	BELOW_ROOT(below, r, format);

	return r < 0 ? r : read_small(root, &below, buffer, size);
}

int sysroot_read_u64(const struct sysroot *root, uint64_t *ret, const char *format, ...)
{
	BELOW_ROOT(below, r, format);
	char text[64], *end;
	unsigned long long value;

	if (r == 0)
		r = read_small(root, &below, text, sizeof(text));
	if (r < 0)
		return r;
	if (!isdigit((unsigned char)text[0]))
		return -EINVAL;
	errno = 0;
	value = strtoull(text, &end, 10);
	if (errno || *end)
		return -EINVAL;
	*ret = value;
	return 0;
}

int sysroot_write(const struct sysroot *root, const char *text, const char *format, ...)
{
	BELOW_ROOT(below, r, format);
	_cleanup_close_ int fd = -1;
	ssize_t n;

	if (r < 0)
		return r;
	fd = open_below(root, &below, O_WRONLY | O_TRUNC);
	if (fd < 0)
		return fd;
	n = write(fd, text, strlen(text));
	if (n < 0)
		return -errno;
	return (size_t)n == strlen(text) ? 0 : -EIO;
}

bool sysroot_exists(const struct sysroot *root, const char *format, ...)
{
	BELOW_ROOT(below, r, format);

	return r == 0 && faccessat(root->fd, below.path, F_OK, 0) == 0;
}

/* Undoes the kernel's \ooo for blanks and the like, in place. */
static void unescape(char *text)
{
	char *to = text;

	for (const char *from = text; *from; to++) {
		if (from[0] == '\\' && from[1] >= '0' && from[1] <= '3' && from[2] >= '0' &&
		    from[2] <= '7' && from[3] >= '0' && from[3] <= '7') {
			*to = (char)((from[1] - '0') * 64 + (from[2] - '0') * 8 + from[3] - '0');
			from += 4;
		} else {
			*to = *from++;
		}
	}
	*to = '\0';
}

int sysroot_find_mount(const struct sysroot *root, const char *type, char *ret, size_t size)
{
	_cleanup_close_ int fd = sysroot_openf(root, O_RDONLY, "/proc/self/mounts");
	_cleanup_fclose_ FILE *mounts = NULL;
	_cleanup_free_ char *line = NULL;
	size_t room = 0;

	if (fd < 0)
		return fd;
	mounts = fdopen(fd, "r");
	if (!mounts)
		return -errno;
	take_fd(&fd);
	while (getline(&line, &room, mounts) >= 0) {
		char *save, *path, *its_type;

		strtok_r(line, " \n", &save);
		path = strtok_r(NULL, " \n", &save);
		its_type = strtok_r(NULL, " \n", &save);
		if (!its_type || strcmp(its_type, type) != 0)
			continue;
		unescape(path);
		if (strlen(path) >= size)
			return -ENAMETOOLONG;
		strcpy(ret, path);
		return 0;
	}
	return -ENOENT;
}
