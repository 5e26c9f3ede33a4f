/* SPDX-License-Identifier: MIT */
#include "track_private.h"

/* What is looked at for one event: more is at one place only where nothing ever completes. */
enum {
	REUSED_MAX = 32,
	PIECES_MAX = 8192, /* of a request */
};

/* Whatever is still at a place of which the next I/O begins: is it over? */
static bool is_over(const struct device *device, const struct life *life, enum operation operation,
		    uint64_t now_ns)
{
	if (is_touched(device, life->begin_ns) || now_ns - life->begin_ns > TRACK_REUSE_NS)
		return true;
	/* Nobody writes what is being written; but two may read the same. */
	return operation != OPERATION_READ && life->io.bytes;
}

/* A place that is used again: the completion of its first use was lost. */
int bio_reuse_place(struct track *track, struct device *device, const struct blkbox_event *event,
		    bool queue)
{
	enum operation operation = operation_of(event);
	struct treap_node *node = treap_at(&device->issued[operation], event->sector);
	struct request *request = (struct request *)node;
	int r = 0;

	for (int i = 0; i < REUSED_MAX && r == 0 && node && node->place == event->sector; i++) {
		request = (struct request *)node;
		node = treap_next(&device->issued[operation], node);
		if (request->bytes == event->bytes && request->pieces &&
		    is_over(device, request->pieces->life, operation, event->time_ns)) {
			r = life_give_up(track, request->pieces->life, TRACK_END_REUSED);
			/* It may have taken the next one with it. */
			node = treap_at(&device->issued[operation], event->sector);
		}
	}
	node = queue ? treap_at(&device->queued[operation], event->sector) : NULL;
	for (int i = 0; i < REUSED_MAX && r == 0 && node && node->place == event->sector; i++) {
		struct piece *piece = (struct piece *)node;

		node = treap_next(&device->queued[operation], node);
		if (piece->bytes == event->bytes && piece->life->open_pieces == 1 &&
		    is_over(device, piece->life, operation, event->time_ns))
			r = life_give_up(track, piece->life, TRACK_END_REUSED);
	}
	return r;
}

/* A bio that begins here: a piece in the queue. */
static struct piece *begin_bio(struct track *track, struct device *device,
			       const struct merge_item *item)
{
	const struct blkbox_event *event = &item->event;
	enum operation operation = operation_of(event);
	uint64_t sector = operation == OPERATION_FLUSH ? UINT64_MAX : event->sector;
	struct life *life = life_begin(track, device, item, operation, sector, event->bytes);
	struct piece *piece;

	if (!life)
		return NULL;
	life->io.owner.known = true;
	remap_apply(device, life);
	piece = life_add_piece(track, life, operation == OPERATION_FLUSH ? 0 : sector,
			       event->bytes);
	if (!piece)
		return NULL;
	piece->times = life->io.times;
	queued_put(device, piece);
	return piece;
}

int bio_queue(struct track *track, struct device *device, const struct merge_item *item)
{
	const struct blkbox_event *event = &item->event;
	struct piece *piece;
	int r = 0;

	if (event->bytes)
		r = bio_reuse_place(track, device, event, true);
	if (r < 0)
		return r;
	piece = begin_bio(track, device, item);
	if (!piece)
		return -ENOMEM;
	piece->life->queued = true;
	piece->times.queued_ns = event->time_ns;
	piece->life->io.times = piece->times;
	return track->ops->queued ? track->ops->queued(track->context, &piece->life->io) : 0;
}

static bool has_no_request(const struct piece *piece)
{
	return !piece->times.getrq_ns && piece->merge == TRACK_NOT_MERGED;
}

static bool is_any(const struct piece *piece)
{
	(void)piece;
	return true;
}

int bio_getrq(struct track *track, struct device *device, const struct merge_item *item)
{
	const struct blkbox_event *event = &item->event;
	struct piece *piece = queued_find(device, operation_of(event), place_of(event),
					  event->bytes, has_no_request);

	if (!piece && event->bytes) {
		bool failed = false;

		/* A part of a bio whose split was not told. */
		piece = queued_take(track, device, operation_of(event), event->sector,
				    event->sector + event->bytes / 512, &failed);
		if (failed)
			return -ENOMEM;
		if (piece && (piece->bytes != event->bytes || !has_no_request(piece)))
			piece = NULL;
	}
	/* The lower side of a stacked device can have no queue event. */
	if (!piece)
		piece = begin_bio(track, device, item);
	if (!piece)
		return -ENOMEM;
	piece->times.getrq_ns = event->time_ns;
	return 0;
}

/* Two requests became one. */
static void merge_requests(struct device *device, const struct blkbox_event *event)
{
	enum operation operation = operation_of(event);
	struct treap_node *node = treap_at(&device->queued[operation], event->sector);
	uint64_t end = event->sector + event->bytes / 512;

	for (int i = 0; i < PIECES_MAX && node && node->place < end;
	     i++, node = treap_next(&device->queued[operation], node)) {
		struct piece *piece = (struct piece *)node;

		if (piece->merge == TRACK_NOT_MERGED)
			piece->merge = TRACK_REQUEST;
	}
}

int bio_merge(struct track *track, struct device *device, const struct merge_item *item)
{
	const struct blkbox_event *event = &item->event;
	struct piece *piece = queued_find(device, operation_of(event), event->sector, event->bytes,
					  has_no_request);
	struct track_io view;

	if (event->categories & BLKBOX_CAT_FS) {
		piece = queued_find(device, operation_of(event), event->sector, event->bytes,
				    is_any);
		merge_requests(device, event);
	} else if (piece) {
		piece->merge = event->action == BLKBOX_BACKMERGE ? TRACK_BACK : TRACK_FRONT;
		piece->times.merged_ns = event->time_ns;
	}
	if (!track->ops->merged)
		return 0;
	if (piece) {
		piece_view(track, piece, &view);
	} else {
		view = (struct track_io){
			.tag = item->tag,
			.device = event->device,
			.sector = event->sector,
			.bytes = event->bytes,
			.io_bytes = event->bytes,
			.categories = event->categories,
			.operation = operation_of(event),
			.owner = {event->pid, event->cpu, event->cgroup_id, event->time_ns, true},
		};
	}
	view.merge = event->categories & BLKBOX_CAT_FS	 ? TRACK_REQUEST
		     : event->action == BLKBOX_BACKMERGE ? TRACK_BACK
							 : TRACK_FRONT;
	return track->ops->merged(track->context, &view);
}

int bio_insert(struct track *track, struct device *device, const struct merge_item *item)
{
	const struct blkbox_event *event = &item->event;
	enum operation operation = operation_of(event);
	struct treap_node *node = treap_at(&device->queued[operation], place_of(event));
	uint64_t end = place_of(event) + event->bytes / 512;

	(void)track;
	for (int i = 0;
	     i < PIECES_MAX && node && (node->place < end || node->place == place_of(event));
	     i++, node = treap_next(&device->queued[operation], node)) {
		struct piece *piece = (struct piece *)node;

		if (!piece->times.first_issued_ns && !piece->times.inserted_ns &&
		    piece->merge == TRACK_NOT_MERGED)
			piece->times.inserted_ns = event->time_ns;
	}
	return 0;
}

/* The front keeps the place; the payload's sector has 32 bits only, so it is not used. */
int bio_split(struct track *track, struct device *device, const struct merge_item *item)
{
	const struct blkbox_event *event = &item->event;
	enum operation operation = operation_of(event);
	struct treap_node *node = treap_at(&device->queued[operation], event->sector);

	for (int i = 0; i < REUSED_MAX && event->bytes && node && node->place == event->sector;
	     i++, node = treap_next(&device->queued[operation], node)) {
		struct piece *piece = (struct piece *)node;

		if (piece->bytes <= event->bytes || !has_no_request(piece))
			continue;
		if (!piece_cut(track, piece, event->bytes))
			return -ENOMEM;
		return track->ops->split ? track->ops->split(track->context, &piece->life->io) : 0;
	}
	return 0;
}
