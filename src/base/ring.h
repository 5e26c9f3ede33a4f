/* SPDX-License-Identifier: MIT */
/**
 * @file
 * A ring of bytes between two threads.
 *
 * Single producer, single consumer. Cursors run free (64 bits) and are masked on use; each lives on
 * its own cache line. Neither side ever waits in here: a full or empty ring answers a size of 0,
 * and the threads sleep on their eventfds (struct ring_sleep).
 */
#ifndef BLKBOX_BASE_RING_H
#define BLKBOX_BASE_RING_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	RING_CACHE_LINE = 64
};

struct ring {
	uint8_t *bytes;
	size_t size; /* power of two */
	/* Written by the producer alone. */
	_Alignas(RING_CACHE_LINE) _Atomic uint64_t head;
	uint64_t tail_seen; /* the producer's last look at the tail */
	/* Written by the consumer alone. */
	_Alignas(RING_CACHE_LINE) _Atomic uint64_t tail;
};

/** @size: power of two. -ENOMEM if there is no room for it. */
int ring_init(struct ring *ring, size_t size);
void ring_deinit(struct ring *ring);

/** Producer: free room in one piece; *@ret_size 0 = full. Less than all there is, at the end. */
uint8_t *ring_room(struct ring *ring, size_t *ret_size);
/** Producer: publishes @n bytes that were written into the room. */
void ring_commit(struct ring *ring, size_t n);

/** Consumer: filled bytes in one piece; *@ret_size 0 = empty. Less than all there is, at the end.
 */
const uint8_t *ring_peek(struct ring *ring, size_t *ret_size);
/** Consumer: gives @n bytes back. */
void ring_release(struct ring *ring, size_t n);

/** Bytes in the ring; from any thread, a moment ago. */
size_t ring_filled(const struct ring *ring);

/**
 * Where a thread sleeps until another one has news for it.
 *
 * The sleeper says so, fences, and looks once more before it sleeps; the other side publishes its
 * news, fences, and looks whether somebody sleeps. One of the two always sees the other.
 */
struct ring_sleep {
	int fd; /* eventfd, to poll for POLLIN */
	_Alignas(RING_CACHE_LINE) atomic_bool sleeping;
};

int ring_sleep_init(struct ring_sleep *sleep);
void ring_sleep_deinit(struct ring_sleep *sleep);
/** Sleeper: call, look for news once more, and only then poll the fd. */
void ring_sleep_prepare(struct ring_sleep *sleep);
/** Sleeper: awake again; empties the eventfd. */
void ring_sleep_done(struct ring_sleep *sleep);
/** Other side, after its news are published: wakes the sleeper if there is one. */
void ring_wake(struct ring_sleep *sleep);
/** Other side: wakes without asking. For news that must not wait (stop). */
void ring_wake_always(struct ring_sleep *sleep);

#endif
