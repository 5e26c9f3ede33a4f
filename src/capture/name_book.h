/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Names of the threads that events mention, for a source whose events do not tell them: from the
 * kernel's saved_cmdlines, which knows those that are gone too, and from /proc.
 */
#ifndef BLKBOX_CAPTURE_NAME_BOOK_H
#define BLKBOX_CAPTURE_NAME_BOOK_H

#include "log_format.h"
#include "sysroot.h"

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct name_entry;

struct name_book {
	pthread_mutex_t lock;
	struct name_entry *entries; /* hash table, by pid */
	struct log_name *found;	    /* for the next name_book_collect() */
	size_t n_found;
	bool has_new;	 /* a thread was noted since the last look */
	uint64_t looked; /* looks so far */
};

int name_book_init(struct name_book *book);
void name_book_deinit(struct name_book *book);

/** Notes a thread that an event mentions. Any thread. */
int name_book_note(struct name_book *book, uint32_t pid);

/**
 * Looks for names, where there is a reason: a thread that was noted since, or some time has passed
 * and a thread may have got another name (exec). One thread at a time.
 *
 * @all: look in any case
 * *@ret: names that are new, at the moment @now_ns; free() it. Returns their number, or -errno.
 */
ssize_t name_book_collect(struct name_book *book, const struct sysroot *root, const char *tracefs,
			  uint64_t now_ns, bool all, struct log_name **ret);

#endif
