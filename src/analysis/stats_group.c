/* SPDX-License-Identifier: MIT */
#include "stats_private.h"

#include <string.h>

void stats_group_deinit(struct stats_group *group)
{
	for (unsigned i = 0; i < STAGES; i++) {
		if (group->stages[i])
			histogram_deinit(group->stages[i]);
		free(group->stages[i]);
		group->stages[i] = NULL;
	}
}

void group_set_deinit(struct group_set *set)
{
	struct group *group, *next;

	HASH_ITER (hh, set->groups, group, next) {
		HASH_DEL(set->groups, group);
		stats_group_deinit(&group->figures);
		free(group);
	}
	if (set->view)
		free(set->view->items);
}

static int add_to_view(struct group_set *set, struct group *group)
{
	struct stats_groups *view = set->view;
	struct stats_group **items =
		reallocarray(view->items, view->n + 1, sizeof(struct stats_group *));

	if (!items)
		return -ENOMEM;
	view->items = items;
	items[view->n++] = &group->figures;
	return 0;
}

/* A new one has its key only: true in @ret_new. */
static struct group *find_group(struct group_set *set, const struct group_key *wanted,
				bool *ret_new)
{
	struct group_key key = *wanted;
	struct group *group;

	*ret_new = false;
	if (set->last && !memcmp(&set->last->key, &key, sizeof(key)))
		return set->last;
	HASH_FIND(hh, set->groups, &key, sizeof(key), group);
	if (!group && HASH_COUNT(set->groups) >= STATS_GROUPS_MAX) {
		key = (struct group_key){.others = 1};
		HASH_FIND(hh, set->groups, &key, sizeof(key), group);
	}
	if (!group) {
		group = calloc(1, sizeof(*group));
		if (!group || add_to_view(set, group) < 0) {
			free(group);
			return NULL;
		}
		group->key = key;
		group->figures.others = key.others;
		HASH_ADD(hh, set->groups, key, sizeof(group->key), group);
		*ret_new = !key.others;
	}
	set->last = group;
	return group;
}

enum owner_kind owner_of(const struct stats *stats, const struct track_io *io,
			 const char **ret_comm)
{
	*ret_comm = recording_comm(stats->recording, io->tag, io->owner.pid, io->owner.cpu,
				   io->owner.time_ns);
	return owner_kind(io, *ret_comm);
}

static struct stats_group *process_of(struct stats *stats, const struct track_io *io)
{
	const char *comm;
	enum owner_kind owner = owner_of(stats, io, &comm);
	struct group_key key = {.tag = io->tag, .owner = owner};
	struct group *group;
	bool is_new;

	/* Those that are no process are one each. */
	if (owner == OWNER_PROCESS || owner == OWNER_KERNEL_THREAD) {
		key.number = io->owner.pid;
		if (comm)
			memcpy(key.comm, comm, strnlen(comm, NAMES_COMM_BYTES));
	}
	group = find_group(&stats->processes, &key, &is_new);
	if (group && is_new) {
		group->figures.tag = io->tag;
		group->figures.owner = owner;
		group->figures.pid = key.number;
		memcpy(group->figures.comm, key.comm, NAMES_COMM_BYTES);
	}
	return group ? &group->figures : NULL;
}

static struct stats_group *size_of(struct stats *stats, const struct track_io *io)
{
	uint32_t size_class = stats_size_class(io->io_bytes);
	struct group_key key = {.number = io->operation * STATS_SIZES + size_class};
	bool is_new;
	struct group *group = find_group(&stats->sizes, &key, &is_new);

	if (group && is_new) {
		group->figures.operation = io->operation;
		group->figures.size_class = size_class;
	}
	return group ? &group->figures : NULL;
}

static struct stats_group *cpu_of(struct stats *stats, const struct track_io *io)
{
	struct group_key key = {.tag = io->tag, .number = io->owner.cpu};
	bool is_new;
	struct group *group = find_group(&stats->cpus, &key, &is_new);

	if (group && is_new) {
		group->figures.tag = io->tag;
		group->figures.cpu = io->owner.cpu;
	}
	return group ? &group->figures : NULL;
}

static struct stats_group *cgroup_of(struct stats *stats, const struct track_io *io)
{
	struct group_key key = {.tag = io->tag, .cgroup_id = io->owner.cgroup_id};
	bool is_new;
	struct group *group = find_group(&stats->cgroups, &key, &is_new);

	if (group && is_new) {
		group->figures.tag = io->tag;
		group->figures.cgroup_id = io->owner.cgroup_id;
	}
	return group ? &group->figures : NULL;
}

struct stats_group *operation_group(struct stats *stats, const struct track_io *io)
{
	struct stats_device *device = device_of(stats, io->tag, io->device);
	struct stats_group **group = device ? &device->operations[io->operation] : NULL;

	if (group && !*group) {
		*group = calloc(1, sizeof(**group));
		if (*group) {
			(*group)->tag = io->tag;
			(*group)->device = io->device;
			(*group)->operation = io->operation;
		}
	}
	return group ? *group : NULL;
}

int groups_of(struct stats *stats, const struct track_io *io, struct group_list *ret)
{
	ret->n = 0;
	ret->groups[ret->n++] = operation_group(stats, io);
	/* Passthrough has its own row only. What was queued on a device above counts there. */
	if (io->operation != OPERATION_PASSTHROUGH && !io->times.remapped_from_ns) {
		ret->groups[ret->n++] = size_of(stats, io);
		ret->groups[ret->n++] = process_of(stats, io);
		ret->groups[ret->n++] = cpu_of(stats, io);
		if (io->owner.cgroup_id)
			ret->groups[ret->n++] = cgroup_of(stats, io);
	}
	for (size_t i = 0; i < ret->n; i++) {
		if (!ret->groups[i])
			return -ENOMEM;
	}
	return 0;
}

int group_sample(struct stats_group *group, enum stats_stage stage, uint64_t from_ns,
		 uint64_t to_ns)
{
	if (!from_ns || !to_ns || to_ns < from_ns)
		return 0;
	if (!group->stages[stage]) {
		group->stages[stage] = calloc(1, sizeof(struct histogram));
		if (!group->stages[stage])
			return -ENOMEM;
	}
	return histogram_add(group->stages[stage], to_ns - from_ns);
}

static int add_stages(struct stats_group *to, const struct stats_group *from)
{
	int r = 0;

	for (unsigned i = 0; i < STAGES && r == 0; i++) {
		/* Between queue events of all operations it is another one. */
		if (!from->stages[i] || i == STAGE_Q2Q)
			continue;
		if (!to->stages[i])
			to->stages[i] = calloc(1, sizeof(struct histogram));
		r = to->stages[i] ? histogram_merge(to->stages[i], from->stages[i]) : -ENOMEM;
	}
	return r;
}

static void add_array(uint64_t *to, const uint64_t *from, size_t n)
{
	for (size_t i = 0; i < n; i++)
		to[i] += from[i];
}

int stats_group_add(struct stats_group *to, const struct stats_group *from)
{
	to->queued += from->queued;
	to->queued_bytes += from->queued_bytes;
	to->ios += from->ios;
	to->bytes += from->bytes;
	to->errors += from->errors;
	to->error_bytes += from->error_bytes;
	to->issued += from->issued;
	to->issued_bytes += from->issued_bytes;
	to->requeues += from->requeues;
	to->requests += from->requests;
	to->request_bytes += from->request_bytes;
	to->merged_bytes += from->merged_bytes;
	to->splits += from->splits;
	to->partial += from->partial;
	to->no_queue += from->no_queue;
	to->no_issue += from->no_issue;
	to->touched += from->touched;
	to->inverted += from->inverted;
	to->share_ios += from->share_ios;
	add_array(to->merges, from->merges, TRACK_UNANNOUNCED + 1);
	add_array(to->ended, from->ended, TRACK_ENDS);
	add_array(to->ended_bytes, from->ended_bytes, TRACK_ENDS);
	add_array(to->ended_requests, from->ended_requests, TRACK_ENDS);
	add_array(to->strays, from->strays, TRACK_STRAYS);
	add_array(to->share_ns, from->share_ns, SHARES);
	add_array(to->log2_us[0], from->log2_us[0], STATS_LOG2_ROWS);
	add_array(to->log2_us[1], from->log2_us[1], STATS_LOG2_ROWS);
	if (from->last_ns && (!to->last_ns || from->first_ns < to->first_ns))
		to->first_ns = from->first_ns;
	if (from->last_ns > to->last_ns)
		to->last_ns = from->last_ns;
	return add_stages(to, from);
}
