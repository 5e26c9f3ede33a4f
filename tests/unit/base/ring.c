/* SPDX-License-Identifier: MIT */
/* One thread plays both sides; tests/stress has two. */
#include "ring.h"

#include <criterion/criterion.h>
#include <poll.h>
#include <string.h>

enum {
	SIZE = 4096
};

static struct ring ring;

static void init(void)
{
	cr_assert_eq(ring_init(&ring, SIZE), 0);
}

static void deinit(void)
{
	ring_deinit(&ring);
}

TestSuite(ring, .init = init, .fini = deinit);

static size_t room(void)
{
	size_t n;

	ring_room(&ring, &n);
	return n;
}

static size_t peek(void)
{
	size_t n;

	ring_peek(&ring, &n);
	return n;
}

static void put(size_t n, int fill)
{
	size_t n_room;
	uint8_t *to = ring_room(&ring, &n_room);

	cr_assert_geq(n_room, n);
	memset(to, fill, n);
	ring_commit(&ring, n);
}

static void take(size_t n, int fill)
{
	size_t filled;
	const uint8_t *from = ring_peek(&ring, &filled);

	cr_assert_geq(filled, n);
	for (size_t i = 0; i < n; i++)
		cr_assert_eq(from[i], fill);
	ring_release(&ring, n);
}

Test(ring, an_empty_one_has_all_its_room_and_nothing_to_read)
{
	cr_assert_eq(room(), SIZE);
	cr_assert_eq(peek(), 0);
	cr_assert_eq(ring_filled(&ring), 0);
}

Test(ring, a_full_one_has_no_room_until_something_is_released)
{
	put(SIZE, 1);
	cr_assert_eq(room(), 0);
	cr_assert_eq(peek(), SIZE);
	cr_assert_eq(ring_filled(&ring), SIZE);
	take(1, 1);
	cr_assert_eq(room(), 1);
	cr_assert_eq(ring_filled(&ring), SIZE - 1);
}

Test(ring, room_and_bytes_come_in_two_pieces_around_the_end)
{
	put(3000, 1);
	take(3000, 1);
	cr_assert_eq(room(), SIZE - 3000);
	put(SIZE - 3000, 2);
	cr_assert_eq(room(), 3000);
	put(100, 3);
	cr_assert_eq(ring_filled(&ring), SIZE - 3000 + 100);
	cr_assert_eq(peek(), SIZE - 3000);
	take(SIZE - 3000, 2);
	cr_assert_eq(peek(), 100);
	take(100, 3);
	cr_assert_eq(peek(), 0);
}

Test(ring, bytes_are_seen_only_once_committed)
{
	size_t n;

	memset(ring_room(&ring, &n), 7, 10);
	cr_assert_eq(peek(), 0);
	ring_commit(&ring, 4);
	cr_assert_eq(peek(), 4);
}

Test(ring, the_producer_looks_at_the_tail_again_only_when_it_must)
{
	put(SIZE / 2, 1);
	take(SIZE / 2, 1);
	/* What is left of the room it saw first, to the end of the ring ... */
	cr_assert_eq(room(), SIZE / 2);
	put(SIZE / 2, 2);
	/* ... and then the half that was released. */
	cr_assert_eq(room(), SIZE / 2);
}

Test(ring, cursors_run_over_the_end_of_64_bits)
{
	uint64_t start = UINT64_MAX - 100 + 1;

	atomic_store(&ring.head, start);
	atomic_store(&ring.tail, start);
	ring.tail_seen = start;
	/* 2^64 is a multiple of the size: the same piece ends there. */
	cr_assert_eq(room(), 100);
	put(100, 1);
	cr_assert_eq(atomic_load(&ring.head), 0);
	put(SIZE - 100, 2);
	cr_assert_eq(room(), 0);
	cr_assert_eq(ring_filled(&ring), SIZE);
	take(100, 1);
	cr_assert_eq(room(), 100);
	take(SIZE - 100, 2);
	cr_assert_eq(ring_filled(&ring), 0);
	cr_assert_eq(atomic_load(&ring.tail), SIZE - 100);
}

Test(ring, what_is_filled_is_never_more_than_the_size)
{
	/* A head that moved on by more than the ring between the two loads. */
	atomic_store(&ring.head, SIZE + 500);
	cr_assert_eq(ring_filled(&ring), SIZE);
}

static bool is_readable(const struct ring_sleep *sleep)
{
	struct pollfd fd = {.fd = sleep->fd, .events = POLLIN};

	return poll(&fd, 1, 0) == 1;
}

Test(ring_sleep, only_a_sleeper_is_woken)
{
	struct ring_sleep sleep;

	cr_assert_eq(ring_sleep_init(&sleep), 0);
	ring_wake(&sleep);
	cr_assert_not(is_readable(&sleep));
	ring_sleep_prepare(&sleep);
	cr_assert_not(is_readable(&sleep));
	ring_wake(&sleep);
	cr_assert(is_readable(&sleep));
	ring_sleep_done(&sleep);
	cr_assert_not(is_readable(&sleep));
	ring_wake(&sleep);
	cr_assert_not(is_readable(&sleep), "it is awake");
	ring_sleep_deinit(&sleep);
	cr_assert_eq(sleep.fd, -1);
}

Test(ring_sleep, news_that_must_not_wait_are_kept_for_the_next_sleep)
{
	struct ring_sleep sleep;

	cr_assert_eq(ring_sleep_init(&sleep), 0);
	ring_wake_always(&sleep);
	ring_wake_always(&sleep);
	ring_sleep_prepare(&sleep);
	cr_assert(is_readable(&sleep));
	ring_sleep_done(&sleep);
	cr_assert_not(is_readable(&sleep), "one look takes all");
	ring_sleep_deinit(&sleep);
}

Test(ring_sleep, done_without_news_does_not_block)
{
	struct ring_sleep sleep;

	cr_assert_eq(ring_sleep_init(&sleep), 0);
	ring_sleep_prepare(&sleep);
	ring_sleep_done(&sleep);
	ring_sleep_deinit(&sleep);
}
