/* SPDX-License-Identifier: MIT */
#include "track_private.h"

#include <string.h>

static void append_life(struct track *track, struct life *life)
{
	life->older = track->newest;
	life->newer = NULL;
	if (track->newest)
		track->newest->newer = life;
	else
		track->oldest = life;
	track->newest = life;
}

static void unlink_life(struct track *track, struct life *life)
{
	if (life->older)
		life->older->newer = life->newer;
	else
		track->oldest = life->newer;
	if (life->newer)
		life->newer->older = life->older;
	else
		track->newest = life->older;
}

struct life *life_begin(struct track *track, struct device *device, const struct merge_item *item,
			enum operation operation, uint64_t sector, uint64_t bytes)
{
	const struct blkbox_event *event = &item->event;
	struct life *life = track->free_lives;

	if (life)
		track->free_lives = life->newer;
	else
		life = malloc(sizeof(*life));
	if (!life)
		return NULL;
	*life = (struct life){
		.owner = device,
		.begin_ns = event->time_ns,
		.io.tag = item->tag,
		.io.device = event->device,
		.io.sector = sector,
		.io.bytes = bytes,
		.io.io_bytes = bytes,
		.io.categories = event->categories,
		.io.operation = operation,
		.io.owner.pid = event->pid,
		.io.owner.cpu = event->cpu,
		.io.owner.cgroup_id = event->cgroup_id,
		.io.owner.time_ns = event->time_ns,
	};
	append_life(track, life);
	device->now.open++;
	return life;
}

struct piece *life_add_piece(struct track *track, struct life *life, uint64_t sector,
			     uint64_t bytes)
{
	struct piece *piece = track->free_pieces;

	if (piece)
		track->free_pieces = piece->next;
	else
		piece = malloc(sizeof(*piece));
	if (!piece)
		return NULL;
	*piece = (struct piece){
		.node.place = sector,
		.life = life,
		.next_of_life = life->pieces,
		.bytes = bytes,
		.left_bytes = bytes,
		.state = PIECE_DONE,
	};
	life->pieces = piece;
	life->open_pieces++;
	life->io.pieces++;
	track->n_pieces++;
	return piece;
}

/* Out of the set or the request that it is in. */
static void release(struct piece *piece)
{
	struct device *device = piece->life->owner;

	if (piece->state == PIECE_QUEUED)
		queued_remove(device, piece);
	else if (piece->state == PIECE_FINISHING)
		treap_remove(&device->finishing, &piece->node);
	else if (piece->state == PIECE_ISSUED)
		request_forget_piece(piece);
	piece->state = PIECE_DONE;
}

void life_drop(struct track *track, struct life *life)
{
	while (life->pieces) {
		struct piece *piece = life->pieces;

		release(piece);
		life->pieces = piece->next_of_life;
		piece->next = track->free_pieces;
		track->free_pieces = piece;
		track->n_pieces--;
	}
	life->owner->now.open--;
	unlink_life(track, life);
	life->newer = track->free_lives;
	track->free_lives = life;
}

static int tell_io(struct track *track, const struct life *life)
{
	return track->ops->io ? track->ops->io(track->context, &life->io) : 0;
}

/* As far as it came: of what is open of it, what came furthest. */
static struct track_io unfinished_view(const struct life *life)
{
	struct track_io io = life->io;
	const struct piece *furthest = NULL;

	for (const struct piece *piece = life->pieces; piece; piece = piece->next_of_life) {
		if (piece->state != PIECE_DONE && (!furthest || furthest->state == PIECE_QUEUED))
			furthest = piece;
	}
	if (furthest) {
		uint64_t first_completed_ns = io.times.first_completed_ns;

		io.times = furthest->times;
		io.times.first_completed_ns = first_completed_ns;
		io.requeues = furthest->requeues;
		io.merge = furthest->merge;
	}
	io.touched |= is_touched(life->owner, life->begin_ns);
	return io;
}

int life_give_up(struct track *track, struct life *life, enum track_end end)
{
	const struct track_io io = unfinished_view(life);
	struct device *device = life->owner;
	int r = 0;

	for (struct piece *piece = life->pieces; piece && r == 0; piece = piece->next_of_life) {
		struct request *request = piece->request;

		if (piece->state != PIECE_ISSUED)
			continue;
		request_forget_piece(piece);
		piece->state = PIECE_DONE;
		if (!request->pieces)
			r = request_give_up(track, device, request, end);
	}
	if (r == 0 && track->ops->ended)
		r = track->ops->ended(track->context, &io, end);
	life_drop(track, life);
	return r;
}

static inline bool follows(uint64_t moment_ns, uint64_t *last)
{
	if (!moment_ns)
		return true;
	if (moment_ns < *last)
		return false;
	*last = moment_ns;
	return true;
}

/* Moments that were seen must follow each other. */
static bool times_inverted(const struct track_times *times)
{
	uint64_t last = times->remapped_from_ns;

	return !follows(times->remapped_ns, &last) || !follows(times->queued_ns, &last) ||
	       !follows(times->getrq_ns, &last) || !follows(times->merged_ns, &last) ||
	       !follows(times->inserted_ns, &last) || !follows(times->first_issued_ns, &last) ||
	       !follows(times->issued_ns, &last) || !follows(times->data_completed_ns, &last) ||
	       !follows(times->completed_ns, &last);
}

void piece_view(const struct track *track, const struct piece *piece, struct track_io *ret)
{
	const struct life *life = piece->life;

	*ret = life->io;
	ret->sector = life->io.sector == UINT64_MAX ? UINT64_MAX : piece->node.place;
	ret->bytes = piece->bytes;
	ret->done_bytes = piece->bytes - piece->left_bytes;
	ret->times = piece->times;
	ret->merge = piece->merge;
	ret->requeues = piece->requeues;
	ret->error = piece->error;
	ret->pieces = 1;
	ret->touched = is_touched(life->owner, life->begin_ns);
	ret->inverted = times_inverted(&piece->times);
	(void)track;
}

static void add_to_life(const struct piece *piece, const struct track_io *view)
{
	struct track_io *io = &piece->life->io;
	uint64_t first_completed_ns = io->times.first_completed_ns;

	io->done_bytes += piece->bytes;
	io->times = piece->times;
	/* Of all pieces. */
	if (first_completed_ns && first_completed_ns < io->times.first_completed_ns)
		io->times.first_completed_ns = first_completed_ns;
	if (piece->requeues > io->requeues)
		io->requeues = piece->requeues;
	if (!io->error)
		io->error = piece->error;
	if (piece->merge != TRACK_NOT_MERGED)
		io->merge = piece->merge;
	io->inverted |= view->inverted;
	io->touched |= view->touched;
}

int piece_done(struct track *track, struct piece *piece, uint64_t time_ns)
{
	struct life *life = piece->life;
	struct track_io view;
	int r = 0;

	release(piece);
	piece->times.completed_ns = time_ns;
	piece_view(track, piece, &view);
	add_to_life(piece, &view);
	life->open_pieces--;
	if (track->ops->piece)
		r = track->ops->piece(track->context, &view);
	life->io.mark = view.mark;
	if (r < 0 || life->open_pieces)
		return r;
	r = tell_io(track, life);
	life_drop(track, life);
	return r;
}
