/* SPDX-License-Identifier: MIT */
#include "track_private.h"

#include "wire.h"

/* A bio follows its remap at once, in the same context. */
static const uint64_t remap_valid_ns = 1000000000;

static struct remap *find_remap(struct device *device, uint64_t sector, uint64_t bytes,
				uint64_t now_ns)
{
	if (!device->remaps)
		return NULL;
	for (unsigned i = 1; i <= REMAPS; i++) {
		struct remap *remap = &device->remaps[(device->next_remap - i) % REMAPS];

		if (remap->used && remap->sector == sector && remap->bytes == bytes &&
		    now_ns - remap->time_ns < remap_valid_ns)
			return remap;
	}
	return NULL;
}

static void add_levels(struct remap *remap, const struct track_level *levels, unsigned n)
{
	for (unsigned i = 0; i < n && remap->n_levels < TRACK_LEVELS_MAX; i++)
		remap->levels[remap->n_levels++] = levels[i];
}

/* Devices that were traced together can be in inputs of their own. */
static const struct device *device_above(const struct track *track, uint32_t tag, uint32_t number)
{
	const struct device *found = track_find_device(track, tag, number);

	for (const struct device *device = track->devices; device && !found;
	     device = (const struct device *)device->hh.next) {
		if (device->key.device == number)
			found = device;
	}
	return found;
}

/* The device above is traced, too: the I/O there knows whose it is. */
static void take_from_above(struct track *track, struct remap *remap, uint32_t tag,
			    const struct blkbox_event *event, const struct track_level *above)
{
	const struct device *device = device_above(track, tag, above->device);
	const struct life *life =
		device ? life_covering(device, operation_of(event), above->sector) : NULL;

	if (!life)
		return;
	remap->owner = life->io.owner;
	remap->from_ns = life->io.times.queued_ns;
	add_levels(remap, life->io.levels, life->io.n_levels);
}

int remap_event(struct track *track, struct device *device, const struct merge_item *item)
{
	const struct blkbox_event *event = &item->event;
	struct remap remap = {
		.sector = event->sector,
		.bytes = event->bytes,
		.time_ns = event->time_ns,
		.used = true,
	};
	struct track_level above;
	struct remap *first;
	uint32_t to;

	if (!device->remaps)
		device->remaps = calloc(REMAPS, sizeof(*device->remaps));
	if (!device->remaps)
		return -ENOMEM;
	if (!wire_pdu_remap(event, &above.device, &to, &above.sector))
		return 0;
	add_levels(&remap, &above, 1);
	/* First from the stacked device to the partition, then from there to the disk. */
	first = above.device == device->key.device
			? NULL
			: find_remap(device, above.sector, event->bytes, event->time_ns);
	if (first) {
		add_levels(&remap, first->levels, first->n_levels);
		remap.owner = first->owner;
		remap.from_ns = first->from_ns;
		first->used = false;
	} else {
		take_from_above(track, &remap, item->tag, event, &above);
	}
	device->remaps[device->next_remap++ % REMAPS] = remap;
	return 0;
}

void remap_apply(struct device *device, struct life *life)
{
	struct track_io *io = &life->io;
	struct remap *remap = find_remap(device, io->sector, io->bytes, life->begin_ns);

	if (!remap)
		return;
	remap->used = false;
	io->times.remapped_ns = remap->time_ns;
	io->times.remapped_from_ns = remap->from_ns;
	io->n_levels = remap->n_levels;
	for (unsigned i = 0; i < remap->n_levels; i++)
		io->levels[i] = remap->levels[i];
	if (remap->owner.known)
		io->owner = remap->owner;
}
