/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Samplers that run at the same time share the switch of delay accounting: who finds it off turns
 * it on, and the last of them turns it off again.
 *
 * In /run/blkbox-delayacct is "1" while it is on because of one of them; each of them holds a read
 * lock on that file (open file description locks, fcntl(2)), and so does its guardian, which has
 * the same description. Changes are made under flock(2). The file stays, empty.
 */
#ifndef BLKBOX_PROC_DELAY_LEASE_H
#define BLKBOX_PROC_DELAY_LEASE_H

#include "why.h"

#include <stdbool.h>

/**
 * Opens the file, and makes it if need be; the caller closes it. -1: it cannot be had, and one is
 * on one's own.
 * @run_fd: stands for /run; borrowed
 */
int delay_lease_open(int run_fd);

/**
 * Turns delay accounting on if it is off, and takes part in what others of us have turned on.
 * @fd: may be -1
 * @ret_ours: delay_lease_give() has to be called. Set before anything is turned: it may be in
 *            memory that a guardian sees.
 * As delay_switch_turn().
 */
int delay_lease_take(int fd, int proc_fd, bool *ret_ours, struct why *why);

/** Turns it off, unless another one still needs it. As delay_switch_turn(). */
int delay_lease_give(int fd, int proc_fd);

#endif
