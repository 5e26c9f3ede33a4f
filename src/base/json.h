/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Writes JSON as it goes: nothing is held but the depth. The caller keeps the order right (a key in
 * an object, none in an array); commas, indentation and escapes come by themselves.
 */
#ifndef BLKBOX_BASE_JSON_H
#define BLKBOX_BASE_JSON_H

#include "out.h"

#include <stdbool.h>
#include <stdint.h>

enum {
	JSON_DEPTH_MAX = 32
};

struct json {
	struct out *out; /* borrowed; keeps the first error */
	bool indent;	 /* one value a line, for people; else all on one line */
	bool in_html;	 /* set after json_init(): strings have nothing that a <script> heeds */
	unsigned depth;
	uint32_t filled; /* bit n: the object or array at depth n has an item */
};

void json_init(struct json *json, struct out *out, bool indent);
/** After the outermost object or array: the end of the line. */
void json_finish(struct json *json);

/* @key: NULL in an array and outermost. */

void json_object_begin(struct json *json, const char *key);
void json_object_end(struct json *json);
void json_array_begin(struct json *json, const char *key);
void json_array_end(struct json *json);

/** @text: anything; what is no UTF-8 becomes U+FFFD. NULL is null. */
void json_string(struct json *json, const char *key, const char *text);
/** As json_string(), @n bytes. */
void json_bytes(struct json *json, const char *key, const void *text, size_t n);
void json_u64(struct json *json, const char *key, uint64_t value);
void json_i64(struct json *json, const char *key, int64_t value);
/** @decimals: digits behind the point. What is no finite number is null. */
void json_double(struct json *json, const char *key, double value, int decimals);
void json_bool(struct json *json, const char *key, bool value);
void json_null(struct json *json, const char *key);

#endif
