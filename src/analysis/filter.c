/* SPDX-License-Identifier: MIT */
#include "filter.h"

#include "log_reader.h"

#include <fnmatch.h>
#include <string.h>

void filter_deinit(struct filter *filter)
{
	for (size_t i = 0; i < filter->n_devices; i++)
		free(filter->devices[i]);
	for (size_t i = 0; i < filter->n_comms; i++)
		free(filter->comms[i]);
	free(filter->devices);
	free(filter->comms);
	free(filter->cpus);
	free(filter->pids);
	free(filter->actions);
	free(filter->resolved);
	free(filter->own);
	*filter = (struct filter){0};
}

bool filter_is_set(const struct filter *filter)
{
	return filter->mask || filter->no_own || filter->no_messages || filter->n_devices ||
	       filter->n_cpus || filter->n_pids || filter->n_comms || filter->n_actions ||
	       filter->operations || filter->has_sectors || filter->has_bytes ||
	       filter->from.is_set || filter->to.is_set;
}

static bool is_device(const struct recording_device *device, const char *text)
{
	unsigned major, minor;
	int end = 0;

	if (!strncmp(text, "/dev/", 5))
		text += 5;
	if (!strcmp(device->name, text))
		return true;
	if (sscanf(text, "%u%*[:,]%u%n", &major, &minor, &end) == 2 && !text[end])
		return device->device == (major << 20 | minor);
	return false;
}

static int resolve_device(struct filter *filter, const struct recording_device *devices, size_t n,
			  const char *text, struct why *why)
{
	char known[256] = "";
	bool found = false;

	for (size_t i = 0; i < n; i++) {
		size_t used = strlen(known);

		snprintf(known + used, sizeof(known) - used, "%s%s", used ? ", " : "",
			 devices[i].name);
		if (!is_device(&devices[i], text))
			continue;
		filter->resolved[filter->n_resolved++] =
			(struct filter_device){devices[i].tag, devices[i].device};
		found = true;
	}
	if (found)
		return 0;
	return why_set(why, -ENODEV, "there is no device %s in the recording; it has: %s", text,
		       known);
}

/* Onto the clock that the events are compared by. */
static int resolve_moment(const struct filter *filter, const struct moment *moment,
			  const struct recording_info *info, uint64_t *ret_ns, struct why *why)
{
	if (!moment->is_set)
		return 0;
	if (!moment->is_wall) {
		*ret_ns = info->start_ns + moment->ns;
		if (*ret_ns < info->start_ns)
			*ret_ns = UINT64_MAX;
		return 0;
	}
	if (!info->has_real)
		return why_set(why, -ENODATA,
			       "the recording does not tell the wall clock (no timestamp note on "
			       "the clock of its events); "
			       "give seconds from its start");
	/* Before the machine was booted is before everything. */
	if (filter->recording)
		*ret_ns = moment->ns;
	else if ((int64_t)moment->ns < info->real_offset_ns)
		*ret_ns = 0;
	else
		*ret_ns = moment->ns - (uint64_t)info->real_offset_ns;
	return 0;
}

int filter_resolve_on(struct filter *filter, const struct recording_info *info,
		      const struct recording_device *devices, size_t n, struct why *why)
{
	int r;

	free(filter->resolved);
	filter->resolved = calloc(n * filter->n_devices + 1, sizeof(*filter->resolved));
	filter->n_resolved = 0;
	if (!filter->resolved)
		return why_set(why, -ENOMEM, "no memory");
	for (size_t i = 0; i < filter->n_devices; i++) {
		r = resolve_device(filter, devices, n, filter->devices[i], why);
		if (r < 0)
			return r;
	}
	filter->from_ns = 0;
	filter->to_ns = UINT64_MAX;
	r = resolve_moment(filter, &filter->from, info, &filter->from_ns, why);
	if (r == 0)
		r = resolve_moment(filter, &filter->to, info, &filter->to_ns, why);
	return r;
}

/* The threads of the recorder, as a log names them. */
static int add_own_threads(struct filter *filter, const struct recording *recording, uint32_t tag)
{
	const struct log_reader *log = input_log(recording_input(recording, tag));
	const char *text = log ? log_reader_meta(log, LOG_META_OWN_THREADS) : NULL;

	while (text && *text) {
		struct filter_thread *own =
			reallocarray(filter->own, filter->n_own + 1, sizeof(*own));
		char *end;
		unsigned long pid = strtoul(text, &end, 10);

		if (!own)
			return -ENOMEM;
		filter->own = own;
		if (end == text)
			return 0;
		own[filter->n_own++] = (struct filter_thread){tag, (uint32_t)pid};
		text = *end == ',' ? end + 1 : end;
	}
	return 0;
}

static bool is_own(const struct filter *filter, uint32_t tag, uint32_t pid)
{
	for (size_t i = 0; i < filter->n_own; i++) {
		if (filter->own[i].tag == tag && filter->own[i].pid == pid)
			return true;
	}
	return false;
}

int filter_resolve(struct filter *filter, const struct recording *recording, struct why *why)
{
	const struct recording_device *devices;
	size_t n = recording_devices(recording, &devices);

	filter->recording = recording;
	filter->n_own = 0;
	for (uint32_t i = 0; filter->no_own && i < recording_inputs(recording); i++) {
		if (add_own_threads(filter, recording, i) < 0)
			return why_set(why, -ENOMEM, "no memory");
	}
	return filter_resolve_on(filter, recording_info(recording), devices, n, why);
}

static bool has_number(const uint32_t *numbers, size_t n, uint32_t number)
{
	for (size_t i = 0; i < n; i++) {
		if (numbers[i] == number)
			return true;
	}
	return !n;
}

static bool passes_device(const struct filter *filter, uint32_t tag, uint32_t device)
{
	for (size_t i = 0; i < filter->n_resolved; i++) {
		if (filter->resolved[i].device == device && filter->resolved[i].tag == tag)
			return true;
	}
	return !filter->n_devices;
}

static bool passes_action(const struct filter *filter, const struct blkbox_event *event)
{
	for (size_t i = 0; i < filter->n_actions; i++) {
		if (action_matches(&filter->actions[i], event))
			return true;
	}
	return !filter->n_actions;
}

static bool passes_comm(const struct filter *filter, const char *comm)
{
	for (size_t i = 0; comm && i < filter->n_comms; i++) {
		if (fnmatch(filter->comms[i], comm, 0) == 0)
			return true;
	}
	return !filter->n_comms;
}

static bool passes_sectors(const struct filter *filter, const struct blkbox_event *event)
{
	uint64_t sectors = event->bytes / 512;
	uint64_t last = event->sector + (sectors ? sectors - 1 : 0);

	if (!filter->has_sectors)
		return true;
	/* Notes and plugs have no place. */
	if (blkbox_event_is_note(event) || event->action == BLKBOX_PLUG ||
	    event->action == BLKBOX_UNPLUG || event->action == BLKBOX_UNPLUG_TIMER)
		return false;
	return event->sector <= filter->last_sector && last >= filter->first_sector;
}

/* @time_ns on the clock of @moment. */
static uint64_t on_clock(const struct filter *filter, const struct moment *moment, uint32_t tag,
			 uint64_t time_ns)
{
	if (!moment->is_wall || !filter->recording)
		return time_ns;
	return time_ns + (uint64_t)recording_real_offset_ns(filter->recording, tag, time_ns);
}

static bool is_before(const struct filter *filter, uint32_t tag, uint64_t time_ns)
{
	return filter->from.is_set &&
	       on_clock(filter, &filter->from, tag, time_ns) < filter->from_ns;
}

static bool is_behind(const struct filter *filter, uint32_t tag, uint64_t time_ns)
{
	return filter->to.is_set && on_clock(filter, &filter->to, tag, time_ns) > filter->to_ns;
}

bool filter_passes(const struct filter *filter, const struct merge_item *item, const char *comm)
{
	const struct blkbox_event *event = &item->event;

	if (is_before(filter, item->tag, event->time_ns) ||
	    is_behind(filter, item->tag, event->time_ns))
		return false;
	if (filter->no_own && is_own(filter, item->tag, event->pid))
		return false;
	if (filter->no_messages && blkbox_event_is_note(event) &&
	    event->action == BLKBOX_NOTE_MESSAGE)
		return false;
	if (filter->mask && !(event->categories & filter->mask))
		return false;
	if (filter->operations && !(filter->operations & 1u << operation_of(event)))
		return false;
	if (filter->has_bytes &&
	    (event->bytes < filter->min_bytes || event->bytes > filter->max_bytes))
		return false;
	return passes_device(filter, item->tag, event->device) &&
	       has_number(filter->cpus, filter->n_cpus, event->cpu) &&
	       has_number(filter->pids, filter->n_pids, event->pid) &&
	       passes_action(filter, event) && passes_sectors(filter, event) &&
	       passes_comm(filter, comm);
}

bool filter_passes_moment(const struct filter *filter, uint32_t tag, uint32_t device,
			  uint64_t time_ns)
{
	return !is_before(filter, tag, time_ns) && !is_behind(filter, tag, time_ns) &&
	       passes_device(filter, tag, device);
}

bool filter_passes_loss(const struct filter *filter, const struct recording_loss *loss)
{
	bool device = !filter->n_devices;

	if (is_before(filter, loss->tag, loss->to_ns) ||
	    is_behind(filter, loss->tag, loss->from_ns))
		return false;
	/* Device 0 stands for all of its input. */
	for (size_t i = 0; i < filter->n_resolved && !device; i++)
		device = filter->resolved[i].tag == loss->tag &&
			 (!loss->device || filter->resolved[i].device == loss->device);
	return device &&
	       (loss->cpu == LOG_NO_CPU || has_number(filter->cpus, filter->n_cpus, loss->cpu));
}
