/* SPDX-License-Identifier: MIT */
/**
 * @file
 * The user who started this program through sudo, and whose outputs and commands are to be hers.
 */
#ifndef BLKBOX_BASE_INVOKER_H
#define BLKBOX_BASE_INVOKER_H

#include <stdbool.h>
#include <sys/types.h>

struct invoker {
	uid_t uid;
	gid_t gid;
};

/**
 * Fills @ret if this is root by way of sudo (SUDO_UID, SUDO_GID), for somebody who is not root.
 * Of anybody but root the variables are not believed: whoever sets them could name anyone.
 */
bool invoker_find(struct invoker *ret);

/** The process may do more than who started it could: it is root, or gained rights by its file. */
bool is_privileged(void);

#endif
