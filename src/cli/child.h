/* SPDX-License-Identifier: MIT */
/**
 * @file
 * The command that is traced: a child that waits until recording has begun.
 */
#ifndef BLKBOX_CLI_CHILD_H
#define BLKBOX_CLI_CHILD_H

#include "user.h"
#include "why.h"

#include <stdbool.h>
#include <sys/types.h>

struct child {
	pid_t pid;   /* 0: none */
	int pidfd;   /* readable when it has ended; -1: none */
	int go_fd;   /* a byte here lets it go on to its exec */
	int exec_fd; /* gives the errno of a failed exec, or end of file */
	bool going;  /* it runs the command */
};

struct child_options {
	char *const *argv; /* NULL-terminated */
	bool to_stderr;	   /* what it writes to standard output goes there: ours is for events */
	bool as_root;	   /* although it was somebody else who started us through sudo */
};

/**
 * Forks a child that waits for child_go(); it will block no signals. It is to have what our caller
 * gave us: the ids of the user behind sudo, the environment; so this comes before
 * privileges_keep(), which a child would inherit.
 */
int child_start(struct child *child, const struct child_options *options, struct why *why);
/** Lets it run the command. < 0: it cannot be executed, with the sentence. */
int child_go(struct child *child, const char *name, struct why *why);
/** Waits for its end. Returns its exit status, 128 + N for a signal. */
int child_wait(struct child *child);
/** Ends a child that never got its go. One that runs its command is left alone. */
void child_deinit(struct child *child);

#endif
