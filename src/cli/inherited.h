/* SPDX-License-Identifier: MIT */
/**
 * @file
 * The environment that our caller gave us. With root's rights, what is in it must not lead us
 * to other files: neither ours ($TMPDIR) nor those of libraries (LOCPATH, BLKID_FILE, ...).
 */
#ifndef BLKBOX_CLI_INHERITED_H
#define BLKBOX_CLI_INHERITED_H

/** First of all: a privileged process keeps only variables that lead to no file. */
void inherited_reduce(void);
/** For a command of the user's: all that there was, as far as /proc tells it. */
void inherited_restore(void);

#endif
