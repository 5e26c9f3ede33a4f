/* SPDX-License-Identifier: MIT */
/**
 * @file
 * The filter options that all reading commands share: an argp child.
 *
 * The parent lists filter_argp in its children and hands its struct filter down:
 * `state->child_inputs[0] = &filter;` on ARGP_KEY_INIT.
 */
#ifndef BLKBOX_CLI_FILTER_ARGS_H
#define BLKBOX_CLI_FILTER_ARGS_H

#include "filter.h"

#include <argp.h>

/** Input: a struct filter, all zero. Wrong arguments end the program as argp_error() does. */
extern const struct argp filter_argp;
/** The same for commands that refuse --action: it is not in their --help. */
extern const struct argp filter_io_argp;

/** A moment: seconds from the start ("1.5", "250ms"), or "2026-11-30[T15:48:36[.5][Z|+01:00]]". */
int moment_parse(const char *text, struct moment *ret, struct why *why);

#endif
