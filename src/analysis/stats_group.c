/* SPDX-License-Identifier: MIT */
#include "grow.h"
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
	struct stats_group **items = grow_list(view->items, view->n, sizeof(*items));

	if (!items)
		return -ENOMEM;
	view->items = items;
	group->place = view->n;
	items[view->n++] = &group->figures;
	return 0;
}

/* The one of this key; @model is what a new one is. NULL: no memory. */
static struct group *find_group(struct group_set *set, const struct group_key *wanted,
				const struct stats_group *model)
{
	struct group_key key = *wanted;
	struct group *group;

	HASH_FIND(hh, set->groups, &key, sizeof(key), group);
	if (!group &&
	    HASH_COUNT(set->groups) >= (set->is_long ? STATS_GROUPS_HELD : STATS_GROUPS_MAX)) {
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
		group->figures = key.others ? (struct stats_group){.others = true} : *model;
		HASH_ADD(hh, set->groups, key, sizeof(group->key), group);
	}
	return group;
}

enum owner_kind owner_of(const struct stats *stats, const struct track_io *io,
			 const char **ret_comm)
{
	*ret_comm = recording_comm(stats->recording, io->tag, io->owner.pid, io->owner.cpu,
				   io->owner.time_ns);
	return owner_kind(io, *ret_comm);
}

static struct group *process_of(struct stats *stats, const struct kind_key *kind,
				enum owner_kind owner)
{
	struct group_key key = {.tag = kind->tag, .owner = owner};
	struct stats_group model = {.tag = kind->tag, .owner = owner};

	/* Those that are no process are one each. */
	if (owner == OWNER_PROCESS || owner == OWNER_KERNEL_THREAD) {
		key.number = model.pid = kind->pid;
		if (kind->comm)
			memcpy(key.comm, kind->comm, strnlen(kind->comm, NAMES_COMM_BYTES));
		memcpy(model.comm, key.comm, NAMES_COMM_BYTES);
	}
	return find_group(&stats->processes, &key, &model);
}

static struct group *size_of(struct stats *stats, const struct kind_key *kind)
{
	const struct group_key key = {.number = (uint32_t)kind->operation * STATS_SIZES +
						kind->size_class};

	return find_group(&stats->sizes, &key,
			  &(struct stats_group){.operation = kind->operation,
						.size_class = kind->size_class});
}

int cpu_place(struct stats *stats, uint32_t tag, uint32_t cpu, size_t *ret)
{
	const struct group_key key = {.tag = tag, .number = cpu};
	struct cpu_place *known = &stats->cpu_places[(cpu ^ tag << 4) % CPU_PLACES];
	const struct group *group;

	if (!known->place || known->tag != tag || known->cpu != cpu) {
		group = find_group(&stats->cpus, &key,
				   &(struct stats_group){.tag = tag, .cpu = cpu});
		if (!group)
			return -ENOMEM;
		*known = (struct cpu_place){tag, cpu, (uint32_t)group->place + 1};
	}
	*ret = known->place - 1;
	return 0;
}

static struct group *cgroup_of(struct stats *stats, const struct kind_key *kind)
{
	const struct group_key key = {.tag = kind->tag, .cgroup_id = kind->cgroup_id};

	return find_group(&stats->cgroups, &key,
			  &(struct stats_group){.tag = kind->tag, .cgroup_id = kind->cgroup_id});
}

int stats_compare_waits(const struct stats_group *a, const struct stats_group *b)
{
	const struct histogram *ha = a->stages[STAGE_Q2C], *hb = b->stages[STAGE_Q2C];
	unsigned __int128 wait_a = ha ? ha->sum : 0, wait_b = hb ? hb->sum : 0;

	if (a->others != b->others)
		return a->others - b->others;
	return (wait_a < wait_b) - (wait_a > wait_b);
}

static int by_wait(const void *a, const void *b)
{
	return stats_compare_waits(*(struct stats_group *const *)a,
				   *(struct stats_group *const *)b);
}

int group_set_finish(struct group_set *set)
{
	const struct group_key key = {.others = 1};
	struct stats_groups *view = set->view;
	struct group *others;
	int r = 0;

	if (view->n <= STATS_GROUPS_MAX)
		return 0;
	others = find_group(set, &key, NULL);
	if (!others)
		return -ENOMEM;
	qsort(view->items, view->n, sizeof(struct stats_group *), by_wait);
	for (size_t i = STATS_GROUPS_MAX; i + 1 < view->n && r == 0; i++)
		r = stats_group_add(&others->figures, view->items[i]);
	view->items[STATS_GROUPS_MAX] = &others->figures;
	view->n = STATS_GROUPS_MAX + 1;
	return r;
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

int groups_find(struct stats *stats, struct kind *kind, enum owner_kind owner)
{
	const struct kind_key *key = &kind->key;
	const struct track_io io = {.tag = key->tag,
				    .device = key->device,
				    .operation = key->operation};
	struct stats_group *own = operation_group(stats, &io);
	struct group *groups[] = {
		size_of(stats, key),
		process_of(stats, key, owner),
		key->cgroup_id ? cgroup_of(stats, key) : NULL,
	};
	size_t n = key->cgroup_id ? 3 : 2;

	if (!own)
		return -ENOMEM;
	kind->groups[0] = own;
	for (size_t i = 0; i < n; i++) {
		if (!groups[i])
			return -ENOMEM;
		kind->groups[1 + i] = &groups[i]->figures;
	}
	kind->n_groups = 1 + n;
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
	to->data_bytes += from->data_bytes;
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
