/* SPDX-License-Identifier: MIT */
#include "sequence.h"

#include "grow.h"

#include <string.h>
#include <uthash.h>

struct key {
	uint32_t tag, device, cpu;
};

struct entry {
	struct key key;
	size_t index;
	UT_hash_handle hh;
};

struct sequence {
	struct entry *entries;
	struct sequence_count *counts;
	size_t n;
	struct key last_key; /* most events come in runs of one CPU */
	size_t last_index;
};

int sequence_create(struct sequence **ret)
{
	struct sequence *sequence = calloc(1, sizeof(*sequence));

	if (!sequence)
		return -ENOMEM;
	*ret = sequence;
	return 0;
}

void sequence_destroy(struct sequence *sequence)
{
	struct entry *entry, *next;

	if (!sequence)
		return;
	HASH_ITER (hh, sequence->entries, entry, next) {
		HASH_DEL(sequence->entries, entry);
		free(entry);
	}
	free(sequence->counts);
	free(sequence);
}

static int add_entry(struct sequence *sequence, const struct key *key, struct entry **ret)
{
	struct sequence_count *counts = grow_list(sequence->counts, sequence->n, sizeof(*counts));
	struct entry *entry = counts ? calloc(1, sizeof(*entry)) : NULL;

	if (counts)
		sequence->counts = counts;
	if (!entry)
		return -ENOMEM;
	entry->key = *key;
	entry->index = sequence->n++;
	counts[entry->index] = (struct sequence_count){
		.tag = key->tag,
		.device = key->device,
		.cpu = key->cpu,
	};
	HASH_ADD(hh, sequence->entries, key, sizeof(entry->key), entry);
	*ret = entry;
	return 0;
}

static int find(struct sequence *sequence, const struct key *key, struct sequence_count **ret)
{
	struct entry *entry;

	if (!sequence->n || memcmp(key, &sequence->last_key, sizeof(*key)) != 0) {
		HASH_FIND(hh, sequence->entries, key, sizeof(*key), entry);
		if (!entry) {
			int r = add_entry(sequence, key, &entry);

			if (r < 0)
				return r;
		}
		sequence->last_key = *key;
		sequence->last_index = entry->index;
	}
	*ret = &sequence->counts[sequence->last_index];
	return 0;
}

int sequence_add(struct sequence *sequence, uint32_t tag, const struct blkbox_event *event)
{
	struct key key = {.tag = tag, .device = event->device, .cpu = event->cpu};
	struct sequence_count *count;
	uint32_t step;
	int r;

	if (blkbox_event_is_note(event))
		return 0;
	r = find(sequence, &key, &count);
	if (r < 0)
		return r;
	step = event->sequence - count->last;
	if (!count->events++ || step == 1) {
		count->last = event->sequence;
	} else if (step == 0) {
		count->repeats++;
	} else if (step > INT32_MAX) {
		/*
		 * One event out of order leaves the count where it is; a second one behind it means
		 * that the numbers started again.
		 */
		if (event->sequence == count->last_back + 1 && count->backwards)
			count->last = event->sequence;
		else
			count->backwards++;
		count->last_back = event->sequence;
	} else {
		if (!count->gaps++)
			count->first_gap_ns = event->time_ns;
		count->missing += step - 1;
		count->last = event->sequence;
	}
	return 0;
}

size_t sequence_counts(const struct sequence *sequence, const struct sequence_count **ret)
{
	*ret = sequence->counts;
	return sequence->n;
}
