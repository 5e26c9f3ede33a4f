/* SPDX-License-Identifier: MIT */
#include "stall_csv.h"

#include <string.h>

enum {
	BUFFER_BYTES = 4 * STALL_RECORD_MAX,
	NAME_LINES_MAX = 16, /* a process's name has at most 15 bytes */
};

struct stall_csv {
	stall_csv_row row;
	void *context;
	char *buffer; /* what is not yet taken apart starts at @at */
	size_t n, at;
	size_t scanned; /* of what starts at @at: no end of a record is in there */
	bool in_quotes, in_field;
	bool skipping; /* the rest of a line that is too long */
	bool has_header;
	struct stall_header header;
	char *scratch; /* a record that is being split */
	char *held;    /* the start of a row that a newline in a name has broken */
	size_t held_bytes;
	unsigned held_lines;
	uint64_t held_line; /* the first one's number */
	struct stall_fault held_fault;
	struct stall_csv_health health;
	struct stall_row out;
};

int stall_csv_create(stall_csv_row row, void *context, struct stall_csv **ret)
{
	_cleanup_(cleanup_stall_csv_destroy) struct stall_csv *csv = calloc(1, sizeof(*csv));

	if (!csv)
		return -ENOMEM;
	csv->row = row;
	csv->context = context;
	csv->buffer = malloc(BUFFER_BYTES);
	csv->scratch = malloc(STALL_RECORD_MAX + 1);
	csv->held = malloc(STALL_RECORD_MAX);
	if (!csv->buffer || !csv->scratch || !csv->held)
		return -ENOMEM;
	*ret = take_ptr(csv);
	return 0;
}

void stall_csv_destroy(struct stall_csv *csv)
{
	if (!csv)
		return;
	free(csv->buffer);
	free(csv->scratch);
	free(csv->held);
	free(csv);
}

const struct stall_csv_health *stall_csv_health(const struct stall_csv *csv)
{
	return &csv->health;
}

/* @line: from 1 */
static void count_damage(struct stall_csv *csv, uint64_t line, const struct stall_fault *fault)
{
	if (csv->health.damaged++)
		return;
	csv->health.first_damaged_line = line;
	csv->health.first_fault = *fault;
}

/* The quoted field at @at without its quotes; returns what is behind it. */
static char *unquote(char *at, char *end, struct stall_field *ret)
{
	char *to = at + 1, *from = at + 1;

	*ret = (struct stall_field){.text = to};
	while (from < end) {
		if (*from == '"' && (from + 1 == end || from[1] != '"'))
			break;
		from += *from == '"';
		*to++ = *from++;
	}
	ret->n = (size_t)(to - ret->text);
	from += from < end;
	*to = '\0';
	return from;
}

/* Splits @record (of @n bytes, and a NUL) in place. Returns the number of fields, or 0: too many.
 */
static size_t split(char *record, size_t n, bool quotes, struct stall_field *fields)
{
	char *at = record, *end = record + n;
	size_t count = 0;

	for (;;) {
		struct stall_field *field = &fields[count++];
		char *comma;

		if (quotes && at < end && *at == '"') {
			comma = unquote(at, end, field);
			if (comma < end && *comma != ',')
				return 0;
		} else {
			comma = memchr(at, ',', (size_t)(end - at));
			comma = comma ? comma : end;
			*field = (struct stall_field){.text = at, .n = (size_t)(comma - at)};
		}
		if (comma >= end)
			return count;
		*comma = '\0';
		if (count == STALL_COLUMNS_MAX)
			return 0;
		at = comma + 1;
	}
}

/* @record to @csv->scratch, split. The end of the line is no part of it. */
static size_t split_copy(struct stall_csv *csv, const char *record, size_t n, bool quotes,
			 struct stall_field *fields)
{
	if (n && record[n - 1] == '\n')
		n--;
	if (n && record[n - 1] == '\r')
		n--;
	memcpy(csv->scratch, record, n);
	csv->scratch[n] = '\0';
	return split(csv->scratch, n, quotes, fields);
}

static bool parse(struct stall_csv *csv, const char *record, size_t n, bool quotes,
		  struct stall_fault *fault)
{
	struct stall_field fields[STALL_COLUMNS_MAX];
	size_t count = split_copy(csv, record, n, quotes, fields);

	if (!count) {
		snprintf(fault->text, sizeof(fault->text), "its fields cannot be told apart");
		return false;
	}
	return stall_row_parse(&csv->header, fields, count, &csv->out, fault);
}

static int deliver(struct stall_csv *csv, bool mended)
{
	csv->health.rows++;
	csv->health.mended += mended;
	return csv->row(csv->context, &csv->out);
}

static void drop_held(struct stall_csv *csv)
{
	if (csv->held_bytes)
		count_damage(csv, csv->held_line, &csv->held_fault);
	csv->held_bytes = 0;
	csv->held_lines = 0;
}

/* The start of a row whose name has a newline: it ends within the field of the name. */
static bool is_start(struct stall_csv *csv, const char *line, size_t n)
{
	struct stall_field fields[STALL_COLUMNS_MAX];
	size_t count = split_copy(csv, line, n, false, fields);

	return count == csv->header.name + 1 && fields[0].n && fields[0].text[0] >= '0' &&
	       fields[0].text[0] <= '9';
}

static bool hold(struct stall_csv *csv, const char *line, size_t n)
{
	if (csv->held_bytes + n > STALL_RECORD_MAX || csv->held_lines == NAME_LINES_MAX)
		return false;
	memcpy(csv->held + csv->held_bytes, line, n);
	csv->held_bytes += n;
	csv->held_lines++;
	return true;
}

/* A line that is no row by itself. */
static int take_broken(struct stall_csv *csv, const char *line, size_t n,
		       const struct stall_fault *fault)
{
	struct stall_fault ignored;

	if (csv->held_bytes && hold(csv, line, n)) {
		if (parse(csv, csv->held, csv->held_bytes, false, &ignored)) {
			csv->held_bytes = 0;
			csv->held_lines = 0;
			return deliver(csv, true);
		}
		if (is_start(csv, csv->held, csv->held_bytes))
			return 0;
		/* This line is not what that one lacks. */
		csv->held_lines--;
		csv->held_bytes -= n;
	}
	drop_held(csv);
	if (is_start(csv, line, n) && hold(csv, line, n)) {
		csv->held_fault = *fault;
		csv->held_line = csv->health.lines;
		return 0;
	}
	count_damage(csv, csv->health.lines, fault);
	return 0;
}

static bool is_empty(const char *line, size_t n)
{
	return !n || (n == 1 && *line == '\n') || (n == 2 && *line == '\r');
}

/* One line, with its end. */
static int take_line(struct stall_csv *csv, const char *line, size_t n, bool quotes)
{
	struct stall_field fields[STALL_COLUMNS_MAX];
	struct stall_fault fault = {""};
	size_t count;

	csv->health.lines++;
	/* The mark that some editors put before UTF-8. */
	if (!csv->has_header && n > 3 && !memcmp(line, "\xef\xbb\xbf", 3)) {
		line += 3;
		n -= 3;
	}
	if (is_empty(line, n) && !csv->held_bytes)
		return 0;
	if (csv->has_header && parse(csv, line, n, quotes, &fault)) {
		size_t commas = csv->header.n_columns;

		drop_held(csv);
		for (const char *c = line; commas && (c = memchr(c, ',', n - (size_t)(c - line)));
		     c++)
			commas--;
		return deliver(csv, !commas && !quotes);
	}
	/* Files that were put one behind the other. */
	count = split_copy(csv, line, n, true, fields);
	if (count && stall_header_parse(fields, count, &csv->header)) {
		drop_held(csv);
		csv->has_header = true;
		return 0;
	}
	return csv->has_header ? take_broken(csv, line, n, &fault) : -EBADMSG;
}

static uint64_t count_lines(const char *bytes, size_t n)
{
	uint64_t lines = 0;

	for (const char *c = bytes; (c = memchr(c, '\n', n - (size_t)(c - bytes))); c++)
		lines++;
	return lines;
}

/*
 * A record of @n bytes, with its end, as quotes tell it. Returns in *@ret_used how much of it was
 * one: where quotes are part of names that nobody quoted, its first line.
 */
static int take_record(struct stall_csv *csv, const char *record, size_t n, size_t *ret_used)
{
	const char *end = memchr(record, '\n', n);
	size_t first = end ? (size_t)(end - record) + 1 : n;
	struct stall_fault fault;

	*ret_used = first;
	if (!memchr(record, '"', n))
		return take_line(csv, record, n, false);
	/* A line that is a row as it is has no quotes but its own. */
	if (csv->has_header && first < n && parse(csv, record, first, false, &fault))
		return take_line(csv, record, first, false);
	if (csv->has_header && parse(csv, record, n, true, &fault)) {
		drop_held(csv);
		csv->health.lines += count_lines(record, n);
		*ret_used = n;
		return deliver(csv, false);
	}
	return take_line(csv, record, first, false);
}

/* Looks for the end of the record at @csv->at. Returns its bytes, or 0: it is not there yet. */
static size_t find_end(struct stall_csv *csv)
{
	const char *record = csv->buffer + csv->at;
	size_t n = csv->n - csv->at, i = csv->scanned;

	for (; i < n; i++) {
		char c = record[i];

		if (csv->in_quotes) {
			if (c != '"')
				continue;
			/* The next byte tells whether it is the last quote. */
			if (i + 1 == n)
				break;
			if (record[i + 1] == '"')
				i++;
			else
				csv->in_quotes = false;
		} else if (c == '\n') {
			return i + 1;
		} else {
			csv->in_quotes = c == '"' && !csv->in_field;
			csv->in_field = c != ',';
		}
	}
	csv->scanned = i;
	return 0;
}

static void start_record(struct stall_csv *csv, size_t used)
{
	csv->at += used;
	csv->scanned = 0;
	csv->in_quotes = false;
	csv->in_field = false;
}

/* A record without an end in sight. *@ret_taken: some of it was taken. */
static int take_overlong(struct stall_csv *csv, bool at_end, bool *ret_taken)
{
	const char *record = csv->buffer + csv->at;
	size_t n = csv->n - csv->at;
	const char *newline = memchr(record, '\n', n);
	struct stall_fault fault;

	*ret_taken = at_end ? newline != NULL : n > STALL_RECORD_MAX;
	if (!*ret_taken)
		return 0;
	/* A quote that nobody closes: it is part of a name. */
	if (newline && newline - record < STALL_RECORD_MAX) {
		size_t first = (size_t)(newline - record) + 1;
		int r = take_line(csv, record, first, false);

		start_record(csv, first);
		return r;
	}
	if (!csv->has_header)
		return -EBADMSG;
	drop_held(csv);
	snprintf(fault.text, sizeof(fault.text), "it is longer than %d bytes", STALL_RECORD_MAX);
	count_damage(csv, csv->health.lines + 1, &fault);
	csv->skipping = true;
	return 0;
}

static void skip_line(struct stall_csv *csv)
{
	const char *record = csv->buffer + csv->at;
	const char *newline = memchr(record, '\n', csv->n - csv->at);

	if (newline) {
		csv->skipping = false;
		csv->health.lines++;
	}
	start_record(csv, newline ? (size_t)(newline - record) + 1 : csv->n - csv->at);
}

/* Takes all records that are whole. */
static int consume(struct stall_csv *csv, bool at_end)
{
	int r = 0;

	while (csv->at < csv->n) {
		size_t n, used;
		bool taken = true;

		if (csv->skipping) {
			skip_line(csv);
			continue;
		}
		n = find_end(csv);
		if (n && n <= STALL_RECORD_MAX) {
			r = take_record(csv, csv->buffer + csv->at, n, &used);
			start_record(csv, used);
		} else {
			r = take_overlong(csv, at_end, &taken);
		}
		if (r)
			return r;
		if (!taken)
			break;
	}
	memmove(csv->buffer, csv->buffer + csv->at, csv->n - csv->at);
	csv->n -= csv->at;
	csv->at = 0;
	return 0;
}

int stall_csv_feed(struct stall_csv *csv, const void *bytes, size_t n)
{
	const char *from = bytes;
	int r = 0;

	while (n && r == 0) {
		size_t room = BUFFER_BYTES - csv->n;
		size_t part = n < room ? n : room;

		memcpy(csv->buffer + csv->n, from, part);
		csv->n += part;
		from += part;
		n -= part;
		r = consume(csv, false);
	}
	return r;
}

int stall_csv_finish(struct stall_csv *csv)
{
	int r = consume(csv, true);

	if (r)
		return r;
	drop_held(csv);
	if (csv->n || csv->skipping)
		csv->health.cut_line = csv->health.lines + 1;
	if (!csv->has_header)
		return csv->n || csv->health.lines ? -EBADMSG : -ENODATA;
	return 0;
}
