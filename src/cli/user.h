/* SPDX-License-Identifier: MIT */
/**
 * @file
 * The user who started us through sudo, with all that a process of hers has: groups, home.
 */
#ifndef BLKBOX_CLI_USER_H
#define BLKBOX_CLI_USER_H

#include "why.h"

#include <sys/types.h>

struct user {
	uid_t uid;
	gid_t gid;
	gid_t *groups; /* supplementary ones, @gid among them */
	int n_groups;
	char *name, *home, *shell; /* NULL: she has none */
};

/** 1: @ret is the user behind sudo; 0: there is none, and @ret is as it was. */
int user_find_invoker(struct user *ret, struct why *why);
void user_deinit(struct user *user);

/** This process, and what it will run, is hers from now on, for good. */
int user_become(const struct user *user);

#endif
