/* SPDX-License-Identifier: MIT */
#include "filter_io.h"

/* Categories that tell events of an I/O apart, not I/Os. */
#define EVENT_CATEGORIES \
	((uint32_t)BLKBOX_CAT_QUEUE | BLKBOX_CAT_REQUEUE | BLKBOX_CAT_ISSUE | BLKBOX_CAT_COMPLETE)

static uint64_t begin_of(const struct track_io *io)
{
	if (io->times.queued_ns)
		return io->times.queued_ns;
	return io->times.first_issued_ns ? io->times.first_issued_ns : io->owner.time_ns;
}

static struct merge_item as_event(const struct track_io *io)
{
	return (struct merge_item){
		.tag = io->tag,
		.event =
			{
				.time_ns = begin_of(io),
				.sector = io->sector,
				.bytes = (uint32_t)io->bytes,
				.categories = io->categories | EVENT_CATEGORIES,
				.pid = io->owner.pid,
				.cpu = io->owner.cpu,
				.device = io->device,
				.action = BLKBOX_QUEUE,
			},
	};
}

bool filter_passes_io(const struct filter *filter, const struct recording *recording,
		      const struct track_io *io)
{
	struct merge_item item = as_event(io);
	const char *comm = NULL;
	struct filter whole;

	if (!filter || !filter_is_set(filter))
		return true;
	if (filter_needs_comm(filter))
		comm = recording_comm(recording, io->tag, io->owner.pid, io->owner.cpu,
				      io->owner.time_ns);
	whole = *filter;
	whole.n_actions = 0;
	return filter_passes(&whole, &item, comm);
}

bool filter_passes_stray(const struct filter *filter, const struct track_io *stray)
{
	struct merge_item item = as_event(stray);
	struct filter whole;

	if (!filter || !filter_is_set(filter))
		return true;
	whole = *filter;
	whole.n_actions = 0;
	whole.n_pids = 0;
	whole.no_own = false;
	whole.n_comms = 0;
	whole.n_cpus = 0;
	return filter_passes(&whole, &item, NULL);
}

struct track_io filter_io_of(const struct merge_item *item)
{
	const struct blkbox_event *event = &item->event;

	return (struct track_io){
		.tag = item->tag,
		.device = event->device,
		.sector = event->sector,
		.bytes = event->bytes,
		.categories = event->categories,
		.operation = operation_of(event),
		.owner = {event->pid, event->cpu, event->cgroup_id, event->time_ns, false},
	};
}
