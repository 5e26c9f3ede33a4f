/* SPDX-License-Identifier: MIT */
/**
 * @file
 * A row of comma-separated values (RFC 4180) that is one line whatever its fields are.
 */
#ifndef BLKBOX_PROC_CSV_H
#define BLKBOX_PROC_CSV_H

#include "cleanup.h"

#include <stddef.h>
#include <stdint.h>

enum {
	CSV_ROW_BYTES = 4096,
	CSV_TEXT_BYTES = 768, /* of one field: longer ones are cut off */
};

struct csv_row {
	size_t n;
	unsigned fields;
	char text[CSV_ROW_BYTES];
};

void csv_begin(struct csv_row *row);
/** Control characters and broken UTF-8 become \xNN; quoted where it must be. */
void csv_text(struct csv_row *row, const char *text);
/** The same, quoted whether it must be or not. */
void csv_quoted(struct csv_row *row, const char *text);
void csv_printf(struct csv_row *row, const char *format, ...) _printf_(2, 3);
/** Empty if it is FIGURE_UNKNOWN. */
void csv_number(struct csv_row *row, uint64_t figure);
/** @n fields with nothing in them. */
void csv_empty(struct csv_row *row, unsigned n);
/** The end of the line. */
void csv_end(struct csv_row *row);

#endif
