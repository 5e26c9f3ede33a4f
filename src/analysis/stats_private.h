/* SPDX-License-Identifier: MIT */
/**
 * @file
 * The inside of stats. Only src/analysis/stats*.c include it.
 */
#ifndef BLKBOX_ANALYSIS_STATS_PRIVATE_H
#define BLKBOX_ANALYSIS_STATS_PRIVATE_H

#include "gaps.h"
#include "stats.h"

#include <uthash.h>

struct group_key {
	uint32_t tag;
	uint32_t number; /* pid, CPU, or operation and size */
	uint64_t cgroup_id;
	uint32_t owner;
	uint32_t others;
	char comm[NAMES_COMM_BYTES];
};

struct group {
	struct stats_group figures; /* first: the result's pointers point here */
	struct group_key key;
	size_t place; /* in the result's list */
	UT_hash_handle hh;
};

/* Groups of one kind, and the result's view of them. */
struct group_set {
	struct group *groups;
	struct stats_groups *view;
	bool is_long; /* up to STATS_GROUPS_HELD while reading */
};

/* Which I/Os count in the same groups, but for that of their CPU. */
struct kind_key {
	const char *comm; /* of names: one that is spelt alike elsewhere is another */
	uint64_t cgroup_id;
	uint32_t tag, device;
	uint32_t pid;
	uint8_t operation;
	uint8_t size_class;
	bool known; /* its owner is */
	uint8_t reserved;
};

/*
 * I/Os count in their kind, once, and what they add up to goes into the kind's groups at the end,
 * or when it makes room for another kind.
 */
struct kind {
	struct kind_key key;
	uint64_t uses; /* of this place, 0 = none yet: tells whose mark (see track_io) is of it */
	struct stats_group figures;
	struct stats_group *groups[4]; /* the device's operation comes first */
	size_t n_groups;
};

/* Where a CPU's group is. */
struct cpu_place {
	uint32_t tag, cpu;
	uint32_t place; /* in the result's list, plus one; 0 = not set */
};

enum {
	CPU_PLACES = 256,
	KIND_WAYS = 4, /* places for a key */
	KIND_SETS = 256,
	KINDS = KIND_WAYS * KIND_SETS,
};

struct plug_key {
	uint32_t tag, device, pid;
};

struct plug {
	struct plug_key key;
	uint64_t since_ns;
	UT_hash_handle hh;
};

/* What an I/O counts in. */
struct counts {
	struct stats_group *own; /* its device's and operation's: what others don't have */
	/* What all its groups have: in its kind, and in its CPU's group. None: filtered out. */
	struct stats_group *all[2];
	size_t n;
};

struct stats {
	struct stats_options options;
	const struct recording *recording;
	struct track *track;
	struct stats_result result;
	struct gaps *gaps;		  /* by places of result.devices */
	struct stats_device *last_device; /* NULL = none so far */
	struct group_set sizes, processes, cgroups, cpus;
	struct kind *kinds;
	uint8_t next_kind[KIND_SETS]; /* which place of a set makes room */
	struct cpu_place cpu_places[CPU_PLACES];
	struct plug *plugs;
	struct stats_ios parts; /* the slowest of those that are told as another device's */
	uint64_t now_ns;
	size_t n_gaps; /* of result.losses, behind the recording's */
};

enum {
	PLUGS_MAX = 64 << 10,
	GAPS_MAX = 1000, /* that are dated; all are counted */
};

/* stats_group.c */

void group_set_deinit(struct group_set *set);
/** At the end: those that waited longest stay, the rest is others. -ENOMEM. */
int group_set_finish(struct group_set *set);
/** Those of its device and operation; NULL: no memory. */
struct stats_group *operation_group(struct stats *stats, const struct track_io *io);
/** The groups of a kind, with its device's and operation's; owner: of its I/Os. -ENOMEM. */
int groups_find(struct stats *stats, struct kind *kind, enum owner_kind owner);
/** The place of the CPU's group in the result's list. -ENOMEM. */
int cpu_place(struct stats *stats, uint32_t tag, uint32_t cpu, size_t *ret);
int group_sample(struct stats_group *group, enum stats_stage stage, uint64_t from_ns,
		 uint64_t to_ns);
/** The owner of an I/O and the owner's name; NULL = unknown. */
enum owner_kind owner_of(const struct stats *stats, const struct track_io *io,
			 const char **ret_comm);

/* stats_kind.c */

int kinds_create(struct stats *stats);
void kinds_destroy(struct stats *stats);
/** Marks an I/O with its kind, so that it is found faster the next time. -ENOMEM. */
int kind_mark(struct stats *stats, struct track_io *io);
/** -ENOMEM. */
int counts_of(struct stats *stats, const struct track_io *io, struct counts *ret);
/** What has been counted goes into the groups. -ENOMEM. */
int kinds_finish(struct stats *stats);

/* stats_device.c */

struct stats_device *device_of(struct stats *stats, uint32_t tag, uint32_t device);
/** Depth up to now_ns; then what is in flight is looked at again. */
int device_depth(struct stats *stats, struct stats_device *device, uint64_t now_ns);
/**
 * Its first issue: it is no bio-based device, and was not busy because I/Os were open so far.
 */
void device_has_requests(struct stats_device *device);
/** The time up to the end of the span. */
void device_account_end(struct stats *stats, struct stats_device *device);
int seek_add(struct stats_seek *seek, uint64_t sector, uint64_t bytes);
/** A plug, or the end of one. */
int plug_event(struct stats *stats, struct stats_device *device, const struct merge_item *item);
void plugs_finish(struct stats *stats);
/** Follows sequence numbers where gaps in them mean losses. */
int device_sequence(struct stats *stats, struct stats_device *device,
		    const struct merge_item *item);
int devices_create(struct stats *stats);
void devices_destroy(struct stats *stats);

/* stats_series.c */

int series_create(struct stats_series *series, uint64_t from_ns, uint64_t to_ns);
void series_io(struct stats_series *series, const struct track_io *io);
void series_queued(struct stats_series *series, uint64_t time_ns);
/** @stage: 0 = Q2C, 1 = D2C */
void series_latency(struct stats_series *series, int stage, uint64_t time_ns, uint64_t latency_ns);
void series_depth(struct stats_series *series, uint64_t from_ns, uint64_t to_ns,
		  const struct stats_depth *depth, bool busy);

/* stats_ops.c */

extern const struct track_ops stats_track_ops;
/**
 * The device above on which it was queued, and as whose I/O it is told; NULL: as its own, also if
 * that device is filtered out.
 */
const struct stats_device *told_above(const struct stats *stats, const struct track_io *io);

/** True if a span from @from_ns to now on the device is without losses, or all are wanted. */
static inline bool is_trusted(const struct stats *stats, const struct stats_device *device,
			      uint64_t from_ns)
{
	return stats->options.with_losses || !track_touched(device->now, from_ns);
}

#endif
