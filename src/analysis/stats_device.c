/* SPDX-License-Identifier: MIT */
#include "stats_private.h"

#include "wire.h"

#include <string.h>

static void count_losses(const struct stats *stats, struct stats_device *device)
{
	const struct recording_loss *losses;
	size_t n = recording_losses(stats->recording, &losses);
	uint64_t end_ns = 0;

	for (size_t i = 0; i < n; i++) {
		uint64_t from_ns = losses[i].from_ns;

		if (losses[i].tag != device->tag ||
		    (losses[i].device && losses[i].device != device->device))
			continue;
		device->dropped += losses[i].count;
		device->loss_windows++;
		/* Windows of several CPUs cover each other. */
		if (from_ns < end_ns)
			from_ns = end_ns;
		if (losses[i].to_ns > from_ns)
			device->lost_ns += losses[i].to_ns - from_ns;
		if (losses[i].to_ns > end_ns)
			end_ns = losses[i].to_ns;
	}
}

static void set_watched(const struct stats_result *result, const struct recording_device *from,
			struct stats_device *device)
{
	device->from_ns = from->start_ns > result->from_ns ? from->start_ns : result->from_ns;
	device->to_ns = from->last_ns < result->to_ns ? from->last_ns : result->to_ns;
	/* Idle from the start, as far as anybody knows. */
	if (from->start_ns)
		device->depth.last_ns = from->start_ns;
}

int devices_create(struct stats *stats)
{
	struct stats_result *result = &stats->result;
	const struct recording_device *devices;
	size_t n = recording_devices(stats->recording, &devices);
	int r = 0;

	result->devices = calloc(n + 1, sizeof(*result->devices));
	if (!result->devices || gaps_create(n, &stats->gaps) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < n && r == 0; i++) {
		struct stats_device *device = &result->devices[i];

		device->tag = devices[i].tag;
		device->device = devices[i].device;
		device->name = devices[i].name;
		device->protocol = devices[i].protocol;
		device->all.tag = device->tag;
		device->all.device = device->device;
		count_losses(stats, device);
		set_watched(result, &devices[i], device);
		if (i < STATS_SERIES_MAX)
			r = series_create(&device->series, result->from_ns, result->to_ns);
	}
	result->n_devices = n;
	return r;
}

void devices_destroy(struct stats *stats)
{
	for (size_t i = 0; stats->result.devices && i < stats->result.n_devices; i++) {
		struct stats_device *device = &stats->result.devices[i];

		for (unsigned o = 0; o < OPERATION_COUNT; o++) {
			if (device->operations[o])
				stats_group_deinit(device->operations[o]);
			free(device->operations[o]);
		}
		stats_group_deinit(&device->all);
		histogram_deinit(&device->queue_seek.distance);
		histogram_deinit(&device->issue_seek.distance);
		histogram_deinit(&device->plugs.plugged_ns);
		histogram_deinit(&device->plugs.requests);
		histogram_deinit(&device->plugs.timer_requests);
		histogram_deinit(&device->depth.idle_ns);
		stats_series_deinit(&device->series);
	}
	free(stats->result.devices);
	gaps_destroy(stats->gaps);
}

struct stats_device *device_of(struct stats *stats, uint32_t tag, uint32_t number)
{
	struct stats_device *device = stats->last_device;
	size_t place;

	if (device && device->device == number && device->tag == tag)
		return device;
	place = recording_device_place(stats->recording, tag, number);
	if (place == stats->result.n_devices)
		return NULL;
	stats->last_device = &stats->result.devices[place];
	return stats->last_device;
}

static bool is_busy(const struct stats_device *device)
{
	return device->depth.issued || (device->depth.open && !device->has_issue);
}

void device_has_requests(struct stats_device *device)
{
	device->has_issue = true;
	device->depth.busy_ns = 0;
	device->depth.idle_since_ns = 0;
	histogram_deinit(&device->depth.idle_ns);
	for (size_t i = 0; i < device->series.n; i++)
		device->series.buckets[i].busy_ns = 0;
}

/* The time up to now, in which the depth was what it was. */
static void account(struct stats *stats, struct stats_device *device, uint64_t now_ns)
{
	struct stats_depth *depth = &device->depth;
	uint64_t from_ns = depth->last_ns > device->from_ns ? depth->last_ns : device->from_ns;
	uint64_t to_ns = now_ns < device->to_ns ? now_ns : device->to_ns;
	bool busy = is_busy(device);
	uint64_t ns;

	if (!depth->last_ns || to_ns <= from_ns)
		return;
	if (!is_trusted(stats, device, depth->last_ns)) {
		depth->idle_since_ns = 0;
		return;
	}
	ns = to_ns - from_ns;
	depth->trusted_ns += ns;
	depth->busy_ns += busy ? ns : 0;
	depth->issued_sum += (unsigned __int128)depth->issued * ns;
	depth->open_sum += (unsigned __int128)depth->open * ns;
	series_depth(&device->series, from_ns, to_ns, depth, busy);
}

void device_account_end(struct stats *stats, struct stats_device *device)
{
	account(stats, device, device->to_ns);
}

int device_depth(struct stats *stats, struct stats_device *device, uint64_t now_ns)
{
	struct stats_depth *depth = &device->depth;
	struct track_now now = device->now ? *device->now : (struct track_now){0};
	bool was_busy = is_busy(device), busy;
	int r = 0;

	if (now.issued == depth->issued && now.open == depth->open && depth->last_ns)
		return 0;
	account(stats, device, now_ns);
	busy = now.issued || (now.open && !device->has_issue);
	if (busy && depth->idle_since_ns && now_ns >= depth->idle_since_ns &&
	    now_ns >= stats->result.from_ns && now_ns <= stats->result.to_ns)
		r = histogram_add(&depth->idle_ns, now_ns - depth->idle_since_ns);
	if (busy)
		depth->idle_since_ns = 0;
	else if (was_busy)
		depth->idle_since_ns = now_ns;
	depth->issued = now.issued;
	depth->open = now.open;
	depth->last_ns = now_ns;
	if (now_ns >= stats->result.from_ns && now_ns <= stats->result.to_ns) {
		if (now.issued > depth->issued_max)
			depth->issued_max = now.issued;
		if (now.open > depth->open_max)
			depth->open_max = now.open;
	}
	return r;
}

int seek_add(struct stats_seek *seek, uint64_t sector, uint64_t bytes)
{
	uint64_t distance = sector > seek->next_sector ? sector - seek->next_sector
						       : seek->next_sector - sector;
	int r = 0;

	if (seek->has_last) {
		r = histogram_add(&seek->distance, distance);
		seek->sequential += !distance;
	}
	seek->has_last = true;
	seek->next_sector = sector + bytes / 512;
	return r;
}

static int begin_plug(struct stats *stats, struct stats_device *device, const struct plug_key *key,
		      uint64_t now_ns)
{
	struct plug *plug;

	HASH_FIND(hh, stats->plugs, key, sizeof(*key), plug);
	device->plugs.plugs++;
	if (plug) {
		device->plugs.no_unplug++;
		plug->since_ns = now_ns;
		return 0;
	}
	if (HASH_COUNT(stats->plugs) >= PLUGS_MAX) {
		/* The oldest is the first. */
		plug = stats->plugs;
		HASH_DEL(stats->plugs, plug);
		device->plugs.no_unplug++;
	} else {
		plug = malloc(sizeof(*plug));
	}
	if (!plug)
		return -ENOMEM;
	*plug = (struct plug){.key = *key, .since_ns = now_ns};
	HASH_ADD(hh, stats->plugs, key, sizeof(plug->key), plug);
	return 0;
}

static int end_plug(struct stats *stats, struct stats_device *device, const struct plug_key *key,
		    const struct blkbox_event *event)
{
	struct stats_plugs *plugs = &device->plugs;
	bool timer = event->action == BLKBOX_UNPLUG_TIMER;
	struct plug *plug;
	uint64_t requests;
	int r = 0;

	plugs->unplugs += !timer;
	plugs->timer_unplugs += timer;
	if (wire_pdu_u64(event, &requests))
		r = histogram_add(timer ? &plugs->timer_requests : &plugs->requests, requests);
	HASH_FIND(hh, stats->plugs, key, sizeof(*key), plug);
	if (!plug) {
		plugs->no_plug++;
		return r;
	}
	if (r == 0 && event->time_ns >= plug->since_ns && is_trusted(stats, device, plug->since_ns))
		r = histogram_add(&plugs->plugged_ns, event->time_ns - plug->since_ns);
	HASH_DEL(stats->plugs, plug);
	free(plug);
	return r;
}

int plug_event(struct stats *stats, struct stats_device *device, const struct merge_item *item)
{
	const struct blkbox_event *event = &item->event;
	const struct plug_key key = {item->tag, event->device, event->pid};

	if (event->time_ns < stats->result.from_ns || event->time_ns > stats->result.to_ns)
		return 0;
	return event->action == BLKBOX_PLUG ? begin_plug(stats, device, &key, event->time_ns)
					    : end_plug(stats, device, &key, event);
}

void plugs_finish(struct stats *stats)
{
	struct plug *plug, *next;

	HASH_ITER (hh, stats->plugs, plug, next) {
		struct stats_device *device = device_of(stats, plug->key.tag, plug->key.device);

		if (device)
			device->plugs.no_unplug++;
		HASH_DEL(stats->plugs, plug);
		free(plug);
	}
}

int device_sequence(struct stats *stats, struct stats_device *device, const struct merge_item *item)
{
	struct gap gap;
	int r = gaps_event(stats->gaps, (size_t)(device - stats->result.devices), item, &gap);
	if (r <= 0)
		return r;
	if (gap.missing < 0) {
		/* It came late: the gap was none. */
		device->gap_events -= device->gap_events != 0;
		return 0;
	}
	device->gaps++;
	device->gap_events += (uint64_t)gap.missing;
	if (!track_touched(device->now, gap.since_ns) && stats->n_gaps < GAPS_MAX) {
		stats->n_gaps++;
		stats->result.losses[stats->result.n_losses++] = (struct recording_loss){
			.tag = item->tag,
			.device = item->event.device,
			.cpu = item->event.cpu,
			.from_ns = gap.since_ns,
			.to_ns = item->event.time_ns,
			.count = (uint64_t)gap.missing,
		};
	}
	return track_gap(stats->track, item, gap.since_ns);
}
