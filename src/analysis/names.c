/* SPDX-License-Identifier: MIT */
#include "names.h"

#include "grow.h"

#include <stdbool.h>
#include <string.h>
#include <uthash.h>

struct spell {
	uint64_t from_ns;
	uint64_t arrival;
	char comm[NAMES_COMM_BYTES + 1];
};

/* What one thread id was called, in order of time. */
struct person {
	uint32_t pid;
	uint32_t n;
	bool disordered; /* @spells are as they came */
	struct spell *spells;
	UT_hash_handle hh;
};

struct names {
	struct person *people;
	uint64_t arrivals;
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

static int by_time(const void *a, const void *b)
{
	const struct spell *x = a, *y = b;

	if (x->from_ns != y->from_ns)
		return x->from_ns < y->from_ns ? -1 : 1;
	return x->arrival < y->arrival ? -1 : 1;
}

/* Not at each one that comes late: there may be millions. */
static void put_in_order(struct person *person)
{
	uint32_t n = 0;

	qsort(person->spells, person->n, sizeof(*person->spells), by_time);
	for (uint32_t i = 0; i < person->n; i++) {
		if (!n || strcmp(person->spells[n - 1].comm, person->spells[i].comm) != 0)
			person->spells[n++] = person->spells[i];
	}
	person->n = n;
	person->disordered = false;
}

static int add(struct names *names, uint32_t key, uint64_t time_ns, const char *comm)
{
	struct person *person = find_person(names, key);
	struct spell spell = {.from_ns = time_ns, .arrival = names->arrivals++};
	struct spell *last;
	struct spell *spells;

	if (!person)
		person = add_person(names, key);
	if (!person)
		return -ENOMEM;
	memcpy(spell.comm, comm, strnlen(comm, NAMES_COMM_BYTES));
	last = person->n ? &person->spells[person->n - 1] : NULL;
	/* Threads announce themselves again and again, mostly by the same name. */
	if (last && !person->disordered && !strcmp(last->comm, spell.comm)) {
		if (last->from_ns <= time_ns)
			return 0;
		if (person->n == 1 || last[-1].from_ns <= time_ns) {
			last->from_ns = time_ns;
			return 0;
		}
	}
	person->disordered |= last && last->from_ns > time_ns;
	spells = grow_list(person->spells, person->n, sizeof(*spells));
	if (!spells)
		return -ENOMEM;
	spells[person->n++] = spell;
	person->spells = spells;
	return 0;
}

int names_add(struct names *names, uint32_t pid, uint32_t cpu, uint64_t time_ns, const char *comm)
{
	return add(names, key_of(pid, cpu), time_ns, comm);
}

int names_add_all(struct names *names, const struct names *from)
{
	for (const struct person *person = from->people; person;
	     person = (const struct person *)person->hh.next) {
		for (uint32_t i = 0; i < person->n; i++) {
			int r = add(names, person->pid, person->spells[i].from_ns,
				    person->spells[i].comm);

			if (r < 0)
				return r;
		}
	}
	return 0;
}

const char *names_find(const struct names *names, uint32_t pid, uint32_t cpu, uint64_t time_ns)
{
	struct person *person = find_person(names, key_of(pid, cpu));
	uint32_t low = 0, high;

	if (!person || !person->n)
		return pid ? NULL : "swapper";
	if (person->disordered)
		put_in_order(person);
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
