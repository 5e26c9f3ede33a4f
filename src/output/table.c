/* SPDX-License-Identifier: MIT */
#include "table.h"

#include <libsmartcols.h>

struct table {
	struct libscols_table *scols;
	size_t n_columns;
};

int table_create(const struct table_column *columns, size_t n, struct table **ret)
{
	_cleanup_(cleanup_table_destroy) struct table *table = calloc(1, sizeof(*table));

	if (!table)
		return -ENOMEM;
	table->n_columns = n;
	table->scols = scols_new_table();
	if (!table->scols)
		return -ENOMEM;
	/* It would escape our escapes. */
	scols_table_enable_noencoding(table->scols, 1);
	for (size_t i = 0; i < n; i++) {
		if (!scols_table_new_column(table->scols, columns[i].title, 0,
					    columns[i].right ? SCOLS_FL_RIGHT : 0))
			return -ENOMEM;
	}
	*ret = take_ptr(table);
	return 0;
}

void table_destroy(struct table *table)
{
	if (!table)
		return;
	scols_unref_table(table->scols);
	free(table);
}

int table_add(struct table *table, const char *const *cells)
{
	struct libscols_line *line = scols_table_new_line(table->scols, NULL);
	int r = 0;

	if (!line)
		return -ENOMEM;
	for (size_t i = 0; i < table->n_columns && r == 0; i++) {
		if (cells[i])
			r = scols_line_set_data(line, i, cells[i]);
	}
	return r;
}

int table_print(const struct table *table, FILE *out)
{
	scols_table_set_stream(table->scols, out);
	return scols_print_table(table->scols);
}
