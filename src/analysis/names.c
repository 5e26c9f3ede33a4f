/* SPDX-License-Identifier: MIT */
#include "names.h"

#include <stdbool.h>
#include <string.h>
#include <uthash.h>

struct spell {
	uint64_t from_ns;
	char comm[NAMES_COMM_BYTES + 1];
};

/* What one thread id was called, in order of time. */
struct person {
	uint32_t pid;
	uint32_t n;
	struct spell *spells;
	UT_hash_handle hh;
};

struct names {
	struct person *people;
};

#define IDLE (UINT32_C(1) << 31) /* no thread id is that large */

static uint32_t key_of(uint32_t pid, uint32_t cpu)
{
	return pid ? pid : IDLE | cpu;
}

int names_create(struct names **ret)
{
	struct names *names = calloc(1, sizeof(*names));

	if (!names)
		return -ENOMEM;
	*ret = names;
	return 0;
}

void names_destroy(struct names *names)
{
	struct person *person, *next;

	if (!names)
		return;
	HASH_ITER (hh, names->people, person, next) {
		HASH_DEL(names->people, person);
		free(person->spells);
		free(person);
	}
	free(names);
}

static struct person *find_person(const struct names *names, uint32_t pid)
{
	struct person *person;

	HASH_FIND(hh, names->people, &pid, sizeof(pid), person);
	return person;
}

static struct person *add_person(struct names *names, uint32_t pid)
{
	struct person *person = calloc(1, sizeof(*person));

	if (!person)
		return NULL;
	person->pid = pid;
	HASH_ADD(hh, names->people, pid, sizeof(person->pid), person);
	return person;
}

int names_add(struct names *names, uint32_t pid, uint32_t cpu, uint64_t time_ns, const char *comm)
{
	struct person *person = find_person(names, key_of(pid, cpu));
	struct spell spell = {.from_ns = time_ns};
	struct spell *spells;
	uint32_t at;

	if (!person)
		person = add_person(names, key_of(pid, cpu));
	if (!person)
		return -ENOMEM;
	memcpy(spell.comm, comm, strnlen(comm, NAMES_COMM_BYTES));
	for (at = person->n; at && person->spells[at - 1].from_ns > time_ns; at--)
		;
	/* Threads announce themselves again and again, mostly by the same name. */
	if (at && !strcmp(person->spells[at - 1].comm, spell.comm))
		return 0;
	if (at < person->n && !strcmp(person->spells[at].comm, spell.comm)) {
		person->spells[at].from_ns = time_ns;
		return 0;
	}
	spells = reallocarray(person->spells, person->n + 1, sizeof(*spells));
	if (!spells)
		return -ENOMEM;
	memmove(spells + at + 1, spells + at, (person->n - at) * sizeof(*spells));
	spells[at] = spell;
	person->spells = spells;
	person->n++;
	return 0;
}

const char *names_find(const struct names *names, uint32_t pid, uint32_t cpu, uint64_t time_ns)
{
	const struct person *person = find_person(names, key_of(pid, cpu));
	uint32_t low = 0, high;

	if (!person || !person->n)
		return pid ? NULL : "swapper";
	/* The last spell that began at @time_ns or before. */
	for (high = person->n; high - low > 1;) {
		uint32_t middle = low + (high - low) / 2;

		if (person->spells[middle].from_ns <= time_ns)
			low = middle;
		else
			high = middle;
	}
	return person->spells[low].comm;
}
