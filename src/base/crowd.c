/* SPDX-License-Identifier: MIT */
#include "crowd.h"

#include "locked.h"

#include <sched.h>
#include <signal.h>

enum {
	HELPERS_MAX = 15
};

struct crowd {
	crowd_piece piece;
	void *context;
	/* Under the lock: */
	pthread_mutex_t lock;
	size_t next;
	size_t failed; /* the first that did; their number = none */
	int result;
	struct why why;
};

/* 1 = *@ret is to be done. Pieces in front of one that failed are: theirs would be the result. */
static int take(struct crowd *crowd, size_t *ret)
{
	LOCKED(&crowd->lock);

	if (crowd->next >= crowd->failed)
		return 0;
	*ret = crowd->next++;
	return 1;
}

static void fail(struct crowd *crowd, size_t i, int result, const struct why *why)
{
	LOCKED(&crowd->lock);

	if (i >= crowd->failed)
		return;
	crowd->failed = i;
	crowd->result = result;
	crowd->why = *why;
}

static void *work(void *data)
{
	struct crowd *crowd = data;
	size_t i;

	while (take(crowd, &i)) {
		struct why why = {""};
		int r = crowd->piece(crowd->context, i, &why);

		if (r < 0)
			fail(crowd, i, r, &why);
	}
	return NULL;
}

static size_t helpers_for(size_t n)
{
	cpu_set_t cpus;
	size_t there =
		sched_getaffinity(0, sizeof(cpus), &cpus) == 0 ? (size_t)CPU_COUNT(&cpus) : 1;

	if (there > HELPERS_MAX + 1)
		there = HELPERS_MAX + 1;
	return (n < there ? n : there) - (n > 0);
}

int crowd_work(size_t n, crowd_piece piece, void *context, struct why *why)
{
	struct crowd crowd = {.piece = piece, .context = context, .failed = n};
	pthread_t helpers[HELPERS_MAX];
	size_t wanted = helpers_for(n), started = 0;
	sigset_t all, before;

	pthread_mutex_init(&crowd.lock, NULL);
	/* Signals are the caller's. Who cannot have help does it all. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	while (started < wanted && pthread_create(&helpers[started], NULL, work, &crowd) == 0)
		started++;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	work(&crowd);
	while (started)
		pthread_join(helpers[--started], NULL);
	pthread_mutex_destroy(&crowd.lock);
	return crowd.failed < n ? why_set(why, crowd.result, "%s", crowd.why.text) : 0;
}
