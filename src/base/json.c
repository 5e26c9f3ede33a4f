/* SPDX-License-Identifier: MIT */
#include "json.h"

#include <assert.h>
#include <math.h>

void json_init(struct json *json, struct out *out, bool indent)
{
	*json = (struct json){.out = out, .indent = indent};
}

static void new_line(struct json *json)
{
	if (!json->indent)
		return;
	out_char(json->out, '\n');
	for (unsigned i = 0; i < json->depth; i++)
		out_text(json->out, "  ");
}

/* Length of the well-formed UTF-8 sequence at @from; 0 if there is none. */
static size_t sequence_length(const uint8_t *from, size_t n)
{
	static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
	size_t length = from[0] < 0x80		   ? 1
			: (from[0] & 0xe0) == 0xc0 ? 2
			: (from[0] & 0xf0) == 0xe0 ? 3
			: (from[0] & 0xf8) == 0xf0 ? 4
						   : 0;
	uint32_t code = length > 1 ? from[0] & (0x7fu >> length) : from[0];

	if (!length || length > n)
		return 0;
	for (size_t i = 1; i < length; i++) {
		if ((from[i] & 0xc0) != 0x80)
			return 0;
		code = code << 6 | (from[i] & 0x3f);
	}
	/* Neither longer than need be, nor half of a UTF-16 pair, nor beyond Unicode. */
	if (code < least[length] || (code >= 0xd800 && code <= 0xdfff) || code > 0x10ffff)
		return 0;
	return length;
}

static void write_character(struct out *out, uint8_t c)
{
	switch (c) {
	case '"':
	case '\\':
		out_char(out, '\\');
		out_char(out, (char)c);
		break;
	case '\n':
		out_text(out, "\\n");
		break;
	case '\t':
		out_text(out, "\\t");
		break;
	case '\r':
		out_text(out, "\\r");
		break;
	default:
		if (c < 0x20 || c == 0x7f)
			out_printf(out, "\\u%04x", c);
		else
			out_char(out, (char)c);
		break;
	}
}

/*
 * The number of a character that a terminal would obey, or that is a line's end to old readers of
 * JavaScript: C1 controls, marks without a width, marks that turn the writing direction. Else 0.
 */
static unsigned obeyed_character(const uint8_t *from, size_t length)
{
	unsigned code;

	if (length == 2 && from[0] == 0xc2 && from[1] < 0xa0)
		return from[1];
	if (length != 3 || from[0] != 0xe2)
		return 0;
	code = 0x2000u | (from[1] & 0x3fu) << 6 | (from[2] & 0x3fu);
	return (code >= 0x200b && code <= 0x200f) || (code >= 0x2028 && code <= 0x202e) ||
			       (code >= 0x2066 && code <= 0x2069)
		       ? code
		       : 0;
}

/* Ends or opens an element or a comment. */
static bool is_markup(const uint8_t *from, size_t length)
{
	return length == 1 && (from[0] == '<' || from[0] == '>' || from[0] == '&');
}

static void write_string(const struct json *json, const uint8_t *from, size_t n)
{
	struct out *out = json->out;

	out_char(out, '"');
	while (n) {
		size_t length = sequence_length(from, n);

		unsigned obeyed = obeyed_character(from, length);

		if (obeyed || (json->in_html && is_markup(from, length)))
			out_printf(out, "\\u%04x", obeyed ? obeyed : from[0]);
		else if (length == 1)
			write_character(out, from[0]);
		else if (length)
			out_bytes(out, from, length);
		else
			out_text(out, "\xef\xbf\xbd");
		from += length ? length : 1;
		n -= length ? length : 1;
	}
	out_char(out, '"');
}

/* What comes before any value: comma, line, key. */
static void begin_value(struct json *json, const char *key)
{
	uint32_t bit = 1u << json->depth;

	if (json->depth) {
		if (json->filled & bit)
			out_text(json->out, json->indent || json->in_html ? "," : ", ");
		json->filled |= bit;
		new_line(json);
	}
	if (key) {
		write_string(json, (const uint8_t *)key, strlen(key));
		out_text(json->out, ": ");
	}
}

static void begin(struct json *json, const char *key, char bracket)
{
	begin_value(json, key);
	out_char(json->out, bracket);
	json->depth++;
	assert(json->depth < JSON_DEPTH_MAX);
	json->filled &= ~(1u << json->depth);
}

static void end(struct json *json, char bracket)
{
	bool filled = json->filled & 1u << json->depth;

	assert(json->depth);
	json->depth--;
	if (filled)
		new_line(json);
	out_char(json->out, bracket);
}

void json_finish(struct json *json)
{
	assert(!json->depth);
	out_char(json->out, '\n');
}

void json_object_begin(struct json *json, const char *key)
{
	begin(json, key, '{');
}

void json_object_end(struct json *json)
{
	end(json, '}');
}

void json_array_begin(struct json *json, const char *key)
{
	begin(json, key, '[');
}

void json_array_end(struct json *json)
{
	end(json, ']');
}

void json_bytes(struct json *json, const char *key, const void *text, size_t n)
{
	begin_value(json, key);
	write_string(json, text, n);
}

void json_string(struct json *json, const char *key, const char *text)
{
	if (text)
		json_bytes(json, key, text, strlen(text));
	else
		json_null(json, key);
}

void json_u64(struct json *json, const char *key, uint64_t value)
{
	begin_value(json, key);
	out_u64(json->out, value);
}

void json_i64(struct json *json, const char *key, int64_t value)
{
	begin_value(json, key);
	out_i64(json->out, value);
}

void json_double(struct json *json, const char *key, double value, int decimals)
{
	if (!isfinite(value)) {
		json_null(json, key);
		return;
	}
	begin_value(json, key);
	out_printf(json->out, "%.*f", decimals, value);
}

void json_bool(struct json *json, const char *key, bool value)
{
	begin_value(json, key);
	out_text(json->out, value ? "true" : "false");
}

void json_null(struct json *json, const char *key)
{
	begin_value(json, key);
	out_text(json->out, "null");
}
