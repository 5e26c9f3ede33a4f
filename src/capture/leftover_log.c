/* SPDX-License-Identifier: MIT */
/*
 * How the log of a recorder that died is finished by somebody else.
 */
#include "leftover.h"

#include "cleanup.h"
#include "clock.h"
#include "ftrace_record.h"
#include "log_reader.h"
#include "log_writer.h"

#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>

DEFINE_CLEANUP(struct log_reader, log_reader_close);
DEFINE_CLEANUP(struct log_writer, log_writer_destroy);

/* The log and what it says of itself. */
struct unfinished {
	struct log_reader *reader;
	struct log_writer *writer;
	uint32_t n_channels; /* with those that are added */
};

static uint32_t find_device(const struct unfinished *log, uint32_t disk)
{
	const struct log_device *devices;
	size_t n = log_reader_devices(log->reader, &devices);

	for (uint32_t i = 0; disk && i < n; i++) {
		if (devices[i].disk == disk)
			return i;
	}
	return LOG_NO_CHANNEL;
}

/* A CPU that came online right before the end may have none in the log yet. */
static int find_channel(struct unfinished *log, const struct leftover *item, uint32_t *ret,
			struct why *why)
{
	const struct log_channel *channels;
	size_t n = log_reader_channels(log->reader, &channels);
	struct log_channel added = {
		.channel = log->n_channels,
		.device_index = find_device(log, item->disk),
		.cpu = item->cpu,
		.kind = item->kind,
	};
	int r;

	for (uint32_t i = 0; i < n; i++) {
		if (channels[i].device_index == added.device_index &&
		    channels[i].cpu == item->cpu && channels[i].kind == item->kind) {
			*ret = i;
			return 0;
		}
	}
	r = log_writer_channels(log->writer, &added, 1, why);
	if (r >= 0)
		*ret = log->n_channels++;
	return r;
}

static int append(struct unfinished *log, const struct leftover *item, struct why *why)
{
	size_t size = item->size;
	uint64_t offset;
	uint32_t channel;
	int r;

	/* It died before it had told the log of its devices. */
	if (item->disk && find_device(log, item->disk) == LOG_NO_CHANNEL)
		return 0;
	if (!item->size && !item->end_offset)
		return 0;
	r = find_channel(log, item, &channel, why);
	if (r < 0)
		return r;
	offset = log_writer_offset(log->writer, channel);
	/* What the recorder had in its memory is gone; what it had written is not written twice. */
	if (item->end_offset > offset && item->end_offset - offset > size)
		log_writer_skip(log->writer, channel, item->end_offset - offset - size);
	else if (item->end_offset)
		size = item->end_offset > offset ? (size_t)(item->end_offset - offset) : 0;
	return log_writer_data(log->writer, channel, item->bytes + item->size - size, size, why);
}

/* What was dropped since the recorder looked last. */
static int append_drops(struct unfinished *log, const struct leftover_drops *drops, struct why *why)
{
	struct log_drops window = {
		.device_index = find_device(log, drops->disk),
		.cpu = LOG_NO_CPU,
		.from_ns = log_reader_header(log->reader)->start_mono_ns,
		.to_ns = clock_mono_ns(),
		.count = drops->count,
	};
	const struct log_drops *told;
	size_t n = log_reader_drops(log->reader, &told);

	for (size_t i = 0; i < n; i++) {
		if (told[i].device_index != window.device_index)
			continue;
		window.count -= told[i].count < window.count ? told[i].count : window.count;
		if (told[i].to_ns > window.from_ns)
			window.from_ns = told[i].to_ns;
	}
	if (!window.count || window.device_index == LOG_NO_CHANNEL)
		return 0;
	return log_writer_drops(log->writer, &window, 1, why);
}

static int append_entries(struct unfinished *log, uint64_t entries, struct why *why)
{
	char text[64];
	int n = snprintf(text, sizeof(text), FTRACE_META_ENTRIES "=%" PRIu64, entries);

	if (!entries || log_reader_meta(log->reader, FTRACE_META_ENTRIES))
		return 0;
	return log_writer_meta(log->writer, text, (size_t)n + 1, why);
}

static int append_all(struct unfinished *log, const struct leftovers *leftovers, struct why *why)
{
	int r = 0;

	for (size_t i = 0; r >= 0 && i < leftovers->n; i++)
		r = append(log, &leftovers->items[i], why);
	for (size_t i = 0; r >= 0 && i < leftovers->n_drops; i++)
		r = append_drops(log, &leftovers->drops[i], why);
	if (r >= 0)
		r = append_entries(log, leftovers->entries, why);
	if (r >= 0)
		r = log_writer_clock(log->writer, why);
	return r < 0 ? r : log_writer_finish(log->writer, LOG_END_KILLED, why);
}

/* Somebody may have moved it, or put something else in its place. */
static bool is_named(const struct log_rescue *log)
{
	struct stat here, there;

	return fstat(log->fd, &here) == 0 && lstat(log->part, &there) == 0 &&
	       here.st_dev == there.st_dev && here.st_ino == there.st_ino;
}

int leftovers_finish_log(const struct leftovers *leftovers, const struct log_rescue *log,
			 struct why *why)
{
	_cleanup_(cleanup_log_reader_close) struct log_reader *reader = NULL;
	_cleanup_(cleanup_log_writer_destroy) struct log_writer *writer = NULL;
	struct unfinished unfinished;
	const struct log_channel *channels;
	int fd = fcntl(log->fd, F_DUPFD_CLOEXEC, 0);
	int r = fd < 0 ? why_errno(why, -errno, "cannot finish %s", log->part)
		       : log_reader_adopt_open(fd, &reader, why);

	if (r >= 0)
		r = log_writer_resume(log->fd, reader, &writer, why);
	if (r < 0)
		return r;
	unfinished = (struct unfinished){
		.reader = reader,
		.writer = writer,
		.n_channels = (uint32_t)log_reader_channels(reader, &channels),
	};
	r = append_all(&unfinished, leftovers, why);
	if (r >= 0 && fsync(log->fd) < 0)
		r = why_errno(why, -errno, "cannot write %s", log->part);
	if (r >= 0 && is_named(log))
		/* Whatever has its name by now is worth more: then this one stays aside, whole. */
		renameat2(AT_FDCWD, log->part, AT_FDCWD, log->path, RENAME_NOREPLACE);
	return r;
}
