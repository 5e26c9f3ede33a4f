/* SPDX-License-Identifier: MIT */
#include "files_sink.h"

#include "record_count.h"
#include "source_ftrace.h"
#include "wire.h"

#include <string.h>

struct file_channel {
	size_t file;
	uint64_t bytes;
	struct record_count count;
	/* Of ring-buffer pages only. */
	size_t *files;		/* by device */
	struct source *queue;	/* owned by @records */
	struct source *records; /* NULL: the bytes are records as they come */
};

struct files_sink {
	struct span_sink ops;
	struct blktrace_files *files;
	struct file_channel *channels;
	size_t n_channels;
	struct log_device *devices;
	size_t n_devices;
	bool has_facts; /* for channels of ring-buffer pages */
	struct ftrace_facts facts;
	bool discarded;
};

static int files_meta(void *context, const char *text, size_t size, struct why *why)
{
	struct files_sink *sink = context;

	(void)why; /* of a source without pages there are none */
	if (ftrace_facts_parse(text, size, &sink->facts) == 0)
		sink->has_facts = true;
	return 0;
}

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

/* Pages hold records of several devices, without all of their fields: they are rewritten. */
static int add_pages(struct files_sink *sink, struct file_channel *channel)
{
	_cleanup_free_ uint32_t *devices = calloc(sink->n_devices + 1, sizeof(*devices));
	int r;

	if (!devices || !sink->has_facts)
		return devices ? -EBADMSG : -ENOMEM;
	for (size_t i = 0; i < sink->n_devices; i++)
		devices[i] = sink->devices[i].device;
	r = source_queue_create(&channel->queue);
	return r < 0 ? r
		     : source_ftrace_adopt_create(channel->queue, &sink->facts, devices,
						  sink->n_devices, &channel->records);
}

static int add_channel(struct files_sink *sink, const struct log_channel *id, struct why *why)
{
	struct file_channel *channel = &sink->channels[sink->n_channels++];
	bool pages = id->kind == LOG_FTRACE_PAGES;
	int r;

	*channel = (struct file_channel){0};
	if (!pages)
		return blktrace_files_add(sink->files, sink->devices[id->device_index].name,
					  id->cpu, &channel->file, why);
	channel->files = calloc(sink->n_devices, sizeof(*channel->files));
	r = channel->files ? add_pages(sink, channel) : -ENOMEM;
	if (r < 0)
		return why_errno(why, r, "cannot write blktrace files");
	for (size_t i = 0; r == 0 && i < sink->n_devices; i++)
		r = blktrace_files_add(sink->files, sink->devices[i].name, id->cpu,
				       &channel->files[i], why);
	return r;
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
		int r = add_channel(sink, &channels[i], why);

		if (r < 0)
			return r;
	}
	return 0;
}

static int append(struct files_sink *sink, struct file_channel *channel, size_t file,
		  const void *bytes, size_t size, struct why *why)
{
	record_count_feed(&channel->count, bytes, size);
	return blktrace_files_append(sink->files, file, bytes, size, why);
}

static size_t find_device(const struct files_sink *sink, uint32_t device)
{
	size_t i = 0;

	while (i < sink->n_devices && sink->devices[i].device != device)
		i++;
	return i;
}

/* A span of whole records, each to the file of its device. */
static int append_records(struct files_sink *sink, struct file_channel *channel,
			  const struct span *span, struct why *why)
{
	size_t at = 0, size = 0;

	for (; at < span->size; at += size) {
		enum wire_status status;
		struct blkbox_event event;
		size_t device;
		int r;

		status = wire_decode(span->bytes + at, span->size - at, &size, &event);
		device = status == WIRE_OK ? find_device(sink, event.device) : sink->n_devices;
		if (device == sink->n_devices)
			return why_set(
				why, -EBADMSG,
				"the kernel's trace buffer has a record that makes no sense");
		r = append(sink, channel, channel->files[device], span->bytes + at, size, why);
		if (r < 0)
			return r;
	}
	return 0;
}

static int files_data(void *context, uint32_t channel_number, const void *bytes, size_t size,
		      struct why *why)
{
	struct files_sink *sink = context;
	struct file_channel *channel = &sink->channels[channel_number];
	struct span span;
	int r;

	channel->bytes += size;
	if (!channel->records)
		return append(sink, channel, channel->file, bytes, size, why);
	r = source_queue_append(channel->queue, bytes, size);
	if (r < 0)
		return why_errno(why, r, "cannot write blktrace files");
	while ((r = source_next(channel->records, &span, why)) > 0) {
		r = append_records(sink, channel, &span, why);
		if (r < 0)
			return r;
	}
	return r == -EAGAIN ? 0 : r;
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
		.meta = files_meta,
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
	for (size_t i = 0; i < sink->n_channels; i++) {
		source_destroy(sink->channels[i].records);
		free(sink->channels[i].files);
	}
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
