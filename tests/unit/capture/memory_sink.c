/* SPDX-License-Identifier: MIT */
#include "memory_sink.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int keep_meta(void *context, const char *text, size_t size, struct why *why)
{
	struct memory_sink *sink = context;

	(void)why;
	sink->has_meta = size && text[size - 1] == '\0';
	return 0;
}

static int keep_devices(void *context, const struct log_device *devices, size_t n, struct why *why)
{
	struct memory_sink *sink = context;

	(void)devices;
	(void)why;
	sink->n_devices = n;
	return 0;
}

static int keep_channels(void *context, const struct log_channel *channels, size_t n,
			 struct why *why)
{
	struct memory_sink *sink = context;

	for (size_t i = 0; i < n; i++) {
		if (channels[i].channel != sink->n_channels)
			return why_set(why, -EINVAL, "channels are not numbered on");
		sink->channels[sink->n_channels++].id = channels[i];
	}
	return 0;
}

static int keep_data(void *context, uint32_t number, const void *bytes, size_t size,
		     struct why *why)
{
	struct memory_sink *sink = context;
	struct memory_channel *channel = &sink->channels[number];

	if (sink->data_delay_us)
		usleep(sink->data_delay_us);
	if (sink->data_error)
		return why_errno(why, sink->data_error, "cannot write");
	if (number >= sink->n_channels)
		return why_set(why, -EINVAL, "a channel that was not announced");
	channel->bytes = realloc(channel->bytes, channel->size + size);
	memcpy(channel->bytes + channel->size, bytes, size);
	channel->size += size;
	return 0;
}

static int keep_drops(void *context, const struct log_drops *drops, size_t n, struct why *why)
{
	struct memory_sink *sink = context;

	(void)why;
	sink->drops = reallocarray(sink->drops, sink->n_drops + n, sizeof(*drops));
	memcpy(sink->drops + sink->n_drops, drops, n * sizeof(*drops));
	sink->n_drops += n;
	return 0;
}

static int keep_end(void *context, enum log_end_reason reason, struct why *why)
{
	struct memory_sink *sink = context;

	(void)why;
	sink->finished = true;
	sink->reason = reason;
	return 0;
}

static void count(void *context, uint32_t channel, struct log_total *ret)
{
	const struct memory_sink *sink = context;

	*ret = (struct log_total){.channel = channel, .bytes = sink->channels[channel].size};
	ret->events = ret->bytes / 48; /* the tests' records are all v1 without payload */
}

static bool retry(void *context)
{
	const struct memory_sink *sink = context;

	return sink->may_pass;
}

void memory_sink_init(struct memory_sink *sink)
{
	*sink = (struct memory_sink){0};
	sink->ops = (struct span_sink){
		.context = sink,
		.meta = keep_meta,
		.devices = keep_devices,
		.channels = keep_channels,
		.data = keep_data,
		.drops = keep_drops,
		.finish = keep_end,
		.retry = retry,
		.total = count,
	};
}

void memory_sink_deinit(struct memory_sink *sink)
{
	for (size_t i = 0; i < sink->n_channels; i++)
		free(sink->channels[i].bytes);
	free(sink->drops);
}

const struct memory_channel *memory_sink_channel(const struct memory_sink *sink,
						 uint32_t device_index, uint32_t cpu)
{
	for (size_t i = 0; i < sink->n_channels; i++) {
		if (sink->channels[i].id.device_index == device_index &&
		    sink->channels[i].id.cpu == cpu)
			return &sink->channels[i];
	}
	return NULL;
}
