/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Reads recordings event by event, in order of time: blkbox logs, blktrace's files, record streams.
 */
#ifndef BLKBOX_LOG_H
#define BLKBOX_LOG_H

#include <blkbox/event.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct blkbox_log;

/**
 * @path: a log, a blktrace base name or any file of its set, a merged stream, "-"
 * @why: room for BLKBOX_WHY_MAX bytes, or NULL
 */
int blkbox_log_open(const char *path, struct blkbox_log **ret, char *why);
/** The same for an open, seekable file, which is adopted in every outcome. */
int blkbox_log_open_fd(int fd, struct blkbox_log **ret, char *why);
void blkbox_log_close(struct blkbox_log *log);

/**
 * The next event: 1 = @ret is set (its payload is valid until the next call), 0 = end, < 0 = error.
 */
int blkbox_log_next(struct blkbox_log *log, struct blkbox_event *ret, char *why);

/** Name of the process in whose context @event was logged, or NULL. Borrowed until the next call. */
const char *blkbox_log_process_name(struct blkbox_log *log, const struct blkbox_event *event);
/** Events that the kernel could not hand out, as the log tells. */
uint64_t blkbox_log_dropped(const struct blkbox_log *log);
/** Wall clock minus monotonic clock, in ns; 0 if the recording does not tell. */
int64_t blkbox_log_real_offset_ns(const struct blkbox_log *log);

#ifdef __cplusplus
}
#endif

#endif
