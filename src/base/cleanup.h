/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Scope guards: a variable cleans up after itself when it goes out of scope.
 */
#ifndef BLKBOX_BASE_CLEANUP_H
#define BLKBOX_BASE_CLEANUP_H

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define _cleanup_(fn)	   __attribute__((cleanup(fn)))
#define _cleanup_free_	   _cleanup_(cleanup_free)
#define _cleanup_close_	   _cleanup_(cleanup_close)
#define _cleanup_fclose_   _cleanup_(cleanup_fclose)
#define _cleanup_closedir_ _cleanup_(cleanup_closedir)
#define _printf_(fmt, arg) __attribute__((format(printf, fmt, arg)))

/** Makes a guard function `cleanup_NAME` for a pointer type from its destructor. */
#define DEFINE_CLEANUP(type, destroy)                    \
	static inline void cleanup_##destroy(type **ptr) \
	{                                                \
		destroy(*ptr);                           \
	}                                                \
	struct cleanup_##destroy##_needs_semicolon

static inline void cleanup_free(void *ptr)
{
	free(*(void **)ptr);
}

/** close(2) that keeps errno, so that it can stand on a failure path. */
static inline void close_keep_errno(int fd)
{
	int saved = errno;

	if (fd >= 0)
		close(fd);
	errno = saved;
}

static inline void cleanup_close(int *fd)
{
	close_keep_errno(*fd);
}

static inline void cleanup_fclose(FILE **file)
{
	if (*file)
		fclose(*file);
}

static inline void cleanup_closedir(DIR **dir)
{
	if (*dir)
		closedir(*dir);
}

/** Hands a descriptor out of its guard: the guard then holds -1. */
static inline int take_fd(int *fd)
{
	int taken = *fd;

	*fd = -1;
	return taken;
}

/** Hands a pointer out of its guard: the guard then holds NULL. */
#define take_ptr(ptr)                           \
	({                                      \
		__typeof__(ptr) taken_ = (ptr); \
		(ptr) = NULL;                   \
		taken_;                         \
	})

#endif
