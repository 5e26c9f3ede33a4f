/* SPDX-License-Identifier: MIT */
/**
 * @file
 * The inside of track. Only src/analysis/track*.c include it.
 */
#ifndef BLKBOX_ANALYSIS_TRACK_PRIVATE_H
#define BLKBOX_ANALYSIS_TRACK_PRIVATE_H

#include "track.h"
#include "treap.h"

#include <uthash.h>

struct piece;

/* An I/O that is open: a bio, or what stands for bios that were not seen. */
struct life {
	struct life *older, *newer;
	struct device *owner;
	struct track_io io; /* what is known so far */
	struct piece *pieces;
	uint64_t begin_ns;
	uint32_t open_pieces;
	bool queued;	  /* its queue event was seen */
	bool in_sequence; /* an empty completion will end it */
};

enum piece_state {
	PIECE_QUEUED,	 /* in the device's queued set */
	PIECE_ISSUED,	 /* in a request */
	PIECE_FINISHING, /* its data is done, the flush behind it is not: in the finishing set */
	PIECE_DONE,
};

struct piece {
	struct treap_node node; /* the place is its first sector */
	struct piece *next_of_life;
	struct piece *next; /* of its request */
	struct life *life;
	struct request *request;
	uint64_t bytes;
	uint64_t left_bytes;
	struct track_times times;
	enum piece_state state;
	enum track_merge merge;
	uint32_t requeues;
	int16_t error;
};

/* What the driver has. */
struct request {
	struct treap_node node; /* the place is where its next completion begins */
	struct request *older, *newer;
	struct piece *pieces;
	uint32_t n_pieces;
	uint64_t sector;
	uint64_t bytes;
	uint64_t done_bytes;
	uint64_t first_issued_ns;
	uint64_t issued_ns;
	uint64_t first_completed_ns;
	uint32_t categories;
	uint32_t pid, cpu;
	uint64_t cgroup_id;
	uint32_t requeues;
	int16_t error;
	enum operation operation;
	struct track_io first; /* its first piece, for who wants to know whose it is */
};

/* A remap whose bio has not come yet. */
struct remap {
	uint64_t sector;
	uint64_t bytes;
	uint64_t time_ns;
	uint64_t from_ns; /* when the I/O above was queued; 0 = not seen */
	struct track_owner owner;
	uint8_t n_levels;
	struct track_level levels[TRACK_LEVELS_MAX];
	bool used;
};

enum {
	REMAPS = 64, /* between a remap and its bio there is hardly anything */
	STRAYS = 8,
};

struct device_key {
	uint32_t tag, device;
};

struct device {
	struct device_key key;
	struct treap queued[OPERATION_COUNT];
	struct treap issued[OPERATION_COUNT];
	struct treap finishing;
	uint64_t longest[OPERATION_COUNT]; /* bytes, of pieces that there were */
	struct request *oldest, *newest;
	struct remap *remaps; /* REMAPS of them, in a ring; NULL = none so far */
	unsigned next_remap;
	struct merge_item strays[STRAYS]; /* they may belong to an issue that comes too late */
	unsigned n_strays;
	bool has_issue;
	uint64_t first_ns;
	struct track_now now;
	size_t next_loss; /* which has not begun */
	bool reset_due;
	UT_hash_handle hh;
};

struct track {
	const struct track_ops *ops;
	void *context;
	struct device *devices;
	struct device *last; /* the one of the last event */
	struct life *oldest, *newest;
	size_t n_pieces;
	struct recording_loss *losses; /* by from_ns */
	size_t n_losses;
	uint64_t now_ns;
	struct piece *free_pieces;
	struct life *free_lives;
	struct request *free_requests;
};

/* track_life.c: lives and their pieces. */

struct life *life_begin(struct track *track, struct device *device, const struct merge_item *item,
			enum operation operation, uint64_t sector, uint64_t bytes);
/** A new piece of it, in no set. */
struct piece *life_add_piece(struct track *track, struct life *life, uint64_t sector,
			     uint64_t bytes);
/** The life goes, with its pieces; they are taken out of all sets and requests. */
void life_drop(struct track *track, struct life *life);
/** It ended without completing. Requests that have no piece left end with it. */
int life_give_up(struct track *track, struct life *life, enum track_end end);
/** The piece's bytes are all done. Tells it, and the life if it was the last one. */
int piece_done(struct track *track, struct piece *piece, uint64_t time_ns);
/** How a piece looks from outside. */
void piece_view(const struct track *track, const struct piece *piece, struct track_io *ret);

/* track_place.c: what is where. */

/** The first piece of @device that begins at or covers @sector, cut so that it begins there and
 * ends at @end_sector at the latest. NULL: there is none. @ret_failed: no memory. */
struct piece *queued_take(struct track *track, struct device *device, enum operation operation,
			  uint64_t sector, uint64_t end_sector, bool *ret_failed);
/** A queued piece that begins at @sector and has @bytes: the oldest that @wanted says yes to. */
struct piece *queued_find(const struct device *device, enum operation operation, uint64_t sector,
			  uint64_t bytes, bool (*wanted)(const struct piece *piece));
/** Cuts @piece, which is queued: the first @bytes stay, the rest is a new piece. */
struct piece *piece_cut(struct track *track, struct piece *piece, uint64_t bytes);
/** Where the next queued piece begins, at most @end_sector. */
uint64_t queued_next(const struct device *device, enum operation operation, uint64_t sector,
		     uint64_t end_sector);
void queued_put(struct device *device, struct piece *piece);
/** As queued_put(), for what was there before. */
void queued_put_back(struct device *device, struct piece *piece);
void queued_remove(struct device *device, struct piece *piece);
/** The open life that covers the sector; for who looks from a device below. NULL if there is none.
 */
struct life *life_covering(const struct device *device, enum operation operation, uint64_t sector);

/* track_request.c: what the driver has. */

int request_issue(struct track *track, struct device *device, const struct merge_item *item);
int request_requeue(struct track *track, struct device *device, const struct merge_item *item);
/** @ret_found: false if no request is there. */
int request_complete(struct track *track, struct device *device, const struct merge_item *item,
		     bool *ret_found);
/** Takes the piece out of its request. */
void request_forget_piece(struct piece *piece);
/** Ends what has no pieces any more. */
int request_give_up(struct track *track, struct device *device, struct request *request,
		    enum track_end end);
void request_view(const struct device *device, const struct request *request, struct track_io *ret);
void request_free(struct track *track, struct device *device, struct request *request);

/* track_remap.c */

int remap_event(struct track *track, struct device *device, const struct merge_item *item);
/** Gives @life what a remap told of it. */
void remap_apply(struct device *device, struct life *life);

/* track_bio.c: one event each. */

int bio_queue(struct track *track, struct device *device, const struct merge_item *item);
int bio_getrq(struct track *track, struct device *device, const struct merge_item *item);
int bio_merge(struct track *track, struct device *device, const struct merge_item *item);
int bio_insert(struct track *track, struct device *device, const struct merge_item *item);
int bio_split(struct track *track, struct device *device, const struct merge_item *item);
/** The place of an event is used again: what was there before and cannot be any more is over. */
int bio_reuse_place(struct track *track, struct device *device, const struct blkbox_event *event,
		    bool queue);

/* track_complete.c */

int issue_event(struct track *track, struct device *device, const struct merge_item *item);
int complete_event(struct track *track, struct device *device, const struct merge_item *item);
/** Tells the completions that belong to nothing and are older than clocks can differ. */
int strays_settle(struct track *track, struct device *device, uint64_t now_ns);

/* track.c */

struct device *track_device(struct track *track, uint32_t tag, uint32_t number);
struct device *track_find_device(const struct track *track, uint32_t tag, uint32_t number);

/** Where an event's bio is looked for; flushes have no place. */
static inline uint64_t place_of(const struct blkbox_event *event)
{
	return operation_of(event) == OPERATION_FLUSH ? 0 : event->sector;
}

/** True if events may have been lost between @from_ns and now. */
static inline bool is_touched(const struct device *device, uint64_t from_ns)
{
	return track_touched(&device->now, from_ns);
}

#endif
