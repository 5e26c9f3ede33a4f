/* SPDX-License-Identifier: MIT */
/**
 * @file
 * A mutex that is held until the end of the scope.
 */
#ifndef BLKBOX_BASE_LOCKED_H
#define BLKBOX_BASE_LOCKED_H

#include "cleanup.h"

#include <pthread.h>

static inline void locked_unlock(pthread_mutex_t **mutex)
{
	pthread_mutex_unlock(*mutex);
}

/** Locks now, unlocks on every way out. Once in a scope. */
#define LOCKED(mutex)                                                      \
	_cleanup_(locked_unlock) pthread_mutex_t *locked_mutex_ = (mutex); \
	pthread_mutex_lock(locked_mutex_)

#endif
