/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Writes out what is dirty on devices, without making anybody wait who does not want to.
 */
#ifndef BLKBOX_CAPTURE_FLUSH_H
#define BLKBOX_CAPTURE_FLUSH_H

#include <stddef.h>

/**
 * Issues BLKFLSBUF for each device in a child process: the call cannot be interrupted, not even by
 * SIGKILL, so the caller must be able to leave it behind.
 *
 * @paths: of device nodes
 * Returns a pidfd that becomes readable when all is written, to be closed by the caller, or -errno.
 */
int flush_devices(const char *const *paths, size_t n);

/** Waits for the end of a flush: 0, or the -errno of a device that could not be flushed. */
int flush_result(int pidfd);

#endif
