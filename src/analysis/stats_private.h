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
};

/* What an I/O's groups are found by. */
struct kind_key {
	const char *comm; /* of names: one that is spelt alike elsewhere is another */
	uint64_t cgroup_id;
	uint32_t tag;
	uint32_t pid, cpu;
	uint8_t operation;
	uint8_t size_class;
	bool known; /* its owner is */
	bool is_set;
};

/* Most I/Os are of a kind that was there a moment ago. */
struct kind {
	struct kind_key key;
	uint64_t mark; /* see track_io: the places of its groups */
};

enum {
	KINDS = 1024, /* that are remembered; a power of two */
};

struct plug_key {
	uint32_t tag, device, pid;
};

struct plug {
	struct plug_key key;
	uint64_t since_ns;
	UT_hash_handle hh;
};

/* All that one I/O counts in. */
struct group_list {
	struct stats_group *groups[5]; /* the device's operation comes first */
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
/** Marks an I/O with its groups. -ENOMEM. */
int groups_mark(struct stats *stats, struct track_io *io);
/** The figures that an I/O counts in: fast, if it is marked. -ENOMEM. */
int groups_of(struct stats *stats, const struct track_io *io, struct group_list *ret);
int group_sample(struct stats_group *group, enum stats_stage stage, uint64_t from_ns,
		 uint64_t to_ns);
int group_add_point(struct stats_group *group, enum stats_stage stage,
		    const struct histogram_point *point);
/** The owner of an I/O and the owner's name; NULL = unknown. */
enum owner_kind owner_of(const struct stats *stats, const struct track_io *io,
			 const char **ret_comm);

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
