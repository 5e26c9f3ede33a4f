/* SPDX-License-Identifier: MIT */
#include "table.h"

#include <criterion/criterion.h>
#include <string.h>

Test(table, columns_are_as_wide_as_their_text)
{
	static const struct table_column columns[] = {{"DEVICE", false}, {"N", true}, {"X", true}};
	static const char *const first[] = {"sda", "12345", "1"};
	static const char *const second[] = {NULL, "6", NULL};
	struct table *table;
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	cr_assert_eq(table_create(columns, 3, &table), 0);
	cr_assert_eq(table_add(table, first), 0);
	cr_assert_eq(table_add(table, second), 0);
	cr_assert_eq(table_print(table, out), 0);
	fclose(out);
	cr_assert_str_eq(text, "DEVICE     N X\n"
			       "sda    12345 1\n"
			       "           6 \n");
	table_destroy(table);
	free(text);
}
