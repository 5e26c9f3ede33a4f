/* SPDX-License-Identifier: MIT */
#include "track_private.h"

static struct request *request_of(struct treap_node *node)
{
	return (struct request *)node;
}

static void append_request(struct device *device, struct request *request)
{
	request->older = device->newest;
	request->newer = NULL;
	if (device->newest)
		device->newest->newer = request;
	else
		device->oldest = request;
	device->newest = request;
}

void request_free(struct track *track, struct device *device, struct request *request)
{
	treap_remove(&device->issued[request->operation], &request->node);
	if (request->older)
		request->older->newer = request->newer;
	else
		device->oldest = request->newer;
	if (request->newer)
		request->newer->older = request->older;
	else
		device->newest = request->older;
	device->now.issued--;
	request->newer = track->free_requests;
	track->free_requests = request;
}

static struct request *request_new(struct track *track, const struct merge_item *item,
				   enum operation operation)
{
	const struct blkbox_event *event = &item->event;
	struct request *request = track->free_requests;

	if (request)
		track->free_requests = request->newer;
	else
		request = malloc(sizeof(*request));
	if (!request)
		return NULL;
	*request = (struct request){
		.node.place = event->sector,
		.sector = event->sector,
		.bytes = event->bytes,
		.first_issued_ns = event->time_ns,
		.issued_ns = event->time_ns,
		.categories = event->categories,
		.pid = event->pid,
		.cpu = event->cpu,
		.cgroup_id = event->cgroup_id,
		.operation = operation,
	};
	/* These have no place: they complete in the order of their issue, or by length. */
	if (operation == OPERATION_FLUSH)
		request->node.place = 0;
	if (operation == OPERATION_PASSTHROUGH)
		request->node.place = event->bytes;
	if (operation == OPERATION_FLUSH || operation == OPERATION_PASSTHROUGH)
		request->sector = UINT64_MAX;
	return request;
}

void request_view(const struct device *device, const struct request *request, struct track_io *ret)
{
	*ret = request->first;
	ret->tag = device->key.tag;
	ret->device = device->key.device;
	ret->sector = request->sector;
	ret->bytes = request->bytes;
	ret->done_bytes = request->done_bytes;
	ret->categories = request->categories;
	ret->operation = request->operation;
	ret->pieces = request->n_pieces;
	ret->requeues = request->requeues;
	ret->error = request->error;
	ret->times.first_issued_ns = request->first_issued_ns;
	ret->times.issued_ns = request->issued_ns;
	ret->times.first_completed_ns = request->first_completed_ns;
	ret->touched =
		is_touched(device, request->first.times.queued_ns ? request->first.times.queued_ns
								  : request->first_issued_ns);
}

static void add_piece(struct request *request, struct piece ***tail, struct piece *piece)
{
	struct life *life = piece->life;

	piece->state = PIECE_ISSUED;
	piece->request = request;
	piece->next = NULL;
	**tail = piece;
	*tail = &piece->next;
	request->n_pieces++;
	piece->times.issued_ns = request->issued_ns;
	if (!piece->times.first_issued_ns)
		piece->times.first_issued_ns = request->issued_ns;
	if (piece->times.first_issued_ns < request->first_issued_ns)
		request->first_issued_ns = piece->times.first_issued_ns;
	if (piece->requeues > request->requeues)
		request->requeues = piece->requeues;
	/* Flushes go before or behind it: the driver sees less than what was asked for. */
	life->in_sequence = life->queued && piece->bytes &&
			    ((life->io.categories & ~request->categories) &
			     (BLKBOX_CAT_FLUSH | BLKBOX_CAT_FUA)) &&
			    life->open_pieces == 1 && (request->categories & BLKBOX_CAT_FS);
}

/* Nobody queued these bytes in our sight. */
static struct piece *unseen(struct track *track, struct device *device,
			    const struct merge_item *item, enum operation operation,
			    uint64_t sector, uint64_t bytes)
{
	struct life *life = life_begin(track, device, item, operation, sector, bytes);

	if (!life)
		return NULL;
	remap_apply(device, life);
	return life_add_piece(track, life, sector, bytes);
}

/* All pieces in the request's range leave the queue; what nobody queued is made up for. */
static int gather(struct track *track, struct device *device, const struct merge_item *item,
		  struct request *request)
{
	uint64_t at = item->event.sector, end = at + item->event.bytes / 512;
	struct piece **tail = &request->pieces;

	do {
		bool failed = false;
		struct piece *piece =
			queued_take(track, device, request->operation, at, end, &failed);

		if (failed)
			return -ENOMEM;
		if (piece) {
			queued_remove(device, piece);
		} else {
			uint64_t next = queued_next(device, request->operation, at, end);

			piece = unseen(track, device, item, request->operation, at,
				       (next - at) * 512);
			if (!piece)
				return -ENOMEM;
		}
		at = piece->node.place + piece->bytes / 512;
		add_piece(request, &tail, piece);
	} while (at < end);
	return 0;
}

static int tell_merged(struct track *track, struct piece *piece)
{
	struct track_io view;

	piece->merge = TRACK_UNANNOUNCED;
	if (!track->ops->merged)
		return 0;
	piece_view(track, piece, &view);
	return track->ops->merged(track->context, &view);
}

/* The piece that the request was made for, as far as can be told. */
static bool is_better_primary(const struct piece *piece, const struct piece *than)
{
	if (!than || !piece->times.getrq_ns != !than->times.getrq_ns)
		return !than || piece->times.getrq_ns;
	return piece->life->begin_ns < than->life->begin_ns;
}

/* All the others must have been merged into it, and events say so; or not. */
static int find_unannounced(struct track *track, struct request *request,
			    struct piece **ret_primary)
{
	struct piece *primary = NULL;
	int r = 0;

	for (struct piece *p = request->pieces; p; p = p->next) {
		if (p->merge == TRACK_NOT_MERGED && p->life->queued &&
		    is_better_primary(p, primary))
			primary = p;
	}
	for (struct piece *p = request->pieces; p && r == 0; p = p->next) {
		if (p != primary && p->merge == TRACK_NOT_MERGED && p->life->queued)
			r = tell_merged(track, p);
	}
	*ret_primary = primary ? primary : request->pieces;
	return r;
}

/* A command that was given back, or a new one. */
static int gather_passthrough(struct track *track, struct device *device,
			      const struct merge_item *item, struct request *request)
{
	const struct treap *queued = &device->queued[OPERATION_PASSTHROUGH];
	struct piece **tail = &request->pieces, *piece = NULL;

	for (struct treap_node *node = treap_at(queued, 0); node && !piece;
	     node = treap_next(queued, node)) {
		if (((struct piece *)node)->bytes == request->bytes)
			piece = (struct piece *)node;
	}
	if (piece)
		queued_remove(device, piece);
	else
		piece = unseen(track, device, item, OPERATION_PASSTHROUGH, UINT64_MAX,
			       request->bytes);
	if (!piece)
		return -ENOMEM;
	add_piece(request, &tail, piece);
	return 0;
}

int request_issue(struct track *track, struct device *device, const struct merge_item *item)
{
	enum operation operation = operation_of(&item->event);
	struct request *request = request_new(track, item, operation);
	struct piece *primary = NULL;
	int r = 0;

	if (!request)
		return -ENOMEM;
	append_request(device, request);
	treap_insert(&device->issued[operation], &request->node);
	device->now.issued++;
	device->has_issue = true;
	if (operation == OPERATION_PASSTHROUGH)
		r = gather_passthrough(track, device, item, request);
	else if (operation != OPERATION_FLUSH)
		r = gather(track, device, item, request);
	if (r == 0 && request->pieces)
		r = find_unannounced(track, request, &primary);
	else if (operation == OPERATION_FLUSH)
		primary = (struct piece *)treap_at(&device->queued[operation], 0);
	if (primary)
		piece_view(track, primary, &request->first);
	else
		request->first.owner = (struct track_owner){
			.pid = request->pid,
			.cpu = request->cpu,
			.cgroup_id = request->cgroup_id,
			.time_ns = request->issued_ns,
		};
	if (r == 0 && track->ops->issued) {
		struct track_io view;

		request_view(device, request, &view);
		r = track->ops->issued(track->context, &view,
				       request->first_issued_ns != request->issued_ns);
	}
	return r;
}

static struct request *find_passthrough(const struct device *device, uint64_t bytes)
{
	const struct treap *issued = &device->issued[OPERATION_PASSTHROUGH];
	struct treap_node *node = treap_at(issued, bytes);

	/* What it transferred may be less than what was asked for. */
	return request_of(node ? node : treap_at(issued, 0));
}

/* Appends complete where they were written, somewhere behind the start of their zone. */
static struct request *find_append(const struct device *device, const struct blkbox_event *event)
{
	const struct treap *issued = &device->issued[OPERATION_ZONE_APPEND];
	struct treap_node *node = treap_before(issued, event->sector);

	if (!node)
		return NULL;
	for (node = treap_at(issued, node->place); node && node->place <= event->sector;
	     node = treap_next(issued, node)) {
		if (request_of(node)->bytes == event->bytes)
			return request_of(node);
	}
	return NULL;
}

static uint64_t left_of(const struct request *request)
{
	return request->bytes - request->done_bytes;
}

static struct request *find_request(const struct device *device, const struct blkbox_event *event,
				    enum operation operation)
{
	const struct treap *issued = &device->issued[operation];
	struct treap_node *node = treap_at(issued, event->sector), *first = NULL;

	if (operation == OPERATION_FLUSH)
		return request_of(treap_at(issued, 0));
	if (operation == OPERATION_PASSTHROUGH)
		return find_passthrough(device, event->bytes);
	for (int i = 0; i < 32 && node && node->place == event->sector; i++) {
		if (left_of(request_of(node)) == event->bytes)
			return request_of(node);
		if (!first && left_of(request_of(node)) > event->bytes && event->bytes)
			first = node;
		node = treap_next(issued, node);
	}
	if (first)
		return request_of(first);
	if (operation == OPERATION_ZONE_APPEND)
		return find_append(device, event);
	/* From its middle. */
	node = treap_before(issued, event->sector);
	if (node && event->bytes &&
	    node->place + left_of(request_of(node)) / 512 >= event->sector + event->bytes / 512)
		return request_of(node);
	return NULL;
}

int request_requeue(struct track *track, struct device *device, const struct merge_item *item)
{
	struct request *request = find_request(device, &item->event, operation_of(&item->event));
	struct track_io view;

	if (!request)
		return 0;
	request->requeues++;
	request_view(device, request, &view);
	for (struct piece *p = request->pieces, *next; p; p = next) {
		uint64_t done_bytes = p->bytes - p->left_bytes;

		next = p->next;
		p->requeues++;
		p->request = NULL;
		p->life->io.done_bytes += done_bytes;
		p->node.place += done_bytes / 512;
		p->bytes = p->left_bytes;
		queued_put_back(device, p);
	}
	request->pieces = NULL;
	request_free(track, device, request);
	return track->ops->requeued ? track->ops->requeued(track->context, &view) : 0;
}

void request_forget_piece(struct piece *piece)
{
	struct piece **link = &piece->request->pieces;

	while (*link != piece)
		link = &(*link)->next;
	*link = piece->next;
	piece->request = NULL;
}

int request_give_up(struct track *track, struct device *device, struct request *request,
		    enum track_end end)
{
	struct track_io view;

	request_view(device, request, &view);
	request_free(track, device, request);
	return track->ops->request_ended ? track->ops->request_ended(track->context, &view, end)
					 : 0;
}

/* The data is there; its bio ends when the flush behind it has. */
static void await_flush(struct device *device, struct piece *piece, uint64_t time_ns)
{
	request_forget_piece(piece);
	piece->times.data_completed_ns = time_ns;
	piece->state = PIECE_FINISHING;
	treap_insert(&device->finishing, &piece->node);
}

/* These are not found by their place, and not completed in parts. */
static bool completes_whole(const struct request *request)
{
	return request->operation == OPERATION_FLUSH ||
	       request->operation == OPERATION_PASSTHROUGH ||
	       request->operation == OPERATION_ZONE_APPEND;
}

/* @all: whatever the pieces' places are. */
static int complete_pieces(struct track *track, struct device *device, struct request *request,
			   const struct blkbox_event *event, bool all)
{
	uint64_t from = event->sector, to = from + event->bytes / 512;
	int r = 0;

	for (struct piece *p = request->pieces, *next; p && r == 0; p = next) {
		uint64_t begin = p->node.place, end = begin + p->bytes / 512;

		next = p->next;
		begin = begin > from ? begin : from;
		end = end < to ? end : to;
		if (end <= begin && p->bytes && !all)
			continue;
		if (all || (end - begin) * 512 > p->left_bytes)
			p->left_bytes = 0;
		else
			p->left_bytes -= (end - begin) * 512;
		if (!p->times.first_completed_ns)
			p->times.first_completed_ns = event->time_ns;
		if (event->error && !p->error)
			p->error = event->error;
		if (p->left_bytes)
			continue;
		if (p->life->in_sequence && !event->error)
			await_flush(device, p, event->time_ns);
		else
			r = piece_done(track, p, event->time_ns);
	}
	return r;
}

static int end_request(struct track *track, struct device *device, struct request *request,
		       uint64_t time_ns)
{
	struct track_io view;

	request_view(device, request, &view);
	view.times.completed_ns = time_ns;
	view.inverted =
		time_ns < request->issued_ns || request->issued_ns < request->first.times.queued_ns;
	request_free(track, device, request);
	return track->ops->request ? track->ops->request(track->context, &view) : 0;
}

int request_complete(struct track *track, struct device *device, const struct merge_item *item,
		     bool *ret_found)
{
	const struct blkbox_event *event = &item->event;
	struct request *request = find_request(device, event, operation_of(event));
	uint64_t from = event->sector, to = from + event->bytes / 512;
	int r;

	*ret_found = request;
	if (!request)
		return 0;
	if (!request->first_completed_ns)
		request->first_completed_ns = event->time_ns;
	if (event->error && !request->error)
		request->error = event->error;
	request->done_bytes += event->bytes;
	if (completes_whole(request))
		request->done_bytes = request->bytes;
	if (request->done_bytes < request->bytes && request->node.place == from) {
		treap_remove(&device->issued[request->operation], &request->node);
		request->node.place = to;
		treap_insert_again(&device->issued[request->operation], &request->node);
	}
	r = complete_pieces(track, device, request, event, completes_whole(request));
	if (r < 0 || request->done_bytes < request->bytes)
		return r;
	/* Parts that were told twice: where others are missing, they are done all the same. */
	r = complete_pieces(track, device, request, event, true);
	return r < 0 ? r : end_request(track, device, request, event->time_ns);
}
