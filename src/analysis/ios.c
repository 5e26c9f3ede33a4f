/* SPDX-License-Identifier: MIT */
#include "ios.h"

#include "filter_io.h"
#include "gaps.h"

#include <string.h>

struct ios {
	struct track *track;
	struct gaps *gaps;
	const struct ios_ops *ops;
	void *context;
	const struct recording *recording;
	const struct filter *filter;
	struct ios_counts counts;
};

static bool passes(const struct ios *ios, const struct track_io *io)
{
	return filter_passes_io(ios->filter, ios->recording, io);
}

static int request(void *context, const struct track_io *request)
{
	struct ios *ios = context;

	if (!passes(ios, request))
		return 0;
	ios->counts.touched_requests += request->touched;
	ios->counts.inverted_requests += request->inverted;
	return ios->ops->request(ios->context, request);
}

static int io(void *context, const struct track_io *io)
{
	struct ios *ios = context;

	if (!passes(ios, io))
		return 0;
	ios->counts.touched_ios += io->touched;
	ios->counts.inverted_ios += io->inverted;
	return ios->ops->io(ios->context, io);
}

static int ended(void *context, const struct track_io *io, enum track_end end)
{
	struct ios *ios = context;

	if (!passes(ios, io))
		return 0;
	if (end == TRACK_END_IN_FLIGHT)
		ios->counts.open_ios_at_end++;
	else
		ios->counts.unmatched_ios++;
	return 0;
}

static int request_ended(void *context, const struct track_io *request, enum track_end end)
{
	struct ios *ios = context;

	if (!passes(ios, request))
		return 0;
	if (end == TRACK_END_IN_FLIGHT)
		ios->counts.in_flight_at_end++;
	else
		ios->counts.unmatched_issues++;
	return 0;
}

static int stray(void *context, const struct merge_item *item, enum track_stray stray)
{
	struct ios *ios = context;
	struct track_io io = filter_io_of(item);

	ios->counts.unmatched_completions +=
		stray != TRACK_STRAY_FLUSH && filter_passes_stray(ios->filter, &io);
	return 0;
}

static const struct track_ops track_ops = {
	.request = request,
	.io = io,
	.ended = ended,
	.request_ended = request_ended,
	.stray = stray,
};

int ios_create(const struct ios_ops *ops, void *context, const struct recording *recording,
	       const struct filter *filter, struct ios **ret)
{
	_cleanup_(cleanup_ios_destroy) struct ios *ios = calloc(1, sizeof(*ios));
	const struct recording_device *devices;
	const struct recording_loss *losses;
	size_t n_losses = recording_losses(recording, &losses);
	int r;

	if (!ios)
		return -ENOMEM;
	ios->ops = ops;
	ios->context = context;
	ios->recording = recording;
	ios->filter = filter;
	r = gaps_create(recording_devices(recording, &devices), &ios->gaps);
	if (r == 0)
		r = track_create(&track_ops, ios, &ios->track);
	if (r == 0)
		r = track_set_losses(ios->track, losses, n_losses);
	if (r == 0)
		*ret = take_ptr(ios);
	return r;
}

void ios_destroy(struct ios *ios)
{
	if (!ios)
		return;
	track_destroy(ios->track);
	gaps_destroy(ios->gaps);
	free(ios);
}

int ios_event(struct ios *ios, const struct merge_item *item)
{
	size_t place = recording_device_place(ios->recording, item->tag, item->event.device);
	struct gap gap;
	int r = gaps_event(ios->gaps, place, item, &gap);

	if (r > 0 && gap.missing > 0)
		r = track_gap(ios->track, item, gap.since_ns);
	return r < 0 ? r : track_event(ios->track, item);
}

int ios_finish(struct ios *ios)
{
	return track_finish(ios->track);
}

const struct ios_counts *ios_counts(const struct ios *ios)
{
	return &ios->counts;
}

void ios_name_counts(const struct ios *ios, struct named_count ret[static IOS_COUNTS])
{
	const struct ios_counts *c = &ios->counts;
	const struct named_count all[IOS_COUNTS] = {
		{"in_flight_at_end", c->in_flight_at_end},
		{"unmatched_issues", c->unmatched_issues},
		{"unmatched_completions", c->unmatched_completions},
		{"open_ios_at_end", c->open_ios_at_end},
		{"unmatched_ios", c->unmatched_ios},
		{"touched_ios", c->touched_ios},
		{"inverted_ios", c->inverted_ios},
		{"touched_requests", c->touched_requests},
		{"inverted_requests", c->inverted_requests},
	};

	memcpy(ret, all, sizeof(all));
}

uint64_t ios_depth(const struct ios *ios, uint32_t tag, uint32_t device)
{
	const struct track_now *now = track_now(ios->track, tag, device);

	return now ? now->issued : 0;
}
