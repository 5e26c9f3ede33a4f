/* SPDX-License-Identifier: MIT */
/**
 * @file
 * blkparse's -f and -F: own formats for lines. Compiled once, printed often.
 */
#ifndef BLKBOX_OUTPUT_TEXT_FORMAT_H
#define BLKBOX_OUTPUT_TEXT_FORMAT_H

#include "text_line.h"

struct text_formats;

int text_formats_create(struct text_formats **ret);
void text_formats_destroy(struct text_formats *formats);
DEFINE_CLEANUP(struct text_formats, text_formats_destroy);

/** -f: for all actions that have no format of their own yet. -EINVAL with a sentence. */
int text_formats_all(struct text_formats *formats, const char *format, struct why *why);
/** -F: "ACTION,FORMAT". ACTION: its letters or its name; blkparse's T (UT) and W (never used) too.
 */
int text_formats_one(struct text_formats *formats, const char *option, struct why *why);

/** True if a format shows the wall clock (%I, %J, %z). */
bool text_formats_need_wall(const struct text_formats *formats);

/** Prints the line if there is a format for its action; else false. */
bool text_formats_print(const struct text_formats *formats, const struct text_line *line,
			struct out *out);

/** The legend of fields. */
extern const char text_format_legend[];

#endif
