/* SPDX-License-Identifier: MIT */
#include "channel.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

static bool is_open(int fd)
{
	return fcntl(fd, F_GETFD) >= 0;
}

Test(channel, starts_empty_with_what_it_was_given)
{
	struct log_channel id = {.channel = 3, .device_index = 1, .cpu = 7, .kind = 1};
	int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	struct channel *channel;
	size_t n;

	cr_assert_eq(channel_adopt_create(&id, fd, 8192, &channel), 0);
	cr_assert_eq(channel->id.channel, 3);
	cr_assert_eq(channel->id.cpu, 7);
	cr_assert_eq(channel->fd, fd);
	cr_assert_eq(channel->bytes_read, 0);
	cr_assert_not(channel->finished || atomic_load(&channel->gone));
	ring_room(&channel->ring, &n);
	cr_assert_eq(n, 8192);
	/* The producer's and the consumer's side never share a cache line. */
	cr_assert_eq((uintptr_t)&channel->ring.head % RING_CACHE_LINE, 0);
	cr_assert_eq((uintptr_t)&channel->ring.tail % RING_CACHE_LINE, 0);
	cr_assert_geq((uintptr_t)&channel->ring.tail - (uintptr_t)&channel->ring.head,
		      RING_CACHE_LINE);
	channel_destroy(channel);
	cr_assert_not(is_open(fd), "the file is the channel's");
}

Test(channel, adopts_the_file_when_it_fails_too)
{
	struct log_channel id = {0};
	int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	struct channel *channel = NULL;

	/* More than an address space has. */
	cr_assert_eq(channel_adopt_create(&id, fd, (size_t)1 << 62, &channel), -ENOMEM);
	cr_assert_null(channel);
	cr_assert_not(is_open(fd));
}

Test(channel, nothing_is_destroyed_quietly)
{
	channel_destroy(NULL);
}
