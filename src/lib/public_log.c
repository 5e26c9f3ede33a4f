/* SPDX-License-Identifier: MIT */
/*
 * <blkbox/log.h>: recordings, event by event, for other programs.
 */
#include <blkbox/log.h>

#include "cleanup.h"
#include "public.h"
#include "recording.h"

struct blkbox_log {
	struct recording *recording;
};

int blkbox_log_open(const char *path, struct blkbox_log **ret, char *why_text)
{
	struct blkbox_log *log = calloc(1, sizeof(*log));
	char *const paths[] = {(char *)path};
	struct why why = {""};
	int r = log ? recording_open(paths, 1, &log->recording, &why)
		    : why_errno(&why, -ENOMEM, "cannot open %s", path);

	if (r < 0) {
		free(log);
		return public_result(r, &why, why_text);
	}
	*ret = log;
	return 0;
}

int blkbox_log_open_fd(int fd_, struct blkbox_log **ret, char *why_text)
{
	_cleanup_close_ int fd = fd_;
	char path[32];

	/* A path that opens the same file, also one that has no name: it gets an offset of its own.
	 */
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return blkbox_log_open(path, ret, why_text);
}

void blkbox_log_close(struct blkbox_log *log)
{
	if (!log)
		return;
	recording_close(log->recording);
	free(log);
}

int blkbox_log_next(struct blkbox_log *log, struct blkbox_event *ret, char *why_text)
{
	struct merge_item item;
	struct why why = {""};
	int r = recording_next(log->recording, &item, &why);

	if (r > 0)
		*ret = item.event;
	return public_result(r, &why, why_text);
}

const char *blkbox_log_process_name(struct blkbox_log *log, const struct blkbox_event *event)
{
	return recording_comm(log->recording, 0, event->pid, event->cpu, event->time_ns);
}

uint64_t blkbox_log_dropped(const struct blkbox_log *log)
{
	return recording_info(log->recording)->dropped;
}

int64_t blkbox_log_real_offset_ns(const struct blkbox_log *log)
{
	const struct recording_info *info = recording_info(log->recording);

	return info->has_real ? info->real_offset_ns : 0;
}
