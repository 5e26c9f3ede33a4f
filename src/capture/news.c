/* SPDX-License-Identifier: MIT */
#include "news.h"

#include "locked.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>
#include <sys/eventfd.h>

int news_init(struct news *news)
{
	int fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);

	if (fd < 0)
		return -errno;
	news->fd = fd;
	news->n = 0;
	pthread_mutex_init(&news->lock, NULL);
	return 0;
}

void news_deinit(struct news *news)
{
	if (news->fd < 0)
		return;
	close_keep_errno(take_fd(&news->fd));
	pthread_mutex_destroy(&news->lock);
}

void news_add(struct news *news, const char *format, ...)
{
	uint64_t one = 1;
	ssize_t ignored;
	va_list args;

	if (!news)
		return;
	LOCKED(&news->lock);
	if (news->n == NEWS_MAX)
		return;
	va_start(args, format);
	vsnprintf(news->items[news->n++].text, WHY_MAX, format, args);
	va_end(args);
	ignored = write(news->fd, &one, sizeof(one));
	(void)ignored;
}

bool news_take(struct news *news, struct why *ret)
{
	LOCKED(&news->lock);
	uint64_t count;
	ssize_t ignored;

	if (!news->n)
		return false;
	*ret = news->items[0];
	memmove(news->items, news->items + 1, --news->n * sizeof(*news->items));
	if (!news->n) {
		ignored = read(news->fd, &count, sizeof(count));
		(void)ignored;
	}
	return true;
}
