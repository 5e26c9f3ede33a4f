/* SPDX-License-Identifier: MIT */
#include "input_private.h"

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
