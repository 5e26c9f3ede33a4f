/* SPDX-License-Identifier: MIT */
#include "track.h"

#include "track_private.h"

#include <string.h>

int track_create(const struct track_ops *ops, void *context, struct track **ret)
{
	struct track *track = calloc(1, sizeof(*track));

	if (!track)
		return -ENOMEM;
	track->ops = ops;
	track->context = context;
	*ret = track;
	return 0;
}

/* Nothing is told. */
static void drop_all(struct track *track)
{
	struct device *device, *next;

	while (track->oldest)
		life_drop(track, track->oldest);
	HASH_ITER (hh, track->devices, device, next) {
		while (device->oldest)
			request_free(track, device, device->oldest);
		HASH_DEL(track->devices, device);
		free(device->remaps);
		free(device);
	}
}

static void free_pools(struct track *track)
{
	for (struct piece *p = track->free_pieces, *next; p; p = next) {
		next = p->next;
		free(p);
	}
	for (struct life *l = track->free_lives, *next; l; l = next) {
		next = l->newer;
		free(l);
	}
	for (struct request *r = track->free_requests, *next; r; r = next) {
		next = r->newer;
		free(r);
	}
}

void track_destroy(struct track *track)
{
	if (!track)
		return;
	drop_all(track);
	free_pools(track);
	free(track->losses);
	free(track);
}

static int by_begin(const void *a, const void *b)
{
	uint64_t x = ((const struct recording_loss *)a)->from_ns;
	uint64_t y = ((const struct recording_loss *)b)->from_ns;

	return (x > y) - (x < y);
}

int track_set_losses(struct track *track, const struct recording_loss *losses, size_t n)
{
	track->losses = calloc(n + 1, sizeof(*losses));
	if (!track->losses)
		return -ENOMEM;
	track->n_losses = n;
	if (n) {
		memcpy(track->losses, losses, n * sizeof(*losses));
		qsort(track->losses, n, sizeof(*losses), by_begin);
	}
	return 0;
}

struct device *track_find_device(const struct track *track, uint32_t tag, uint32_t number)
{
	struct device_key key = {tag, number};
	struct device *device;

	if (track->last && track->last->key.device == number && track->last->key.tag == tag)
		return track->last;
	HASH_FIND(hh, track->devices, &key, sizeof(key), device);
	return device;
}

struct device *track_device(struct track *track, uint32_t tag, uint32_t number)
{
	struct device *device = track_find_device(track, tag, number);

	if (!device) {
		device = calloc(1, sizeof(*device));
		if (!device)
			return NULL;
		device->key = (struct device_key){tag, number};
		HASH_ADD(hh, track->devices, key, sizeof(device->key), device);
	}
	track->last = device;
	return device;
}

/* Everything that is open on the device is over. */
static int give_up_device(struct track *track, struct device *device, enum track_end end)
{
	int r = 0;

	for (struct life *life = track->oldest, *next; life && r == 0; life = next) {
		next = life->newer;
		if (life->owner == device)
			r = life_give_up(track, life, end);
	}
	while (device->oldest && r == 0)
		r = request_give_up(track, device, device->oldest, end);
	return r;
}

/* Which losses have begun, and which are over. */
static int follow_losses(struct track *track, struct device *device, uint64_t now_ns)
{
	for (; device->next_loss < track->n_losses; device->next_loss++) {
		const struct recording_loss *loss = &track->losses[device->next_loss];

		if (loss->from_ns > now_ns)
			break;
		if (loss->tag != device->key.tag ||
		    (loss->device && loss->device != device->key.device))
			continue;
		device->now.had_loss = true;
		device->reset_due = true;
		if (loss->to_ns > device->now.lost_to_ns)
			device->now.lost_to_ns = loss->to_ns;
	}
	if (!device->reset_due || device->now.lost_to_ns >= now_ns)
		return 0;
	device->reset_due = false;
	return give_up_device(track, device, TRACK_END_LOSS);
}

int track_gap(struct track *track, const struct merge_item *item, uint64_t since_ns)
{
	struct device *device = track_device(track, item->tag, item->event.device);

	if (!device)
		return -ENOMEM;
	if (track_touched(&device->now, since_ns))
		return 0;
	device->now.had_loss = true;
	if (item->event.time_ns > device->now.lost_to_ns)
		device->now.lost_to_ns = item->event.time_ns;
	return give_up_device(track, device, TRACK_END_LOSS);
}

/* Memory and time have an end. */
static int age(struct track *track, struct device *device, uint64_t now_ns)
{
	int r = 0;

	while (r == 0 && track->oldest &&
	       (track->n_pieces > TRACK_OPEN_MAX ||
		(now_ns > track->oldest->begin_ns &&
		 now_ns - track->oldest->begin_ns > TRACK_AGE_MAX_NS)))
		r = life_give_up(track, track->oldest, TRACK_END_AGED);
	/* Those without a bio. */
	while (r == 0 && device->oldest && !device->oldest->pieces &&
	       (device->now.issued > TRACK_OPEN_MAX ||
		(now_ns > device->oldest->issued_ns &&
		 now_ns - device->oldest->issued_ns > TRACK_AGE_MAX_NS)))
		r = request_give_up(track, device, device->oldest, TRACK_END_AGED);
	return r;
}

static int dispatch(struct track *track, struct device *device, const struct merge_item *item)
{
	switch (item->event.action) {
	case BLKBOX_QUEUE:
		return bio_queue(track, device, item);
	case BLKBOX_GETRQ:
		return bio_getrq(track, device, item);
	case BLKBOX_BACKMERGE:
	case BLKBOX_FRONTMERGE:
		return bio_merge(track, device, item);
	case BLKBOX_INSERT:
		return bio_insert(track, device, item);
	case BLKBOX_SPLIT:
		return bio_split(track, device, item);
	case BLKBOX_REMAP:
		return remap_event(track, device, item);
	case BLKBOX_ISSUE:
		return issue_event(track, device, item);
	case BLKBOX_REQUEUE:
		return request_requeue(track, device, item);
	case BLKBOX_COMPLETE:
		return event_is_zone_append_sector(&item->event)
			       ? 0
			       : complete_event(track, device, item);
	default:
		return 0;
	}
}

/* Damaged records name places that no device has: 64 bits of bytes end before them. */
bool track_has_possible_place(const struct blkbox_event *event)
{
	return !event->bytes || (event->categories & BLKBOX_CAT_PC) ||
	       event->sector < (UINT64_MAX >> 9) - event->bytes / 512;
}

static int follow(struct track *track, const struct merge_item *item)
{
	struct device *device = track_device(track, item->tag, item->event.device);
	uint64_t time_ns = item->event.time_ns;
	int r;

	if (!device)
		return -ENOMEM;
	if (!device->first_ns)
		device->first_ns = time_ns;
	r = follow_losses(track, device, time_ns);
	if (r == 0)
		r = age(track, device, time_ns);
	return r < 0 ? r : dispatch(track, device, item);
}

int track_event(struct track *track, const struct merge_item *item)
{
	struct merge_item first;

	if (blkbox_event_is_note(&item->event) || !track_has_possible_place(&item->event))
		return 0;
	if (item->event.time_ns)
		return follow(track, item);
	/* Streams of blkparse -d begin at 0, which stands for "not seen" here. */
	first = *item;
	first.event.time_ns = 1;
	return follow(track, &first);
}

int track_settle(struct track *track)
{
	int r = 0;

	for (struct device *device = track->devices; device && r == 0;
	     device = (struct device *)device->hh.next)
		r = strays_settle(track, device, UINT64_MAX);
	return r;
}

int track_finish(struct track *track)
{
	int r = track_settle(track);

	for (struct device *device = track->devices; device && r == 0;
	     device = (struct device *)device->hh.next) {
		/* A loss at the very end, which no event came after. */
		enum track_end end = device->reset_due ? TRACK_END_LOSS : TRACK_END_IN_FLIGHT;

		r = give_up_device(track, device, end);
	}
	return r;
}

const struct track_now *track_now(const struct track *track, uint32_t tag, uint32_t number)
{
	const struct device *device = track_find_device(track, tag, number);

	return device ? &device->now : NULL;
}
