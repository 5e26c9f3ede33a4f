/* SPDX-License-Identifier: MIT */
#include "escape.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

static bool is_tail(const char *byte)
{
	return ((uint8_t)*byte & 0xc0) == 0x80;
}

/* Bytes of the UTF-8 character at @s that may be shown; 0 if it is none. */
static size_t shown_bytes(const char *s, size_t n)
{
	uint8_t a = (uint8_t)s[0];

	if (a < 0x80)
		return a >= 0x20 && a != 0x7f;
	if (n >= 2 && a >= 0xc2 && a <= 0xdf && is_tail(s + 1))
		return a == 0xc2 && (uint8_t)s[1] < 0xa0 ? 0 : 2; /* U+0080..9F control */
	if (n >= 3 && a >= 0xe0 && a <= 0xef && is_tail(s + 1) && is_tail(s + 2)) {
		uint8_t b = (uint8_t)s[1];

		/* Overlong forms, surrogates, and the marks that turn the writing direction. */
		if ((a == 0xe0 && b < 0xa0) || (a == 0xed && b >= 0xa0))
			return 0;
		if (a == 0xe2 && b == 0x80 && (uint8_t)s[2] >= 0x8b && (uint8_t)s[2] <= 0xae)
			return (uint8_t)s[2] >= 0x90 && (uint8_t)s[2] <= 0xa7 ? 3 : 0;
		if (a == 0xe2 && b == 0x81 && (uint8_t)s[2] >= 0xa6 && (uint8_t)s[2] <= 0xa9)
			return 0;
		return 3;
	}
	if (n >= 4 && a >= 0xf0 && a <= 0xf4 && is_tail(s + 1) && is_tail(s + 2) &&
	    is_tail(s + 3)) {
		uint8_t b = (uint8_t)s[1];

		return (a == 0xf0 && b < 0x90) || (a == 0xf4 && b >= 0x90) ? 0 : 4;
	}
	return 0;
}

size_t escape_text(char *to, const char *from, size_t n)
{
	static const char digits[] = "0123456789abcdef";
	size_t at = 0;

	for (size_t i = 0; i < n;) {
		size_t shown = shown_bytes(from + i, n - i);

		if (shown) {
			while (shown--)
				to[at++] = from[i++];
			continue;
		}
		to[at++] = '\\';
		to[at++] = 'x';
		to[at++] = digits[(uint8_t)from[i] >> 4];
		to[at++] = digits[(uint8_t)from[i] & 15];
		i++;
	}
	return at;
}

size_t escape_next(char *to, const char **from, size_t n)
{
	const char *start = *from;
	size_t used = 1;

	/* A character of UTF-8 is whole or it is none. */
	while (used < 4 && used < n && is_tail(start + used))
		used++;
	*from += used;
	return escape_text(to, start, used);
}

void escape_name(char *to, size_t room, const char *from, size_t n)
{
	const char *end = from + strnlen(from, n);
	size_t at = 0;

	while (from < end) {
		char piece[ESCAPE_NEXT_MAX];
		size_t size = escape_next(piece, &from, (size_t)(end - from));

		if (size >= room - at)
			break;
		memcpy(to + at, piece, size);
		at += size;
	}
	to[at] = '\0';
}
