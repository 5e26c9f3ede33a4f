/* SPDX-License-Identifier: MIT */
#include "input_private.h"

#include "source_ftrace.h"

#include <string.h>

static int add_channel(struct input *input, const struct log_channel *c)
{
	struct input_channel channel = {
		.device_index = c->device_index,
		.cpu = c->cpu,
		.kind = c->kind,
		.size_bytes = log_reader_channel_bytes(input->log, c->channel),
	};
	int r;

	if (c->device_index < input->n_devices)
		r = asprintf(&channel.name, "CPU %u of %.*s in %s", c->cpu, LOG_NAME_BYTES,
			     input->devices[c->device_index].name, input->name);
	else
		r = asprintf(&channel.name, "CPU %u in %s", c->cpu, input->name);
	if (r < 0)
		channel.name = NULL;
	return input_add_channel(input, &channel, -1);
}

int input_open_log(struct input *input, int fd, struct why *why)
{
	const struct log_channel *channels;
	const struct log_device *devices;
	size_t n;
	int r = log_reader_adopt_open(fd, &input->log, why);

	if (r < 0)
		return why_prefix(why, r, "%s", input->name);
	input->kind = INPUT_LOG;
	n = log_reader_devices(input->log, &devices);
	input->devices = n ? calloc(n, sizeof(*devices)) : NULL;
	if (n && !input->devices)
		return why_set(why, -ENOMEM, "no memory");
	if (n)
		memcpy(input->devices, devices, n * sizeof(*devices));
	input->n_devices = n;
	n = log_reader_channels(input->log, &channels);
	for (size_t i = 0; i < n; i++) {
		r = add_channel(input, &channels[i]);
		if (r < 0)
			return why_set(why, r, "no memory");
	}
	return 0;
}

static const char *meta_value(const void *context, const char *key)
{
	return log_reader_meta(context, key);
}

/*
 * Only the devices of the log: the buffer of pages is the whole machine's. If the log has lost its
 * table of devices (its device number is then 0), a stranger's events are better than none.
 */
static int wrap_pages(struct input *input, const char *name, struct source *pages_,
		      struct source **ret, struct why *why)
{
	_cleanup_(cleanup_source_destroy) struct source *pages = pages_;
	_cleanup_free_ uint32_t *devices = calloc(input->n_devices + 1, sizeof(*devices));
	struct ftrace_facts facts;
	size_t n = 0;

	if (!devices)
		return why_set(why, -ENOMEM, "no memory");
	for (size_t i = 0; i < input->n_devices; i++) {
		if (input->devices[i].device)
			devices[n++] = input->devices[i].device;
	}
	if (ftrace_facts_read(meta_value, input->log, &facts) < 0)
		return why_set(why, -EBADMSG,
			       "%s cannot be read: what the log tells about the layout of its "
			       "ring-buffer pages is damaged or missing",
			       name);
	if (source_ftrace_adopt_create(take_ptr(pages), &facts, devices, n, ret) < 0)
		return why_set(why, -ENOMEM, "no memory");
	return 0;
}

int input_log_source(struct input *input, size_t channel, struct source **ret, struct why *why)
{
	const struct input_channel *c = &input->channels[channel];
	struct source *source;
	int r;

	if (c->kind != LOG_RELAY_RECORDS && c->kind != LOG_FTRACE_PAGES)
		return why_set(why, -ENOTSUP, "%s: its kind of data (%u) is not known", c->name,
			       c->kind);
	r = source_log_create(input->log, (uint32_t)channel, &source);
	if (r < 0)
		return why_errno(why, r, "cannot read %s", c->name);
	if (c->kind == LOG_FTRACE_PAGES)
		return wrap_pages(input, c->name, source, ret, why);
	*ret = source;
	return 0;
}
