/* SPDX-License-Identifier: MIT */
/**
 * @file
 * One event as one line, as blkparse writes it.
 */
#ifndef BLKBOX_OUTPUT_TEXT_LINE_H
#define BLKBOX_OUTPUT_TEXT_LINE_H

#include "out.h"
#include "scene.h"
#include "text_track.h"

/** What a line is made from. */
struct text_line {
	const struct blkbox_event *event;
	const struct scene *scene;
	uint32_t tag;
	int64_t since_ns; /* of the event, from time 0 */
	const char *act;  /* letters, or the number of an unknown action */
	struct track_time time;
};

/** @late: the event came behind newer ones */
void text_line_print(struct out *out, const struct text_line *line, bool late);

/** Name of the line's process, escaped, "<...>" if it is unknown: returns its length. */
enum {
	TEXT_COMM_MAX = 80
};
size_t text_comm(const struct text_line *line, char ret[static TEXT_COMM_MAX]);
/** Payload as hexadecimal bytes, " .." for zeroes at its end. */
void text_hex(struct out *out, const uint8_t *bytes, size_t n);

#endif
