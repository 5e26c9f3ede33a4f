/* SPDX-License-Identifier: MIT */
/**
 * @file
 * How long processes have waited for pages that were swapped out. /proc does not tell: the kernel's
 * taskstats do, by netlink, to who has CAP_NET_ADMIN (linux/taskstats.h;
 * Documentation/accounting/taskstats.rst).
 */
#ifndef BLKBOX_PROC_SWAPIN_H
#define BLKBOX_PROC_SWAPIN_H

#include "why.h"

#include <stdint.h>
#include <sys/types.h>

struct mnl_socket;

struct swapin {
	struct mnl_socket *socket;
	uint16_t family;
	uint32_t sequence; /* of the last question */
};

/** -EPERM, -ENOENT (a kernel without taskstats), -EPROTONOSUPPORT, ...: then there is nothing to
 * close. */
int swapin_open(struct swapin *ret, struct why *why);
/** A struct that is all 0 may be closed, too. */
void swapin_close(struct swapin *swapin);

/**
 * Of all threads of a process together, since it began. It stays 0 where delay accounting is off.
 * 0; -ESRCH: there is no such process; others
 */
int swapin_read(struct swapin *swapin, pid_t pid, uint64_t *ret_ns);

#endif
