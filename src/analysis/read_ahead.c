/* SPDX-License-Identifier: MIT */
#include "read_ahead.h"

#include "locked.h"

#include <signal.h>
#include <string.h>

enum {
	BATCHES = 16,
	BATCH_EVENTS = 256,
	WAKE_AT = BATCHES / 2, /* who waits for room waits for much: waking is dear */
	PDU_MAX = UINT16_MAX,
	BATCH_PDU_BYTES = PDU_MAX + (64 << 10),
};

/* What one thread hands to the other at a time. */
struct batch {
	size_t n;
	size_t pdu_bytes; /* used of @pdus */
	int end;	  /* what merge_next() said behind them; 1 = more will follow */
	struct merge_item items[BATCH_EVENTS];
	uint8_t pdus[BATCH_PDU_BYTES];
};

struct read_ahead {
	struct merge *merge;
	pthread_t thread;
	/* The reader's. */
	struct batch *current; /* NULL = none */
	size_t at;
	/* Both threads', under the lock: batches are used in turn. */
	pthread_mutex_t lock;
	pthread_cond_t moved; /* one of these: */
	uint64_t filled, emptied;
	bool is_full; /* until WAKE_AT of them are left */
	bool stopping;
	struct why
		why; /* of a batch that ends with an error; the reader's when it has that batch */
	struct batch batches[BATCHES];
};

/* The next batch to be filled, once it is free. NULL: there is no more to do. */
static struct batch *wait_free(struct read_ahead *ahead)
{
	LOCKED(&ahead->lock);

	if (ahead->filled - ahead->emptied == BATCHES)
		ahead->is_full = true;
	while (!ahead->stopping && ahead->is_full)
		pthread_cond_wait(&ahead->moved, &ahead->lock);
	return ahead->stopping ? NULL : &ahead->batches[ahead->filled % BATCHES];
}

static void hand_over(struct read_ahead *ahead)
{
	LOCKED(&ahead->lock);

	/* It waits for the first one only. */
	if (ahead->filled++ == ahead->emptied)
		pthread_cond_signal(&ahead->moved);
}

/* A payload is valid until the merge's next event only. */
static void keep_pdu(struct batch *batch, struct blkbox_event *event)
{
	uint8_t *kept = batch->pdus + batch->pdu_bytes;

	if (!event->pdu_bytes)
		return;
	memcpy(kept, event->pdu, event->pdu_bytes);
	event->pdu = kept;
	batch->pdu_bytes += event->pdu_bytes;
}

static void fill(struct read_ahead *ahead, struct batch *batch)
{
	batch->n = 0;
	batch->pdu_bytes = 0;
	batch->end = 1;
	while (batch->n < BATCH_EVENTS && batch->pdu_bytes + PDU_MAX <= BATCH_PDU_BYTES) {
		struct merge_item *item = &batch->items[batch->n];

		batch->end = merge_next(ahead->merge, UINT64_MAX, item, &ahead->why);
		if (batch->end <= 0)
			return;
		keep_pdu(batch, &item->event);
		batch->n++;
	}
}

static void *run(void *data)
{
	struct read_ahead *ahead = data;
	struct batch *batch;
	int end = 1;

	while (end > 0 && (batch = wait_free(ahead))) {
		fill(ahead, batch);
		end = batch->end;
		hand_over(ahead);
	}
	return NULL;
}

/* Signals are the caller's. */
static int start_thread(struct read_ahead *ahead)
{
	sigset_t all, before;
	int r;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	r = pthread_create(&ahead->thread, NULL, run, ahead);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return -r;
}

int read_ahead_adopt_start(struct merge *merge, struct read_ahead **ret)
{
	/* Its pages are taken as they are used. */
	struct read_ahead *ahead = calloc(1, sizeof(*ahead));
	int r = ahead ? 0 : -ENOMEM;

	if (ahead) {
		ahead->merge = merge;
		pthread_mutex_init(&ahead->lock, NULL);
		pthread_cond_init(&ahead->moved, NULL);
		r = start_thread(ahead);
	}
	if (r < 0) {
		free(ahead);
		merge_destroy(merge);
		return r;
	}
	*ret = ahead;
	return 0;
}

void read_ahead_stop(struct read_ahead *ahead)
{
	if (!ahead)
		return;
	pthread_mutex_lock(&ahead->lock);
	ahead->stopping = true;
	pthread_cond_signal(&ahead->moved);
	pthread_mutex_unlock(&ahead->lock);
	pthread_join(ahead->thread, NULL);
	pthread_cond_destroy(&ahead->moved);
	pthread_mutex_destroy(&ahead->lock);
	merge_destroy(ahead->merge);
	free(ahead);
}

/* Gives the batch back that the reader is done with, and waits for the next one. */
static struct batch *wait_filled(struct read_ahead *ahead)
{
	LOCKED(&ahead->lock);

	if (ahead->current)
		ahead->emptied++;
	if (ahead->is_full && ahead->filled - ahead->emptied <= WAKE_AT) {
		ahead->is_full = false;
		pthread_cond_signal(&ahead->moved);
	}
	while (ahead->filled == ahead->emptied)
		pthread_cond_wait(&ahead->moved, &ahead->lock);
	return &ahead->batches[ahead->emptied % BATCHES];
}

int read_ahead_next(struct read_ahead *ahead, struct merge_item *ret, struct why *why)
{
	while (!ahead->current || ahead->at == ahead->current->n) {
		if (ahead->current && ahead->current->end < 0)
			return why_set(why, ahead->current->end, "%s", ahead->why.text);
		if (ahead->current && ahead->current->end == 0)
			return 0;
		ahead->current = wait_filled(ahead);
		ahead->at = 0;
	}
	*ret = ahead->current->items[ahead->at++];
	return 1;
}
