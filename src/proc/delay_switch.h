/* SPDX-License-Identifier: MIT */
/**
 * @file
 * The kernel's switch of delay accounting, without which nobody is known to wait for block I/O.
 *
 * Since Linux 5.14 it is off unless somebody turns it on, and it counts only for tasks that were
 * made while it was on.
 */
#ifndef BLKBOX_PROC_DELAY_SWITCH_H
#define BLKBOX_PROC_DELAY_SWITCH_H

#include "why.h"

#include <stdbool.h>
#include <stdint.h>

enum delay_state {
	DELAY_OFF,
	DELAY_ON,
	DELAY_UNTOLD, /* a kernel before 5.14, or one without the accounting */
};

struct delay_switch {
	enum delay_state state;
	uint64_t on_ticks; /* on at this time since boot for sure; FIGURE_UNKNOWN: not known */
};

/**
 * Reads it anew, and notices when it was turned.
 * @now_ticks: since boot
 * True if it is another state than before.
 */
bool delay_switch_look(struct delay_switch *delay, int proc_fd, uint64_t now_ticks);
/** As it is when nobody has looked yet. On since boot if the kernel's command line says so. */
void delay_switch_init(struct delay_switch *delay, int proc_fd, uint64_t now_ticks);

/**
 * Whether a task's delay so far, in any unit, is what it waited: a 0 of one that was made while
 * nobody counted says nothing.
 * @start_ticks: when the task began, since boot
 */
bool delay_switch_measures(const struct delay_switch *delay, uint64_t start_ticks,
			   uint64_t counted);

/** Turns it. -EACCES, -EPERM, -ENOENT, ... */
int delay_switch_turn(int proc_fd, bool on, struct why *why);

#endif
