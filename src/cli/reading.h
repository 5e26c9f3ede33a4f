/* SPDX-License-Identifier: MIT */
/**
 * @file
 * What the commands that read LOG share: opening it, and telling what is wrong with it.
 */
#ifndef BLKBOX_CLI_READING_H
#define BLKBOX_CLI_READING_H

#include "aside.h"
#include "filter.h"
#include "sink.h"

#include <argp.h>

/** Raises the limit of open files: a set has one for each CPU and device, and all are opened. */
void allow_many_files(void);

/** While arguments are parsed: one more LOG. The list is the caller's to free. */
void reading_add_path(char ***paths, size_t *n, char *path, struct argp_state *state);

/** Opens; on failure the sentence is on stderr. STATUS_OK or STATUS_FAILED. */
int reading_open(const char *command, char *const *paths, size_t n, struct recording **ret);

/** -EEXIST with a sentence if writing @path (or @path.part) would replace what is being read. */
int reading_spares(const struct recording *recording, const char *path, struct why *why);

/** aside_open(), if reading_spares() has nothing against it. */
int reading_open_aside(const struct recording *recording, const char *path, bool force,
		       struct aside *aside, struct why *why);

/**
 * Sends the events of @recording that pass the filter into @sink and finishes it; says so if there
 * is none. 0, or an error told in @why.
 */
int reading_pump(const char *command, struct recording *recording, const struct filter *filter,
		 struct sink *sink, bool shows_progress, struct why *why);

/**
 * Tells on stderr what is wrong with the recording, and if it is empty.
 * STATUS_OK, or STATUS_INCOMPLETE if anything is cut off, damaged, skipped or dropped.
 */
int reading_status(const char *command, const struct recording *recording);

/**
 * From now on signals that end a program wait until reading_check_signals() asks for them, so that
 * an output that was begun is taken back. reading_pump() asks.
 */
void reading_hold_signals(void);
/** -EINTR, with a sentence, if there was one. */
int reading_check_signals(struct why *why);

#endif
