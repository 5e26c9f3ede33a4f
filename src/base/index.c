/* SPDX-License-Identifier: MIT */
#include "index.h"

#include <errno.h>
#include <stdlib.h>
#include <uthash.h>

struct index_entry {
	uint64_t number;
	size_t at;
	UT_hash_handle hh;
};

void index_deinit(struct index *index)
{
	struct index_entry *entry, *next;

	HASH_ITER (hh, index->entries, entry, next) {
		HASH_DEL(index->entries, entry);
		free(entry);
	}
	*index = (struct index){0};
}

bool index_find(struct index *index, uint64_t number, size_t *ret)
{
	struct index_entry *entry = index->last;

	if (!entry || entry->number != number)
		HASH_FIND(hh, index->entries, &number, sizeof(number), entry);
	if (!entry)
		return false;
	index->last = entry;
	*ret = entry->at;
	return true;
}

int index_add(struct index *index, uint64_t number, size_t at)
{
	struct index_entry *entry = malloc(sizeof(*entry));

	if (!entry)
		return -ENOMEM;
	*entry = (struct index_entry){.number = number, .at = at};
	HASH_ADD(hh, index->entries, number, sizeof(entry->number), entry);
	index->last = entry;
	return 0;
}
