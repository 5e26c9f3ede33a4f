/* SPDX-License-Identifier: MIT */
#include "files_sink.h"

#include "record_count.h"

#include <string.h>

struct file_channel {
	size_t file;
	uint64_t bytes;
	struct record_count count;
};

struct files_sink {
	struct span_sink ops;
	struct blktrace_files *files;
	struct file_channel *channels;
	size_t n_channels;
	struct log_device *devices;
	size_t n_devices;
	bool discarded;
};

static int files_devices(void *context, const struct log_device *devices, size_t n, struct why *why)
{
	struct files_sink *sink = context;

	sink->devices = calloc(n, sizeof(*devices));
	if (!sink->devices)
		return why_errno(why, -ENOMEM, "cannot write blktrace files");
	memcpy(sink->devices, devices, n * sizeof(*devices));
	sink->n_devices = n;
	return 0;
}

static int files_channels(void *context, const struct log_channel *channels, size_t n,
			  struct why *why)
{
	struct files_sink *sink = context;
	struct file_channel *more =
		reallocarray(sink->channels, sink->n_channels + n, sizeof(*more));

	if (!more)
		return why_errno(why, -ENOMEM, "cannot write blktrace files");
	sink->channels = more;
	for (size_t i = 0; i < n; i++) {
		struct file_channel *channel = &more[sink->n_channels];
		int r;

		*channel = (struct file_channel){0};
		if (channels[i].device_index >= sink->n_devices)
			return why_set(why, -ENOTSUP,
				       "events of the ftrace source are not blktrace files yet: "
				       "record a log and use blkbox export");
		r = blktrace_files_add(sink->files, sink->devices[channels[i].device_index].name,
				       channels[i].cpu, &channel->file, why);
		if (r < 0)
			return r;
		sink->n_channels++;
	}
	return 0;
}

static int files_data(void *context, uint32_t channel_number, const void *bytes, size_t size,
		      struct why *why)
{
	struct files_sink *sink = context;
	struct file_channel *channel = &sink->channels[channel_number];

	channel->bytes += size;
	record_count_feed(&channel->count, bytes, size);
	return blktrace_files_append(sink->files, channel->file, bytes, size, why);
}

static int files_finish(void *context, enum log_end_reason reason, struct why *why)
{
	struct files_sink *sink = context;

	(void)reason;
	return blktrace_files_commit(sink->files, why);
}

static void files_total(void *context, uint32_t channel, struct log_total *ret)
{
	const struct files_sink *sink = context;

	*ret = (struct log_total){.channel = channel};
	if (channel >= sink->n_channels)
		return;
	ret->bytes = sink->channels[channel].bytes;
	ret->events = sink->channels[channel].count.events;
	ret->notes = sink->channels[channel].count.notes;
}

int files_sink_adopt_create(struct blktrace_files *files, struct files_sink **ret)
{
	struct files_sink *sink = calloc(1, sizeof(*sink));

	if (!sink) {
		blktrace_files_destroy(files);
		return -ENOMEM;
	}
	sink->files = files;
	sink->ops = (struct span_sink){
		.context = sink,
		.devices = files_devices,
		.channels = files_channels,
		.data = files_data,
		.finish = files_finish,
		.total = files_total,
	};
	*ret = sink;
	return 0;
}

void files_sink_destroy(struct files_sink *sink)
{
	if (!sink)
		return;
	/* A recording that failed on the way keeps what it has. */
	if (!sink->discarded)
		blktrace_files_keep(sink->files);
	blktrace_files_destroy(sink->files);
	free(sink->channels);
	free(sink->devices);
	free(sink);
}

const struct span_sink *files_sink_span_sink(struct files_sink *sink)
{
	return &sink->ops;
}

void files_sink_discard(struct files_sink *sink)
{
	sink->discarded = true;
}
