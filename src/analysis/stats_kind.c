/* SPDX-License-Identifier: MIT */
#include "stats_private.h"

#include <assert.h>
#include <string.h>

static_assert(sizeof(struct kind_key) == 32, "keys are compared as bytes");

int kinds_create(struct stats *stats)
{
	/* Its pages are taken as they are used. */
	stats->kinds = calloc(KINDS, sizeof(*stats->kinds));
	return stats->kinds ? 0 : -ENOMEM;
}

void kinds_destroy(struct stats *stats)
{
	for (size_t i = 0; stats->kinds && i < KINDS; i++)
		stats_group_deinit(&stats->kinds[i].figures);
	free(stats->kinds);
}

/* What it has counted goes into its groups, and it is empty. */
static int add_to_groups(struct kind *kind)
{
	int r = 0;

	for (size_t i = 0; i < kind->n_groups && r == 0; i++)
		r = stats_group_add(kind->groups[i], &kind->figures);
	stats_group_deinit(&kind->figures);
	kind->figures = (struct stats_group){0};
	kind->n_groups = 0;
	return r;
}

int kinds_finish(struct stats *stats)
{
	int r = 0;

	for (size_t i = 0; i < KINDS && r == 0; i++)
		r = add_to_groups(&stats->kinds[i]);
	return r;
}

static struct kind_key key_of(const struct stats *stats, const struct track_io *io)
{
	return (struct kind_key){
		/* The idle thread of each CPU has a name of its own, and no part in what is queued.
		 */
		.comm = io->owner.pid ? recording_comm(stats->recording, io->tag, io->owner.pid,
						       io->owner.cpu, io->owner.time_ns)
				      : NULL,
		.cgroup_id = io->owner.cgroup_id,
		.tag = io->tag,
		.device = io->device,
		.pid = io->owner.pid,
		.operation = (uint8_t)io->operation,
		.size_class = (uint8_t)stats_size_class(io->io_bytes),
		.known = io->owner.known,
	};
}

static size_t set_of(const struct kind_key *key)
{
	uint64_t mixed = (uintptr_t)key->comm ^ key->cgroup_id << 20 ^ (uint64_t)key->pid << 8 ^
			 key->device ^ (uint64_t)key->tag << 32 ^ (uint64_t)key->size_class << 56 ^
			 (uint64_t)key->operation << 60;

	/* Its top bits depend on all bits. */
	return (size_t)(mixed * UINT64_C(0x9e3779b97f4a7c15) >> 56) % KIND_SETS;
}

/* NULL: no memory. */
static struct kind *find_kind(struct stats *stats, const struct track_io *io)
{
	const struct kind_key key = key_of(stats, io);
	size_t set = set_of(&key);
	struct kind *kind = &stats->kinds[set * KIND_WAYS];

	for (unsigned i = 0; i < KIND_WAYS; i++) {
		if (kind[i].n_groups && !memcmp(&kind[i].key, &key, sizeof(key)))
			return &kind[i];
	}
	kind += stats->next_kind[set]++ % KIND_WAYS;
	if (add_to_groups(kind) < 0)
		return NULL;
	kind->key = key;
	kind->uses++;
	return groups_find(stats, kind, owner_kind(io, key.comm)) < 0 ? NULL : kind;
}

/* Passthrough has its own row only. What was queued on a device above counts there. */
static bool has_kind(const struct stats *stats, const struct track_io *io)
{
	return io->operation != OPERATION_PASSTHROUGH &&
	       (!io->times.remapped_from_ns || !told_above(stats, io));
}

/* A mark: the kind's place in the lowest bits, then that of the CPU's group, then the uses. */
enum {
	CPU_MARKS = 2048,
};
static_assert((int)STATS_GROUPS_MAX < (int)CPU_MARKS, "places fit");

/* NULL: none, or it has made room for another one. */
static struct kind *marked_kind(struct stats *stats, uint64_t mark)
{
	struct kind *kind = &stats->kinds[mark % KINDS];

	return mark && kind->uses == mark / KINDS / CPU_MARKS ? kind : NULL;
}

static int find_mark(struct stats *stats, const struct track_io *io, uint64_t *ret)
{
	struct kind *kind = find_kind(stats, io);
	size_t place;

	if (!kind || cpu_place(stats, io->tag, io->owner.cpu, &place) < 0)
		return -ENOMEM;
	*ret = (kind->uses * CPU_MARKS + place) * KINDS + (uint64_t)(kind - stats->kinds);
	return 0;
}

int kind_mark(struct stats *stats, struct track_io *io)
{
	if (!has_kind(stats, io) || marked_kind(stats, io->mark))
		return 0;
	return find_mark(stats, io, &io->mark);
}

int counts_of(struct stats *stats, const struct track_io *io, struct counts *ret)
{
	uint64_t mark = io->mark;
	struct kind *kind = marked_kind(stats, mark);

	if (!kind && has_kind(stats, io)) {
		if (find_mark(stats, io, &mark) < 0)
			return -ENOMEM;
		kind = marked_kind(stats, mark);
	}
	if (kind) {
		*ret = (struct counts){
			.own = kind->groups[0],
			.all = {&kind->figures, stats->cpus.view->items[mark / KINDS % CPU_MARKS]},
			.n = 2,
		};
		return 0;
	}
	ret->own = ret->all[0] = operation_group(stats, io);
	ret->n = 1;
	return ret->own ? 0 : -ENOMEM;
}
