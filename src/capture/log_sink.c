/* SPDX-License-Identifier: MIT */
#include "log_sink.h"

#include "aside.h"
#include "cleanup.h"
#include "log_writer.h"

#include <fcntl.h>
#include <sys/mman.h>

struct log_sink {
	struct span_sink ops;
	struct log_rescue rescue;
	struct log_writer *writer;
	struct aside aside; /* fd -1: in memory */
	int memory_fd;
	bool force;
	bool repeated; /* the tables, in front of the first data */
	bool write_through;
	bool finished;
	bool discarded;
};

static int sink_meta(void *context, const char *text, size_t size, struct why *why)
{
	struct log_sink *sink = context;

	return log_writer_meta(sink->writer, text, size, why);
}

static int sink_devices(void *context, const struct log_device *devices, size_t n, struct why *why)
{
	struct log_sink *sink = context;

	return log_writer_devices(sink->writer, devices, n, why);
}

static int sink_channels(void *context, const struct log_channel *channels, size_t n,
			 struct why *why)
{
	struct log_sink *sink = context;

	return log_writer_channels(sink->writer, channels, n, why);
}

static int sink_data(void *context, uint32_t channel, const void *bytes, size_t size,
		     struct why *why)
{
	struct log_sink *sink = context;
	uint64_t from;
	int r = 0;

	/* A log that is cut off has a second copy, too. */
	if (!sink->repeated)
		r = log_writer_repeat(sink->writer, why);
	sink->repeated = true;
	from = log_writer_file_bytes(sink->writer);
	if (r >= 0)
		r = log_writer_data(sink->writer, channel, bytes, size, why);
	/* A flusher thread would do the same later, in its own name. This does not wait. */
	if (r >= 0 && sink->write_through)
		sync_file_range(sink->aside.fd, (off_t)from,
				(off_t)(log_writer_file_bytes(sink->writer) - from),
				SYNC_FILE_RANGE_WRITE);
	return r;
}

static int sink_drops(void *context, const struct log_drops *drops, size_t n, struct why *why)
{
	struct log_sink *sink = context;

	return log_writer_drops(sink->writer, drops, n, why);
}

static int sink_names(void *context, const struct log_name *names, size_t n, struct why *why)
{
	struct log_sink *sink = context;

	return log_writer_names(sink->writer, names, n, why);
}

static int sink_clock(void *context, struct why *why)
{
	struct log_sink *sink = context;

	return log_writer_clock(sink->writer, why);
}

/* fsync before the rename: the name must never stand for a file that a crash could empty. */
static int sink_finish(void *context, enum log_end_reason reason, struct why *why)
{
	struct log_sink *sink = context;
	int r = log_writer_repeat(sink->writer, why);

	if (r >= 0)
		r = log_writer_finish(sink->writer, reason, why);
	if (r < 0 || sink->memory_fd >= 0) {
		sink->finished = r >= 0;
		return r;
	}
	/* EINVAL: a pipe or a device, which have nothing to sync. */
	if (fsync(sink->aside.fd) < 0 && errno != EINVAL)
		return why_errno(why, -errno, "cannot write %s", sink->aside.part);
	r = aside_commit(&sink->aside, sink->force, why);
	sink->finished = r >= 0;
	return r;
}

static void sink_write_through(void *context)
{
	struct log_sink *sink = context;

	sink->write_through = true;
}

static bool sink_retry(void *context)
{
	struct log_sink *sink = context;

	return log_writer_retry(sink->writer);
}

static void sink_total(void *context, uint32_t channel, struct log_total *ret)
{
	const struct log_sink *sink = context;

	log_writer_total(sink->writer, channel, ret);
}

static int create(const struct log_sink_options *options, struct log_sink **ret)
{
	struct log_sink *sink = calloc(1, sizeof(*sink));

	if (!sink)
		return -ENOMEM;
	*sink = (struct log_sink){
		.ops =
			{
				.context = sink,
				.meta = sink_meta,
				.devices = sink_devices,
				.channels = sink_channels,
				.data = sink_data,
				.drops = sink_drops,
				.names = sink_names,
				.clock = sink_clock,
				.finish = sink_finish,
				.retry = sink_retry,
				.write_through = sink_write_through,
				.total = sink_total,
			},
		.aside = {.fd = -1},
		.memory_fd = -1,
		.force = options->force,
	};
	*ret = sink;
	return 0;
}

static int create_writer(struct log_sink *sink, int fd, const struct log_sink_options *options,
			 struct why *why)
{
	struct log_writer_options writer = {.compress = options->compress};

	return log_writer_create(fd, &writer, &sink->writer, why);
}

int log_sink_create(const char *path, const struct log_sink_options *options, struct log_sink **ret,
		    struct why *why)
{
	struct log_sink *sink = NULL;
	int r = create(options, &sink);

	if (r < 0)
		return why_errno(why, r, "cannot create %s", path);
	r = aside_open(&sink->aside, path, options->force, why);
	if (r >= 0)
		r = create_writer(sink, sink->aside.fd, options, why);
	if (r >= 0 && sink->aside.part) {
		sink->rescue = (struct log_rescue){
			.fd = sink->aside.fd,
			.part = sink->aside.part,
			.path = sink->aside.path,
		};
		sink->ops.rescue = &sink->rescue;
	}
	if (r < 0) {
		log_sink_discard(sink);
		log_sink_destroy(sink);
		return r;
	}
	*ret = sink;
	return 0;
}

int log_sink_create_in_memory(const struct log_sink_options *options, struct log_sink **ret,
			      struct why *why)
{
	struct log_sink *sink = NULL;
	int r = create(options, &sink);

	if (r < 0)
		return why_errno(why, r, "cannot keep a log in memory");
	sink->memory_fd = memfd_create("blkbox-log", MFD_CLOEXEC);
	r = sink->memory_fd < 0 ? why_errno(why, -errno, "cannot keep a log in memory") : 0;
	if (r >= 0)
		r = create_writer(sink, sink->memory_fd, options, why);
	if (r < 0) {
		log_sink_destroy(sink);
		return r;
	}
	*ret = sink;
	return 0;
}

void log_sink_destroy(struct log_sink *sink)
{
	if (!sink)
		return;
	log_writer_destroy(sink->writer);
	/* A recording that failed on the way keeps what it has. */
	if (!sink->discarded)
		aside_keep(&sink->aside);
	aside_deinit(&sink->aside);
	close_keep_errno(sink->memory_fd);
	free(sink);
}

const struct span_sink *log_sink_span_sink(struct log_sink *sink)
{
	return &sink->ops;
}

void log_sink_discard(struct log_sink *sink)
{
	sink->discarded = true;
}

bool log_sink_finished(const struct log_sink *sink)
{
	return sink->finished;
}

const char *log_sink_path(const struct log_sink *sink)
{
	if (sink->finished || !sink->aside.part)
		return sink->aside.path;
	return sink->aside.part;
}

uint64_t log_sink_file_bytes(const struct log_sink *sink)
{
	return log_writer_file_bytes(sink->writer);
}

int log_sink_take_fd(struct log_sink *sink)
{
	return take_fd(&sink->memory_fd);
}
