/* SPDX-License-Identifier: MIT */
#include "ring.h"

#include "cleanup.h"

#include <assert.h>
#include <errno.h>
#include <sys/eventfd.h>
#include <sys/mman.h>

int ring_init(struct ring *ring, size_t size)
{
	void *bytes;

	assert(size && (size & (size - 1)) == 0);
	/* mmap, so that pages of a ring that is never filled are never touched. */
	bytes = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (bytes == MAP_FAILED)
		return -errno;
	/* A child that is forked meanwhile would have each page copied that is written to. */
	madvise(bytes, size, MADV_DONTFORK);
	ring->bytes = bytes;
	ring->size = size;
	ring->tail_seen = 0;
	atomic_init(&ring->head, 0);
	atomic_init(&ring->tail, 0);
	return 0;
}

void ring_deinit(struct ring *ring)
{
	if (ring->bytes)
		munmap(ring->bytes, ring->size);
	ring->bytes = NULL;
}

static size_t piece(const struct ring *ring, uint64_t cursor, size_t n)
{
	size_t to_end = ring->size - (size_t)(cursor & (ring->size - 1));

	return n < to_end ? n : to_end;
}

uint8_t *ring_room(struct ring *ring, size_t *ret_size)
{
	uint64_t head = atomic_load_explicit(&ring->head, memory_order_relaxed);

	/*
	 * Look at the consumer's line only when what was seen last is used up. Acquire pairs with
	 * the release in ring_release(): the consumer is done with the bytes we are about to reuse.
	 */
	if (head - ring->tail_seen == ring->size)
		ring->tail_seen = atomic_load_explicit(&ring->tail, memory_order_acquire);
	*ret_size = piece(ring, head, ring->size - (size_t)(head - ring->tail_seen));
	return ring->bytes + (head & (ring->size - 1));
}

void ring_commit(struct ring *ring, size_t n)
{
	uint64_t head = atomic_load_explicit(&ring->head, memory_order_relaxed);

	/* Release pairs with the acquire in ring_peek(): the bytes are there before the cursor. */
	atomic_store_explicit(&ring->head, head + n, memory_order_release);
}

const uint8_t *ring_peek(struct ring *ring, size_t *ret_size)
{
	uint64_t tail = atomic_load_explicit(&ring->tail, memory_order_relaxed);
	/* Acquire pairs with the release in ring_commit(). */
	uint64_t head = atomic_load_explicit(&ring->head, memory_order_acquire);

	*ret_size = piece(ring, tail, (size_t)(head - tail));
	return ring->bytes + (tail & (ring->size - 1));
}

void ring_release(struct ring *ring, size_t n)
{
	uint64_t tail = atomic_load_explicit(&ring->tail, memory_order_relaxed);

	/* Release pairs with the acquire in ring_room(): our reads are over before it is reused. */
	atomic_store_explicit(&ring->tail, tail + n, memory_order_release);
}

size_t ring_filled(const struct ring *ring)
{
	/* Tail first: a head that moves on meanwhile makes the answer larger, never negative. */
	uint64_t tail = atomic_load_explicit(&ring->tail, memory_order_acquire);
	uint64_t head = atomic_load_explicit(&ring->head, memory_order_acquire);

	return head - tail > ring->size ? ring->size : (size_t)(head - tail);
}

int ring_sleep_init(struct ring_sleep *sleep)
{
	int fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);

	if (fd < 0)
		return -errno;
	sleep->fd = fd;
	atomic_init(&sleep->sleeping, false);
	return 0;
}

void ring_sleep_deinit(struct ring_sleep *sleep)
{
	if (sleep->fd >= 0)
		close(sleep->fd);
	sleep->fd = -1;
}

void ring_sleep_prepare(struct ring_sleep *sleep)
{
	/*
	 * Store, fence, and then the caller loads the cursors; ring_wake()'s caller stores a
	 * cursor, then fence, then loads the flag. Of the two loads at least one sees the other's
	 * store.
	 */
	atomic_store_explicit(&sleep->sleeping, true, memory_order_relaxed);
	atomic_thread_fence(memory_order_seq_cst);
}

void ring_sleep_done(struct ring_sleep *sleep)
{
	uint64_t count;
	ssize_t ignored;

	atomic_store_explicit(&sleep->sleeping, false, memory_order_relaxed);
	/* EAGAIN: woken by something else. */
	ignored = read(sleep->fd, &count, sizeof(count));
	(void)ignored;
}

void ring_wake(struct ring_sleep *sleep)
{
	/* Pairs with ring_sleep_prepare(). */
	atomic_thread_fence(memory_order_seq_cst);
	if (atomic_load_explicit(&sleep->sleeping, memory_order_relaxed))
		ring_wake_always(sleep);
}

void ring_wake_always(struct ring_sleep *sleep)
{
	uint64_t one = 1;
	/* EAGAIN: the counter is full, so it is awake anyway. */
	ssize_t ignored = write(sleep->fd, &one, sizeof(one));

	(void)ignored;
}
