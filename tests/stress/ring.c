/* SPDX-License-Identifier: MIT */
/*
 * A producer and a consumer race through a small ring, both asleep whenever it is full or empty.
 * Every byte must arrive once and in order; a lost wake-up would be a hang, which the alarm ends.
 */
#include "ring.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum {
	TIME_LIMIT_S = 240
};

struct race {
	struct ring ring;
	struct ring_sleep producer;
	struct ring_sleep consumer;
	uint64_t total;
	unsigned seed;
};

static void sleep_on(struct ring_sleep *sleep)
{
	struct pollfd poll_fd = {.fd = sleep->fd, .events = POLLIN};

	poll(&poll_fd, 1, -1);
}

/* The byte at a place of the stream: no period that a ring size could hide. */
static uint8_t byte_at(uint64_t at)
{
	return (uint8_t)((at * 0x9E3779B97F4A7C15u) >> 56);
}

static void *produce(void *argument)
{
	struct race *race = argument;
	unsigned seed = race->seed;
	uint64_t at = 0;

	while (at < race->total) {
		size_t room;
		uint8_t *to = ring_room(&race->ring, &room);
		size_t n = (size_t)rand_r(&seed) % 97 + 1;

		if (!room) {
			ring_sleep_prepare(&race->producer);
			ring_room(&race->ring, &room);
			if (!room)
				sleep_on(&race->producer);
			ring_sleep_done(&race->producer);
			continue;
		}
		if (n > room)
			n = room;
		if (n > race->total - at)
			n = (size_t)(race->total - at);
		for (size_t i = 0; i < n; i++)
			to[i] = byte_at(at + i);
		ring_commit(&race->ring, n);
		ring_wake(&race->consumer);
		at += n;
	}
	return NULL;
}

static int consume(struct race *race)
{
	unsigned seed = race->seed + 1;
	uint64_t at = 0;

	while (at < race->total) {
		size_t size;
		const uint8_t *bytes = ring_peek(&race->ring, &size);
		size_t n = (size_t)rand_r(&seed) % 131 + 1;

		if (!size) {
			ring_sleep_prepare(&race->consumer);
			ring_peek(&race->ring, &size);
			if (!size)
				sleep_on(&race->consumer);
			ring_sleep_done(&race->consumer);
			continue;
		}
		if (n > size)
			n = size;
		for (size_t i = 0; i < n; i++) {
			if (bytes[i] != byte_at(at + i)) {
				fprintf(stderr, "byte %llu is wrong\n",
					(unsigned long long)(at + i));
				return -1;
			}
		}
		ring_release(&race->ring, n);
		ring_wake(&race->producer);
		at += n;
	}
	return 0;
}

static int run(size_t ring_bytes, uint64_t total, unsigned seed)
{
	struct race *race = NULL;
	pthread_t producer;
	int r = -1;

	if (posix_memalign((void **)&race, RING_CACHE_LINE, sizeof(*race)))
		return -1;
	*race = (struct race){.total = total, .seed = seed};
	if (ring_init(&race->ring, ring_bytes) == 0 && ring_sleep_init(&race->producer) == 0 &&
	    ring_sleep_init(&race->consumer) == 0 &&
	    pthread_create(&producer, NULL, produce, race) == 0) {
		r = consume(race);
		if (r < 0)
			_exit(1); /* the producer would wait for ever */
		pthread_join(producer, NULL);
	}
	ring_sleep_deinit(&race->producer);
	ring_sleep_deinit(&race->consumer);
	ring_deinit(&race->ring);
	free(race);
	return r;
}

int main(void)
{
	static const size_t sizes[] = {64, 256, 4096, 65536};
	unsigned passed = 0;

	alarm(TIME_LIMIT_S);
	for (unsigned seed = 1; seed <= 5; seed++) {
		for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
			if (run(sizes[i], 2000000, seed) < 0) {
				printf("ring: %u passed, 1 failed\n", passed);
				return 1;
			}
			passed++;
		}
	}
	printf("ring: %u passed, 0 failed\n", passed);
	return 0;
}
