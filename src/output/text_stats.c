/* SPDX-License-Identifier: MIT */
#include "text_stats.h"

#include "grow.h"
#include "letters.h"
#include "text_stats_private.h"

int text_stats_create(const struct text_stats_options *options, const struct scene *scene,
		      struct text_stats **ret)
{
	_cleanup_free_ struct text_stats *stats = calloc(1, sizeof(*stats));

	if (!stats || sequence_create(&stats->sequence) < 0)
		return -ENOMEM;
	stats->options = *options;
	stats->scene = scene;
	*ret = take_ptr(stats);
	return 0;
}

void text_stats_destroy(struct text_stats *stats)
{
	struct process_stats *process, *next;

	if (!stats)
		return;
	HASH_ITER (hh, stats->processes, process, next) {
		HASH_DEL(stats->processes, process);
		free(process);
	}
	for (size_t i = 0; i < stats->n_devices; i++)
		free(stats->devices[i].cpus);
	free(stats->devices);
	index_deinit(&stats->device_places);
	index_deinit(&stats->cpu_places);
	sequence_destroy(stats->sequence);
	free(stats);
}

static struct device_stats *find_device(struct text_stats *stats, uint32_t tag, uint32_t device)
{
	uint64_t number = index_pair(tag, device);
	struct device_stats *devices;
	size_t at;

	if (index_find(&stats->device_places, number, &at))
		return &stats->devices[at];
	devices = grow_list(stats->devices, stats->n_devices, sizeof(*devices));
	if (!devices)
		return NULL;
	stats->devices = devices;
	if (index_add(&stats->device_places, number, stats->n_devices) < 0)
		return NULL;
	devices[stats->n_devices] = (struct device_stats){.tag = tag, .device = device};
	return &devices[stats->n_devices++];
}

static struct cpu_stats *find_cpu(struct text_stats *stats, struct device_stats *device,
				  uint32_t cpu)
{
	uint64_t number = index_pair((uint32_t)(device - stats->devices), cpu);
	struct cpu_stats *cpus;
	size_t at;

	if (index_find(&stats->cpu_places, number, &at))
		return &device->cpus[at];
	cpus = grow_list(device->cpus, device->n_cpus, sizeof(*cpus));
	if (!cpus)
		return NULL;
	device->cpus = cpus;
	if (index_add(&stats->cpu_places, number, device->n_cpus) < 0)
		return NULL;
	cpus[device->n_cpus] = (struct cpu_stats){.cpu = cpu};
	return &cpus[device->n_cpus++];
}

static struct process_stats *find_process(struct text_stats *stats, uint32_t tag, uint32_t pid,
					  const struct blkbox_event *event)
{
	const char *comm =
		stats->scene->comm(stats->scene->context, tag, pid, event->cpu, event->time_ns);
	/* Of one name, they are one whichever recording they are in. */
	struct process_key key = {.tag = stats->options.by_name ? 0 : tag};
	struct process_stats *process;

	if (!comm)
		comm = "unknown"; /* as blkparse calls them here */
	if (stats->options.by_name)
		memcpy(key.comm, comm, strnlen(comm, NAMES_COMM_BYTES));
	else if (pid)
		key.pid = pid;
	else
		key.cpu = event->cpu;
	HASH_FIND(hh, stats->processes, &key, sizeof(key), process);
	if (!process) {
		process = calloc(1, sizeof(*process));
		if (!process)
			return NULL;
		process->key = key;
		process->pid = pid;
		HASH_ADD(hh, stats->processes, key, sizeof(process->key), process);
	}
	process->more_than_one |= process->pid != pid;
	snprintf(process->comm, sizeof(process->comm), "%s", comm);
	return process;
}

/* The stage that an action counts for; IO_STAGES = none. */
static enum io_stage stage_of(const struct blkbox_event *event)
{
	switch (event->action) {
	case BLKBOX_QUEUE:
		return IO_QUEUED;
	case BLKBOX_BACKMERGE:
	case BLKBOX_FRONTMERGE:
		return event->categories & BLKBOX_CAT_PC ? IO_STAGES : IO_MERGED;
	case BLKBOX_ISSUE:
		return IO_ISSUED;
	case BLKBOX_REQUEUE:
		return IO_REQUEUED;
	case BLKBOX_COMPLETE:
		return event_is_zone_append_sector(event) ? IO_STAGES : IO_COMPLETED;
	default:
		return IO_STAGES;
	}
}

static void count(struct io_counts *counts, const struct blkbox_event *event)
{
	int w = (event->categories & BLKBOX_CAT_WRITE) != 0;
	bool pc = event->categories & BLKBOX_CAT_PC;
	enum io_stage stage = stage_of(event);

	if (stage < IO_STAGES) {
		(pc ? counts->pc_n : counts->n)[stage][w]++;
		(pc ? counts->pc_bytes : counts->bytes)[stage][w] += event->bytes;
		/* What is given back will be issued again. */
		if (stage == IO_REQUEUED)
			(pc ? counts->pc_bytes : counts->bytes)[IO_ISSUED][w] -= event->bytes;
	} else if (!pc) {
		counts->unplugs += event->action == BLKBOX_UNPLUG;
		counts->timer_unplugs += event->action == BLKBOX_UNPLUG_TIMER;
	}
}

static void follow_depth(struct device_stats *device, const struct blkbox_event *event)
{
	int w = (event->categories & BLKBOX_CAT_WRITE) != 0;
	enum io_stage stage = stage_of(event);

	if (stage == IO_ISSUED && ++device->depth[w] > device->max_depth[w])
		device->max_depth[w] = device->depth[w];
	/* The issue may have been before the start, or lost. */
	if ((stage == IO_REQUEUED || stage == IO_COMPLETED) && device->depth[w])
		device->depth[w]--;
}

static int count_process(struct text_stats *stats, uint32_t tag, const struct blkbox_event *event,
			 const struct track_time *time)
{
	int w = (event->categories & BLKBOX_CAT_WRITE) != 0;
	struct process_stats *process;
	enum wait_stage wait;

	if (stage_of(event) < IO_STAGES || event->action == BLKBOX_UNPLUG ||
	    event->action == BLKBOX_UNPLUG_TIMER) {
		process = find_process(stats, tag, event->pid, event);
		if (!process)
			return -ENOMEM;
		count(&process->counts, event);
	}
	if (time->elapsed_ns == TRACK_NONE)
		return 0;
	/* The wait is that of the process that began the I/O, not of the one that ends it. */
	process = find_process(stats, tag, time->pid, event);
	if (!process)
		return -ENOMEM;
	wait = event->action == BLKBOX_INSERT  ? WAIT_ALLOCATION
	       : event->action == BLKBOX_ISSUE ? WAIT_DISPATCH
					       : WAIT_COMPLETION;
	if (time->elapsed_ns > process->longest_ns[wait][w])
		process->longest_ns[wait][w] = time->elapsed_ns;
	return 0;
}

int text_stats_event(struct text_stats *stats, uint32_t tag, const struct blkbox_event *event,
		     const struct track_time *time)
{
	struct device_stats *device = find_device(stats, tag, event->device);
	struct cpu_stats *cpu = device ? find_cpu(stats, device, event->cpu) : NULL;

	if (!cpu || sequence_add(stats->sequence, tag, event) < 0)
		return -ENOMEM;
	device->events++;
	if (blkbox_event_is_note(event))
		return 0;
	if (!device->last_ns)
		device->first_ns = event->time_ns;
	if (event->time_ns > device->last_ns)
		device->last_ns = event->time_ns;
	count(&cpu->counts, event);
	follow_depth(device, event);
	return stats->options.per_process ? count_process(stats, tag, event, time) : 0;
}

int text_stats_left_out(struct text_stats *stats, uint32_t tag, const struct blkbox_event *event)
{
	return sequence_add(stats->sequence, tag, event);
}
