/* SPDX-License-Identifier: MIT */
#include "csv.h"

#include "escape.h"
#include "figure.h"
#include "out.h"

#include <assert.h>
#include <stdarg.h>

void csv_begin(struct csv_row *row)
{
	row->n = 0;
	row->fields = 0;
}

/* Fields are bounded, and so is their number: there is always room. */
static void put(struct csv_row *row, char c)
{
	assert(row->n < sizeof(row->text));
	row->text[row->n++] = c;
}

static void next_field(struct csv_row *row)
{
	if (row->fields++)
		put(row, ',');
}

static void put_text(struct csv_row *row, const char *text, bool quoted)
{
	char plain[CSV_TEXT_BYTES];

	escape_name(plain, sizeof(plain), text, strlen(text));
	next_field(row);
	/* Blanks at the ends are the field's, but some readers want to be told. */
	quoted = quoted || strpbrk(plain, ",\"") || plain[0] == ' ' ||
		 (*plain && plain[strlen(plain) - 1] == ' ');
	if (quoted)
		put(row, '"');
	for (const char *c = plain; *c; c++) {
		if (*c == '"')
			put(row, '"');
		put(row, *c);
	}
	if (quoted)
		put(row, '"');
}

void csv_text(struct csv_row *row, const char *text)
{
	put_text(row, text, false);
}

void csv_quoted(struct csv_row *row, const char *text)
{
	put_text(row, text, true);
}

void csv_printf(struct csv_row *row, const char *format, ...)
{
	char text[CSV_TEXT_BYTES];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	csv_text(row, text);
}

void csv_number(struct csv_row *row, uint64_t figure)
{
	next_field(row);
	assert(row->n + 20 < sizeof(row->text));
	if (figure_known(figure))
		row->n += format_u64(row->text + row->n, figure);
}

void csv_empty(struct csv_row *row, unsigned n)
{
	while (n--)
		next_field(row);
}

void csv_end(struct csv_row *row)
{
	put(row, '\n');
}
