/* SPDX-License-Identifier: MIT */
#include "overview.h"

#include "grow.h"
#include "number.h"
#include "sequence.h"
#include "survey.h"
#include "wire.h"

#include <string.h>

static struct overview_device *add_device(struct overview *overview)
{
	struct overview_device *devices =
		grow_list(overview->devices, overview->n_devices, sizeof(*devices));

	if (!devices)
		return NULL;
	overview->devices = devices;
	devices[overview->n_devices] = (struct overview_device){0};
	return &devices[overview->n_devices++];
}

static struct overview_device *device_of_event(struct overview *overview,
					       const struct blkbox_event *event)
{
	struct overview_device *device;
	size_t at;

	if (index_find(&overview->device_places, event->device, &at))
		return &overview->devices[at];
	if (index_add(&overview->device_places, event->device, overview->n_devices) < 0)
		return NULL;
	device = add_device(overview);
	if (!device)
		return NULL;
	device->device = event->device;
	device->disk = event->device;
	device->protocol = event->protocol;
	snprintf(device->name, sizeof(device->name), "%u,%u", blkbox_device_major(event->device),
		 blkbox_device_minor(event->device));
	return device;
}

static struct overview_cpu *cpu_of_device(struct overview *overview, struct overview_device *device,
					  uint32_t cpu)
{
	uint64_t number = index_pair((uint32_t)(device - overview->devices), cpu);
	struct overview_cpu *cpus;
	size_t at;

	if (index_find(&overview->cpu_places, number, &at))
		return &device->cpus[at];
	cpus = grow_list(device->cpus, device->n_cpus, sizeof(*cpus));
	if (!cpus)
		return NULL;
	device->cpus = cpus;
	if (index_add(&overview->cpu_places, number, device->n_cpus) < 0)
		return NULL;
	cpus[device->n_cpus] = (struct overview_cpu){.cpu = cpu};
	return &cpus[device->n_cpus++];
}

static int take_devices(struct overview *overview, const struct input *input)
{
	const struct log_device *devices;
	size_t n = input_devices(input, &devices);

	for (size_t i = 0; i < n; i++) {
		struct overview_device *device = add_device(overview);
		size_t at;

		if (!device)
			return -ENOMEM;
		/* The first of a number gets the events that name it; a lost table has none. */
		if (!index_find(&overview->device_places, devices[i].device, &at) &&
		    index_add(&overview->device_places, devices[i].device, i) < 0)
			return -ENOMEM;
		device->device = devices[i].device;
		device->protocol = devices[i].protocol;
		device->partition = devices[i].flags & LOG_DEVICE_PARTITION;
		device->disk = devices[i].disk;
		device->start_sector = devices[i].start_sector;
		device->sectors = devices[i].sectors;
		snprintf(device->name, sizeof(device->name), "%.*s", LOG_NAME_BYTES - 1,
			 devices[i].name);
		if (!device->name[0])
			snprintf(device->name, sizeof(device->name), "device %zu", i);
	}
	return 0;
}

static bool totals_hold(struct log_reader *log)
{
	return log && log_health_whole(log_reader_health(log));
}

/* A relay channel of a whole log: END has counted its records. */
static int take_total(struct overview *overview, struct log_reader *log, uint32_t number,
		      const struct input_channel *channel)
{
	struct overview_cpu *cpu;
	struct log_total total;

	if (!log_reader_total(log, number, &total))
		return 0;
	cpu = cpu_of_device(overview, &overview->devices[channel->device_index], channel->cpu);
	if (!cpu)
		return -ENOMEM;
	cpu->events += total.events;
	cpu->notes += total.notes;
	cpu->bytes += total.bytes;
	return 0;
}

static void follow_time(struct overview *overview, const struct blkbox_event *event)
{
	uint64_t real_ns;

	if (!blkbox_event_is_note(event) && event->time_ns < overview->start_ns)
		overview->start_ns = event->time_ns;
	if (!blkbox_event_is_note(event) && event->time_ns > overview->end_ns)
		overview->end_ns = event->time_ns;
	if (!overview->has_real && blkbox_event_is_note(event) &&
	    event->action == BLKBOX_NOTE_TIMESTAMP && wire_pdu_timestamp(event, &real_ns)) {
		overview->has_real = true;
		overview->real_offset_ns = (int64_t)(real_ns - event->time_ns);
		overview->note_ns = event->time_ns;
	}
}

static void follow_cpu(struct overview *overview, struct overview_cpu *cpu,
		       const struct blkbox_event *event)
{
	if (event->time_ns >= cpu->newest_ns) {
		cpu->newest_ns = event->time_ns;
	} else if (cpu->newest_ns - event->time_ns > overview->step_back_ns) {
		overview->step_back_ns = cpu->newest_ns - event->time_ns;
		overview->step_back_cpu = event->cpu;
	}
}

static int count_event(struct overview *overview, const struct blkbox_event *event)
{
	struct overview_device *device = device_of_event(overview, event);
	struct overview_cpu *cpu = device ? cpu_of_device(overview, device, event->cpu) : NULL;

	if (!cpu)
		return -ENOMEM;
	if (blkbox_event_is_note(event)) {
		cpu->notes++;
	} else {
		cpu->events++;
		follow_cpu(overview, cpu, event);
		if (sequence_add(overview->sequence, 0, event) < 0)
			return -ENOMEM;
	}
	cpu->bytes += event->protocol == 1 ? WIRE_HEAD_MIN : WIRE_HEAD_MAX;
	cpu->bytes += event->pdu_bytes;
	cpu->bytes += event->cgroup_id ? sizeof(event->cgroup_id) : 0;
	follow_time(overview, event);
	return 0;
}

static void add_health(struct decoder_health *sum, const struct decoder_health *one)
{
	sum->events += one->events;
	sum->notes += one->notes;
	sum->good_bytes += one->good_bytes;
	sum->skips += one->skips;
	sum->skipped_bytes += one->skipped_bytes;
	sum->unknown_versions += one->unknown_versions;
	sum->cut_bytes += one->cut_bytes;
	sum->missing_bytes += one->missing_bytes;
	sum->gaps += one->gaps;
}

/* A channel that nobody has counted, or that has events of several devices. */
static int count_channel(struct overview *overview, struct input *input, size_t number,
			 struct why *why)
{
	_cleanup_(cleanup_decoder_destroy) struct decoder *decoder = NULL;
	const struct input_channel *channels;
	struct blkbox_event event;
	struct source *source; /* the decoder's */
	int r = input_source(input, number, &source, why);

	if (r < 0)
		return r;
	r = decoder_adopt_create(source, &decoder);
	if (r < 0)
		return why_set(why, r, "no memory");
	while ((r = decoder_next(decoder, &event, why)) > 0) {
		r = count_event(overview, &event);
		if (r < 0)
			return why_set(why, r, "no memory");
	}
	add_health(&overview->records, decoder_health(decoder));
	input_channels(input, &channels);
	if (channels[number].kind == LOG_FTRACE_PAGES)
		ftrace_counts_add(&overview->pages, source_ftrace_counts(source));
	overview->counted = true;
	return r;
}

static int take_channels(struct overview *overview, struct input *input, struct why *why)
{
	struct log_reader *log = input_log(input);
	const struct input_channel *channels;
	size_t n = input_channels(input, &channels);
	int r = 0;

	for (size_t i = 0; i < n && r >= 0; i++) {
		if (totals_hold(log) && channels[i].kind == LOG_RELAY_RECORDS &&
		    channels[i].device_index != LOG_NO_CHANNEL) {
			r = take_total(overview, log, (uint32_t)i, &channels[i]);
			if (r < 0)
				why_set(why, r, "no memory");
		} else {
			r = count_channel(overview, input, i, why);
		}
	}
	return r;
}

/* The kernel's own count of what it handed out, which a log of an ftrace recording has. */
static void check_entries(struct overview *overview, struct log_reader *log)
{
	const char *text = log_reader_meta(log, FTRACE_META_ENTRIES);
	uint64_t entries = ftrace_counts_entries(&overview->pages), told;

	if (!text || count_parse(text, &told, NULL) < 0)
		return;
	overview->missing_entries = told > entries ? told - entries : entries - told;
}

static int take_drops(struct overview *overview, struct log_reader *log)
{
	const struct log_drops *drops;
	size_t n = log_reader_drops(log, &drops);

	overview->losses = calloc(n + 1, sizeof(*drops));
	if (!overview->losses)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		if (drops[i].flags & LOG_DROPS_AT_STOP) {
			overview->dropped_at_stop += drops[i].count;
			continue;
		}
		overview->losses[overview->n_losses++] = drops[i];
		overview->dropped += drops[i].count;
		if (drops[i].device_index != LOG_NO_CHANNEL)
			overview->devices[drops[i].device_index].dropped += drops[i].count;
	}
	return 0;
}

static bool find_time(const struct log_reader *log, const char *key, uint64_t *ret_ns)
{
	const char *text = log_reader_meta(log, key);

	return text && count_parse(text, ret_ns, NULL) >= 0;
}

/*
 * A log that is whole tells from when to when its devices were traced; otherwise it was from its
 * opening to the last block.
 */
static void take_times(struct overview *overview, struct log_reader *log)
{
	const struct log_header *header = log_reader_header(log);
	const struct log_end *end = log_reader_end(log);
	uint64_t from_ns, to_ns;

	overview->start_ns = header->start_mono_ns;
	overview->end_ns = end ? end->end_mono_ns : log_reader_last_ns(log);
	if (find_time(log, LOG_META_RECORDED_FROM, &from_ns) &&
	    find_time(log, LOG_META_RECORDED_TO, &to_ns)) {
		overview->start_ns = from_ns;
		overview->end_ns = to_ns;
	}
	if (overview->end_ns < overview->start_ns)
		overview->end_ns = overview->start_ns;
	if (header->start_real_ns) {
		overview->has_real = true;
		overview->real_offset_ns = (int64_t)(header->start_real_ns - header->start_mono_ns);
	}
}

static int by_cpu(const void *a, const void *b)
{
	uint32_t x = ((const struct overview_cpu *)a)->cpu;
	uint32_t y = ((const struct overview_cpu *)b)->cpu;

	return (x > y) - (x < y);
}

static void add_up(struct overview *overview)
{
	for (size_t i = 0; i < overview->n_devices; i++) {
		struct overview_device *device = &overview->devices[i];

		if (device->n_cpus)
			qsort(device->cpus, device->n_cpus, sizeof(device->cpus[0]), by_cpu);
		for (size_t c = 0; c < device->n_cpus; c++) {
			device->events += device->cpus[c].events;
			device->notes += device->cpus[c].notes;
			device->bytes += device->cpus[c].bytes;
		}
		overview->events += device->events;
		overview->notes += device->notes;
		overview->bytes += device->bytes;
	}
}

static void add_sequences(struct overview *overview)
{
	const struct sequence_count *counts;
	size_t n = sequence_counts(overview->sequence, &counts);

	for (size_t i = 0; i < n; i++) {
		overview->sequence_gaps += counts[i].gaps;
		overview->sequence_missing += counts[i].missing;
	}
}

static int fill(struct overview *overview, struct input *input, struct why *why)
{
	struct log_reader *log = input_log(input);
	int r = sequence_create(&overview->sequence);

	if (r == 0)
		r = take_devices(overview, input);
	if (r < 0)
		return why_set(why, r, "no memory");
	r = take_channels(overview, input, why);
	if (r < 0)
		return r;
	if (log) {
		r = take_drops(overview, log);
		if (r < 0)
			return why_set(why, r, "no memory");
		take_times(overview, log);
		check_entries(overview, log);
	} else if (wire_is_other_clock(overview->start_ns, overview->end_ns, overview->note_ns)) {
		overview->has_real = false;
	}
	if (overview->start_ns == UINT64_MAX)
		overview->start_ns = 0;
	add_sequences(overview);
	add_up(overview);
	return 0;
}

int overview_init(struct overview *overview, struct input *input, struct why *why)
{
	int r;

	*overview = (struct overview){.start_ns = UINT64_MAX};
	r = fill(overview, input, why);
	if (r < 0)
		overview_deinit(overview);
	return r;
}

void overview_deinit(struct overview *overview)
{
	sequence_destroy(overview->sequence);
	for (size_t i = 0; i < overview->n_devices; i++)
		free(overview->devices[i].cpus);
	free(overview->devices);
	index_deinit(&overview->device_places);
	index_deinit(&overview->cpu_places);
	free(overview->losses);
	*overview = (struct overview){0};
}

bool overview_complete(const struct overview *overview, const struct input *input)
{
	struct log_reader *log = input_log(input);

	if (log && !log_health_whole(log_reader_health(log)))
		return false;
	if (log && log_reader_disturbed(log))
		return false;
	if (overview->missing_entries)
		return false;
	if (overview->counted && !decoder_health_is_whole(&overview->records))
		return false;
	if (overview->sequence_missing || overview->step_back_ns > SURVEY_STEP_BACK_MAX_NS)
		return false;
	return !overview->n_losses;
}
