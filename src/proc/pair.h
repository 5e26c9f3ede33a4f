/* SPDX-License-Identifier: MIT */
/**
 * @file
 * One writes, and another takes away what was written, while the first is stopped.
 */
#ifndef BLKBOX_PROC_PAIR_H
#define BLKBOX_PROC_PAIR_H

#include "bench.h"

struct pair {
	struct member writer, remover;
	const char *remover_role;
};

/** Both act, the writer first, and are stopped afterwards: @pair->writer, @pair->remover. */
int pair_act(const struct bench *bench, struct observation *observation, worker_action write,
	     worker_action take_away, struct pair *pair, struct why *why);
/** -EIO if the writer's counters have changed while it was stopped; else it is ret. */
int pair_writer_later(const struct bench *bench, const struct pair *pair, struct io_counters *ret,
		      struct why *why);
int pair_dismiss(const struct bench *bench, struct pair *pair, struct why *why);

/** Publishes both, as "writer" and the remover's role. */
void pair_publish(struct observation *observation, const struct pair *pair);
/**
 * What the two are charged for.
 * @synced: all was written back before; else nothing is expected to have been
 */
void pair_expect(const struct bench *bench, struct observation *observation,
		 const struct pair *pair, bool synced);

/**
 * With device truth, whether something was written back before it was taken away need not stay
 * open.
 * @written_bytes: by the device, in all
 */
void pair_settle(struct observation *observation, uint64_t written_bytes);

#endif
