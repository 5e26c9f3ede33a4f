/* SPDX-License-Identifier: MIT */
#include "recording_private.h"

#include "grow.h"

#include <string.h>

static struct recording_device *find_device(struct recording *recording, uint32_t tag,
					    uint32_t device)
{
	size_t at = recording_device_place(recording, tag, device);

	return at < recording->n_devices ? &recording->devices[at] : NULL;
}

static struct recording_device *add_device(struct recording *recording, uint32_t tag,
					   uint32_t device)
{
	struct recording_device *devices =
		grow_list(recording->devices, recording->n_devices, sizeof(*recording->devices));
	struct recording_device *new;

	if (!devices)
		return NULL;
	recording->devices = devices;
	if (index_add(&recording->device_places, index_pair(tag, device), recording->n_devices) < 0)
		return NULL;
	new = &devices[recording->n_devices++];
	*new = (struct recording_device){.tag = tag, .device = device};
	snprintf(new->name, sizeof(new->name), "%u,%u", blkbox_device_major(device),
		 blkbox_device_minor(device));
	return new;
}

/* The devices that the input names; a foreign set without records has none. */
static int add_named(struct recording *recording, uint32_t tag)
{
	const struct log_device *devices;
	size_t n = input_devices(recording->parts[tag].input, &devices);

	for (size_t i = 0; i < n; i++) {
		struct recording_device *device;

		if (find_device(recording, tag, devices[i].device))
			continue;
		device = add_device(recording, tag, devices[i].device);
		if (!device)
			return -ENOMEM;
		device->sectors = devices[i].sectors;
		device->protocol = (uint8_t)devices[i].protocol;
		if (devices[i].name[0])
			snprintf(device->name, sizeof(device->name), "%.*s", LOG_NAME_BYTES - 1,
				 devices[i].name);
	}
	return 0;
}

static int add_survey(struct recording *recording, uint32_t tag, const struct survey *s)
{
	struct recording_info *info = &recording->info;
	uint64_t shift = (uint64_t)recording->parts[tag].shift_ns;

	for (size_t i = 0; i < s->n_devices; i++) {
		struct recording_device *device = find_device(recording, tag, s->devices[i].device);

		if (!device)
			device = add_device(recording, tag, s->devices[i].device);
		if (!device)
			return -ENOMEM;
		device->events += s->devices[i].events;
		device->notes += s->devices[i].notes;
		if (!device->protocol)
			device->protocol = s->devices[i].protocol;
	}
	info->events += s->health.events;
	info->notes += s->health.notes;
	if (s->first_event_ns != UINT64_MAX && s->first_event_ns + shift < info->start_ns)
		info->start_ns = s->first_event_ns + shift;
	/* Not those of notes: blkparse -d leaves them on another clock. */
	if (s->first_event_ns != UINT64_MAX && s->last_event_ns + shift > info->last_ns)
		info->last_ns = s->last_event_ns + shift;
	return 0;
}

/* From the first to the last event of an input. */
static void set_spans(struct recording *recording, uint32_t tag)
{
	const struct part *part = &recording->parts[tag];
	uint64_t shift = (uint64_t)part->shift_ns, first_ns = UINT64_MAX, last_ns = 0;

	for (size_t i = 0; i < part->n_surveys; i++) {
		const struct survey *s = &part->surveys[i];

		if (s->first_event_ns == UINT64_MAX)
			continue;
		if (s->first_event_ns + shift < first_ns)
			first_ns = s->first_event_ns + shift;
		if (s->last_event_ns + shift > last_ns)
			last_ns = s->last_event_ns + shift;
	}
	for (size_t i = 0; i < recording->n_devices && first_ns != UINT64_MAX; i++) {
		struct recording_device *device = &recording->devices[i];

		if (device->tag != tag)
			continue;
		device->start_ns = first_ns;
		device->last_ns = last_ns;
	}
}

static int add_losses(struct recording *recording, uint32_t tag)
{
	const struct part *part = &recording->parts[tag];
	struct log_reader *log = input_log(part->input);
	struct recording_loss *losses;
	const struct log_drops *drops;
	const struct log_device *devices;
	size_t n, n_devices;

	if (!log)
		return 0;
	n = log_reader_drops(log, &drops);
	n_devices = log_reader_devices(log, &devices);
	losses = reallocarray(recording->losses, recording->n_losses + n + 1, sizeof(*losses));
	if (!losses)
		return -ENOMEM;
	recording->losses = losses;
	for (size_t i = 0; i < n; i++) {
		/* One false count for each CPU when a trace is stopped: no loss. */
		if (drops[i].flags & LOG_DROPS_AT_STOP)
			continue;
		losses[recording->n_losses++] = (struct recording_loss){
			.device = drops[i].device_index < n_devices
					  ? devices[drops[i].device_index].device
					  : 0,
			.cpu = drops[i].cpu,
			.from_ns = drops[i].from_ns + (uint64_t)part->shift_ns,
			.to_ns = drops[i].to_ns + (uint64_t)part->shift_ns,
			.count = drops[i].count,
			.tag = tag,
		};
		recording->info.dropped += drops[i].count;
	}
	return 0;
}

int recording_summarise(struct recording *recording)
{
	struct recording_info *info = &recording->info;
	int r = 0;

	info->start_ns = UINT64_MAX;
	for (size_t tag = 0; tag < recording->n_parts && r == 0; tag++) {
		const struct part *part = &recording->parts[tag];

		r = add_named(recording, (uint32_t)tag);
		for (size_t i = 0; i < part->n_surveys && r == 0; i++)
			r = add_survey(recording, (uint32_t)tag, &part->surveys[i]);
		if (r == 0)
			set_spans(recording, (uint32_t)tag);
		if (r == 0)
			r = add_losses(recording, (uint32_t)tag);
	}
	/* Notes only: time starts with the first of them. */
	for (size_t tag = 0; tag < recording->n_parts && !info->events; tag++) {
		const struct part *part = &recording->parts[tag];

		for (size_t i = 0; i < part->n_surveys; i++) {
			uint64_t first_ns = part->surveys[i].first_ns;

			if (first_ns != UINT64_MAX &&
			    first_ns + (uint64_t)part->shift_ns < info->start_ns)
				info->start_ns = first_ns + (uint64_t)part->shift_ns;
			if (first_ns != UINT64_MAX &&
			    part->surveys[i].last_ns + (uint64_t)part->shift_ns > info->last_ns)
				info->last_ns = part->surveys[i].last_ns + (uint64_t)part->shift_ns;
		}
	}
	if (info->start_ns == UINT64_MAX)
		info->start_ns = 0;
	return r;
}
