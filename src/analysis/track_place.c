/* SPDX-License-Identifier: MIT */
#include "track_private.h"

enum {
	CANDIDATES = 32 /* at one place; who looks further has lost events anyway */
};

static struct piece *piece_of(struct treap_node *node)
{
	return (struct piece *)node;
}

static uint64_t end_of(const struct piece *piece)
{
	return piece->node.place + piece->bytes / 512;
}

void queued_put(struct device *device, struct piece *piece)
{
	enum operation operation = piece->life->io.operation;

	if (piece->bytes > device->longest[operation])
		device->longest[operation] = piece->bytes;
	piece->state = PIECE_QUEUED;
	treap_insert(&device->queued[operation], &piece->node);
}

void queued_put_back(struct device *device, struct piece *piece)
{
	struct treap *queued = &device->queued[piece->life->io.operation];

	/* What was made up for an issue has never been there. */
	if (!piece->node.order) {
		queued_put(device, piece);
		return;
	}
	piece->state = PIECE_QUEUED;
	treap_insert_again(queued, &piece->node);
}

void queued_remove(struct device *device, struct piece *piece)
{
	treap_remove(&device->queued[piece->life->io.operation], &piece->node);
	piece->state = PIECE_DONE;
}

struct piece *queued_find(const struct device *device, enum operation operation, uint64_t sector,
			  uint64_t bytes, bool (*wanted)(const struct piece *piece))
{
	const struct treap *queued = &device->queued[operation];
	struct treap_node *node = treap_at(queued, sector);

	for (int i = 0; i < CANDIDATES && node && node->place == sector; i++) {
		struct piece *piece = piece_of(node);

		if (piece->bytes == bytes && wanted(piece))
			return piece;
		node = treap_next(queued, node);
	}
	return NULL;
}

struct piece *piece_cut(struct track *track, struct piece *piece, uint64_t bytes)
{
	struct life *life = piece->life;
	struct piece *rest =
		life_add_piece(track, life, piece->node.place + bytes / 512, piece->bytes - bytes);

	if (!rest)
		return NULL;
	rest->times = piece->times;
	rest->merge = piece->merge;
	rest->requeues = piece->requeues;
	piece->bytes = piece->left_bytes = bytes;
	queued_put(life->owner, rest);
	return rest;
}

/* The piece that covers the sector and begins in front of it: the one nearest to it. */
static struct piece *covering(const struct device *device, enum operation operation,
			      uint64_t sector)
{
	const struct treap *queued = &device->queued[operation];
	struct treap_node *node = treap_before(queued, sector);

	while (node && node->place + device->longest[operation] / 512 > sector) {
		if (end_of(piece_of(node)) > sector)
			return piece_of(node);
		node = treap_previous(queued, node);
	}
	return NULL;
}

/* Of those that begin here: one that is as long as is wanted, or shorter, or any. */
static struct piece *best_at(const struct device *device, enum operation operation, uint64_t sector,
			     uint64_t end_sector)
{
	const struct treap *queued = &device->queued[operation];
	struct treap_node *node = treap_at(queued, sector);
	struct piece *shorter = NULL, *longer = NULL;

	for (int i = 0; i < CANDIDATES && node && node->place == sector; i++) {
		struct piece *piece = piece_of(node);

		node = treap_next(queued, node);
		/* What has no data is taken by what has none only. */
		if (!piece->bytes != (sector == end_sector))
			continue;
		if (end_of(piece) == end_sector)
			return piece;
		if (end_of(piece) < end_sector && !shorter)
			shorter = piece;
		if (end_of(piece) > end_sector && !longer)
			longer = piece;
	}
	return shorter ? shorter : longer;
}

struct piece *queued_take(struct track *track, struct device *device, enum operation operation,
			  uint64_t sector, uint64_t end_sector, bool *ret_failed)
{
	struct piece *piece = best_at(device, operation, sector, end_sector);

	if (!piece && end_sector > sector) {
		piece = covering(device, operation, sector);
		if (piece) {
			uint64_t front_bytes = (sector - piece->node.place) * 512;

			piece = piece_cut(track, piece, front_bytes);
			*ret_failed |= !piece;
		}
	}
	if (piece && end_of(piece) > end_sector &&
	    !piece_cut(track, piece, (end_sector - sector) * 512)) {
		*ret_failed = true;
		return NULL;
	}
	return piece;
}

uint64_t queued_next(const struct device *device, enum operation operation, uint64_t sector,
		     uint64_t end_sector)
{
	const struct treap_node *node;

	if (sector >= end_sector)
		return end_sector;
	node = treap_at(&device->queued[operation], sector + 1);
	return node && node->place < end_sector ? node->place : end_sector;
}

static struct life *issued_life(const struct device *device, enum operation operation,
				uint64_t sector)
{
	const struct treap *issued = &device->issued[operation];
	struct treap_node *node = treap_at(issued, sector);

	if (!node || node->place != sector)
		node = treap_before(issued, sector);
	if (!node)
		return NULL;
	for (struct piece *p = ((struct request *)node)->pieces; p; p = p->next) {
		if (p->node.place <= sector && end_of(p) > sector)
			return p->life;
	}
	return NULL;
}

struct life *life_covering(const struct device *device, enum operation operation, uint64_t sector)
{
	struct treap_node *node = treap_at(&device->queued[operation], sector);
	struct piece *piece = NULL;

	if (node && node->place == sector)
		piece = piece_of(node);
	else
		piece = covering(device, operation, sector);
	return piece ? piece->life : issued_life(device, operation, sector);
}
