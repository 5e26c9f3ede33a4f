/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Sentences that people should hear while a recording goes on. Any thread.
 */
#ifndef BLKBOX_CAPTURE_NEWS_H
#define BLKBOX_CAPTURE_NEWS_H

#include "why.h"

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

enum {
	NEWS_MAX = 16
};

struct news {
	pthread_mutex_t lock;
	struct why items[NEWS_MAX]; /* not taken yet; what comes when it is full is left out */
	size_t n;
	int fd; /* eventfd: readable while there are some */
};

int news_init(struct news *news);
void news_deinit(struct news *news);
/** @news: may be NULL: then nobody wants to hear it */
void news_add(struct news *news, const char *format, ...) _printf_(2, 3);
/** The oldest one; false if there is none. */
bool news_take(struct news *news, struct why *ret);

#endif
