/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Tables for people: columns as wide as they need to be.
 */
#ifndef BLKBOX_OUTPUT_TABLE_H
#define BLKBOX_OUTPUT_TABLE_H

#include "cleanup.h"

#include <stdbool.h>

struct table;

struct table_column {
	const char *title;
	bool right; /* aligned, for numbers */
};

/** -ENOMEM. */
int table_create(const struct table_column *columns, size_t n, struct table **ret);
void table_destroy(struct table *table);
DEFINE_CLEANUP(struct table, table_destroy);

/**
 * @cells: one for each column, copied; NULL is empty. Foreign text is escaped (escape.h) before.
 * -ENOMEM.
 */
int table_add(struct table *table, const char *const *cells);

int table_print(const struct table *table, FILE *out);

#endif
