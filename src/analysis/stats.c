/* SPDX-License-Identifier: MIT */
#include "stats.h"

#include "stats_private.h"

#include <string.h>

static void set_span(struct stats *stats)
{
	const struct recording_info *info = recording_info(stats->recording);
	const struct filter *filter = stats->options.filter;
	struct stats_result *result = &stats->result;

	result->from_ns = info->start_ns;
	result->to_ns = info->last_ns > info->start_ns ? info->last_ns : info->start_ns;
	if (filter && filter->from.is_set && filter->from_ns > result->from_ns)
		result->from_ns = filter->from_ns;
	if (filter && filter->to.is_set && filter->to_ns < result->to_ns)
		result->to_ns = filter->to_ns;
	if (result->to_ns < result->from_ns)
		result->to_ns = result->from_ns;
}

static int told_create(struct stats *stats)
{
	struct stats_result *result = &stats->result;
	size_t slowest = stats->options.slowest, failed = stats->options.failed;

	/* Twice as many: parts on devices below leave those lists at the end. */
	if (stats_ios_init(&result->slowest, slowest) < 0 ||
	    stats_ios_init(&stats->parts, slowest) < 0 ||
	    stats_ios_init(&result->failed, 2 * failed) < 0 ||
	    stats_ios_init(&result->unfinished, 2 * failed) < 0)
		return -ENOMEM;
	return 0;
}

/* With room for gaps. */
static int losses_create(struct stats *stats, const struct recording_loss *losses, size_t n)
{
	struct stats_result *result = &stats->result;

	result->losses = calloc(n + GAPS_MAX, sizeof(*result->losses));
	if (!result->losses)
		return -ENOMEM;
	if (n)
		memcpy(result->losses, losses, n * sizeof(*losses));
	result->n_losses = n;
	return 0;
}

static void told_destroy(struct stats *stats)
{
	stats_ios_deinit(&stats->result.slowest);
	stats_ios_deinit(&stats->parts);
	stats_ios_deinit(&stats->result.failed);
	stats_ios_deinit(&stats->result.unfinished);
}

static void told_finish(struct stats *stats)
{
	struct stats_result *result = &stats->result;

	/* If the device above was recorded without completions, nothing else tells of them. */
	for (size_t i = 0; i < stats->parts.n; i++) {
		const struct stats_device *above = told_above(stats, &stats->parts.items[i].io);

		if (above && !above->has_completion)
			stats_ios_add_longest(&result->slowest, &stats->parts.items[i]);
	}
	stats_ios_join(&result->slowest, &stats->parts);
	stats_ios_fold(&result->failed, stats->options.failed);
	stats_ios_fold(&result->unfinished, stats->options.failed);
}

static int fill(struct stats *stats)
{
	const struct recording_loss *losses;
	size_t n = recording_losses(stats->recording, &losses);
	int r = track_create(&stats_track_ops, stats, &stats->track);

	if (r == 0)
		r = track_set_losses(stats->track, losses, n);
	if (r == 0)
		r = devices_create(stats);
	if (r == 0)
		r = told_create(stats);
	if (r == 0)
		r = losses_create(stats, losses, n);
	return r < 0 ? r : kinds_create(stats);
}

int stats_create(const struct stats_options *options, const struct recording *recording,
		 struct stats **ret)
{
	_cleanup_(cleanup_stats_destroy) struct stats *stats = calloc(1, sizeof(*stats));

	if (!stats)
		return -ENOMEM;
	stats->options = *options;
	if (options->filter && !filter_is_set(options->filter))
		stats->options.filter = NULL;
	if (stats->options.slowest > STATS_IOS_MAX)
		stats->options.slowest = STATS_IOS_MAX;
	if (stats->options.failed > STATS_IOS_MAX)
		stats->options.failed = STATS_IOS_MAX;
	stats->recording = recording;
	stats->sizes.view = &stats->result.sizes;
	stats->processes.view = &stats->result.processes;
	stats->processes.is_long = true;
	stats->cgroups.view = &stats->result.cgroups;
	stats->cpus.view = &stats->result.cpus;
	stats->result.with_losses = options->with_losses;
	set_span(stats);
	if (fill(stats) < 0)
		return -ENOMEM;
	*ret = take_ptr(stats);
	return 0;
}

void stats_destroy(struct stats *stats)
{
	struct plug *plug, *next;

	if (!stats)
		return;
	track_destroy(stats->track);
	kinds_destroy(stats);
	devices_destroy(stats);
	group_set_deinit(&stats->sizes);
	group_set_deinit(&stats->processes);
	group_set_deinit(&stats->cgroups);
	group_set_deinit(&stats->cpus);
	HASH_ITER (hh, stats->plugs, plug, next) {
		HASH_DEL(stats->plugs, plug);
		free(plug);
	}
	told_destroy(stats);
	free(stats->result.losses);
	free(stats);
}

int stats_event(struct stats *stats, const struct merge_item *item)
{
	const struct blkbox_event *event = &item->event;
	struct stats_device *device;
	int r;

	if (blkbox_event_is_note(event))
		return 0;
	device = device_of(stats, item->tag, event->device);
	/* The survey has named all devices. */
	if (!device)
		return 0;
	stats->result.events++;
	stats->result.late_events += item->late;
	if (event->time_ns > stats->now_ns)
		stats->now_ns = event->time_ns;
	device->events++;
	device->has_queue |= event->action == BLKBOX_QUEUE;
	if (event->action == BLKBOX_ISSUE && !device->has_issue)
		device_has_requests(device);
	device->has_completion |= blkbox_event_is_completion(event);
	device->impossible += !track_has_possible_place(event);
	r = device_sequence(stats, device, item);
	if (r == 0)
		r = track_event(stats->track, item);
	if (r == 0 && (event->action == BLKBOX_PLUG || event->action == BLKBOX_UNPLUG ||
		       event->action == BLKBOX_UNPLUG_TIMER))
		r = plug_event(stats, device, item);
	if (!device->now)
		device->now = track_now(stats->track, item->tag, event->device);
	return r < 0 ? r : device_depth(stats, device, event->time_ns);
}

static int sum_up(struct stats_device *device)
{
	int r = 0;

	for (unsigned o = 0; o < OPERATION_COUNT && r == 0; o++) {
		if (device->operations[o] && o != OPERATION_PASSTHROUGH)
			r = stats_group_add(&device->all, device->operations[o]);
	}
	return r;
}

int stats_finish(struct stats *stats)
{
	struct stats_result *result = &stats->result;
	int r = 0;

	/* The depth of the end lasts to the end, before what is in flight is given up. */
	for (size_t i = 0; i < result->n_devices; i++)
		device_account_end(stats, &result->devices[i]);
	r = track_finish(stats->track);
	plugs_finish(stats);
	told_finish(stats);
	if (r == 0)
		r = kinds_finish(stats);
	for (size_t i = 0; i < result->n_devices && r == 0; i++)
		r = sum_up(&result->devices[i]);
	return r < 0 ? r : group_set_finish(&stats->processes);
}

const struct stats_result *stats_result(const struct stats *stats)
{
	return &stats->result;
}
