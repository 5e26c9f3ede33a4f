/* SPDX-License-Identifier: MIT */
/**
 * @file
 * How events become text: the options that `dump` and `live` share, an argp child.
 */
#ifndef BLKBOX_CLI_TEXT_ARGS_H
#define BLKBOX_CLI_TEXT_ARGS_H

#include "text.h"

#include <argp.h>

struct text_args {
	struct text_options options;
	struct text_formats *formats; /* what @options.formats points to, once parsed */
	bool legend;		      /* explain the letters, and nothing else */
};

/** Input: a struct text_args, all zero. Wrong arguments end the program as argp_error() does. */
extern const struct argp text_argp;

void text_args_deinit(struct text_args *args);
/** To standard output. */
void text_args_print_legend(void);

#endif
