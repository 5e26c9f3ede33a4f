/* SPDX-License-Identifier: MIT */
#include "track_private.h"

/* Bio by bio, without a request: a bio-based device, or one whose issues were not recorded. */
static int complete_bios(struct track *track, struct device *device, const struct merge_item *item,
			 bool *ret_found)
{
	const struct blkbox_event *event = &item->event;
	enum operation operation = operation_of(event);
	uint64_t at = place_of(event), end = at + event->bytes / 512;
	int r = 0;

	do {
		bool failed = false;
		struct piece *piece = queued_take(track, device, operation, at, end, &failed);

		if (failed)
			return -ENOMEM;
		if (!piece) {
			at = queued_next(device, operation, at, end);
			continue;
		}
		*ret_found = true;
		at = piece->node.place + piece->bytes / 512;
		piece->left_bytes = 0;
		piece->error = event->error;
		piece->times.first_completed_ns = event->time_ns;
		piece->life->io.bio_based = !(event->categories & BLKBOX_CAT_FS);
		r = piece_done(track, piece, event->time_ns);
	} while (at < end && r == 0);
	return r;
}

/* The end of a flush sequence: the write's at its place, or the oldest flush's. */
static int complete_sequence(struct track *track, struct device *device,
			     const struct blkbox_event *event, bool *ret_found)
{
	struct treap_node *node = treap_at(&device->finishing, event->sector);
	const struct treap *flushes = &device->queued[OPERATION_FLUSH];
	struct piece *piece;

	if (!node || node->place != event->sector)
		node = treap_at(flushes, 0);
	if (!node)
		return 0;
	*ret_found = true;
	piece = (struct piece *)node;
	piece->left_bytes = 0;
	if (!piece->error)
		piece->error = event->error;
	piece->life->io.bio_based = !(event->categories & BLKBOX_CAT_FS);
	return piece_done(track, piece, event->time_ns);
}

/* What was issued before the recording began completes soon; a driver's timeout is 30 to 180 s. */
static const uint64_t early_max_ns = UINT64_C(300) * 1000000000;

static enum track_stray stray_kind(const struct device *device, const struct blkbox_event *event)
{
	if (!event->bytes && (event->categories & (BLKBOX_CAT_FS | BLKBOX_CAT_FLUSH)))
		return TRACK_STRAY_FLUSH;
	if (device->now.had_loss)
		return TRACK_STRAY_LOSS;
	return event->time_ns - device->first_ns <= early_max_ns ? TRACK_STRAY_EARLY
								 : TRACK_STRAY_OTHER;
}

int strays_settle(struct track *track, struct device *device, uint64_t now_ns)
{
	unsigned n = 0;
	int r = 0;

	for (unsigned i = 0; i < device->n_strays; i++) {
		struct merge_item *stray = &device->strays[i];
		bool is_young = now_ns - stray->event.time_ns <= TRACK_SKEW_NS;

		if (is_young && now_ns != UINT64_MAX) {
			device->strays[n++] = *stray;
			continue;
		}
		if (track->ops->stray && r == 0)
			r = track->ops->stray(track->context, stray,
					      stray_kind(device, &stray->event));
	}
	device->n_strays = n;
	return r;
}

static int keep_stray(struct track *track, struct device *device, const struct merge_item *item)
{
	int r = strays_settle(track, device, item->event.time_ns);

	if (r == 0 && device->n_strays == STRAYS)
		r = strays_settle(track, device, UINT64_MAX);
	device->strays[device->n_strays] = *item;
	device->strays[device->n_strays++].event.pdu = NULL;
	return r;
}

/* What a CPU with a clock that is behind has issued may be completed already. */
static int complete_late_issue(struct track *track, struct device *device,
			       const struct blkbox_event *event)
{
	for (unsigned i = 0; i < device->n_strays; i++) {
		struct merge_item stray = device->strays[i];
		bool found;

		if (stray.event.sector != event->sector || stray.event.bytes != event->bytes ||
		    operation_of(&stray.event) != operation_of(event) ||
		    event->time_ns - stray.event.time_ns > TRACK_SKEW_NS)
			continue;
		device->strays[i] = device->strays[--device->n_strays];
		return request_complete(track, device, &stray, &found);
	}
	return 0;
}

/*
 * May what is queued have ended without our seeing it issued? What is refused has not been: of a
 * device that is offline, or behind a flush that failed.
 */
static bool may_end_unissued(const struct device *device, const struct blkbox_event *event)
{
	return event->error || !(event->categories & BLKBOX_CAT_FS) || !device->has_issue ||
	       device->now.had_loss;
}

int complete_event(struct track *track, struct device *device, const struct merge_item *item)
{
	const struct blkbox_event *event = &item->event;
	bool found = false;
	int r = request_complete(track, device, item, &found);

	if (r < 0 || found)
		return r;
	if (event->bytes || !(event->categories & BLKBOX_CAT_FS)) {
		if (may_end_unissued(device, event) && !(event->categories & BLKBOX_CAT_PC))
			r = complete_bios(track, device, item, &found);
	} else {
		r = complete_sequence(track, device, event, &found);
	}
	if (r < 0 || found)
		return r;
	return keep_stray(track, device, item);
}

int issue_event(struct track *track, struct device *device, const struct merge_item *item)
{
	int r = 0;

	if (item->event.bytes && operation_of(&item->event) != OPERATION_PASSTHROUGH)
		r = bio_reuse_place(track, device, &item->event, false);
	if (r == 0)
		r = request_issue(track, device, item);
	if (r == 0 && device->n_strays)
		r = complete_late_issue(track, device, &item->event);
	return r;
}
