/* SPDX-License-Identifier: MIT */
#include "channel.h"

#include "cleanup.h"

int channel_adopt_create(const struct log_channel *id, int fd_, size_t ring_bytes,
			 struct channel **ret)
{
	_cleanup_close_ int fd = fd_;
	struct channel *channel = NULL;
	int r;

	/* Cache-line members need more alignment than calloc() gives. */
	if (posix_memalign((void **)&channel, RING_CACHE_LINE, sizeof(*channel)))
		return -ENOMEM;
	*channel = (struct channel){.id = *id, .fd = -1};
	r = ring_init(&channel->ring, ring_bytes);
	if (r < 0) {
		channel_destroy(channel);
		return r;
	}
	channel->fd = take_fd(&fd);
	*ret = channel;
	return 0;
}

void channel_close(struct channel *channel)
{
	close_keep_errno(channel->fd);
	channel->fd = -1;
}

void channel_destroy(struct channel *channel)
{
	if (!channel)
		return;
	close_keep_errno(channel->fd);
	ring_deinit(&channel->ring);
	free(channel);
}
