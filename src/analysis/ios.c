/* SPDX-License-Identifier: MIT */
#include "ios.h"

#include "grow.h"
#include "index.h"

#include <string.h>
#include <uthash.h>

struct key {
	uint64_t sector;
	uint32_t tag;
	uint32_t device;
	uint32_t is_flush; /* flushes stand at sector 0, too */
	uint32_t pad;
};

struct open_io {
	struct key key;
	struct io io;
	uint32_t done_bytes;
	UT_hash_handle hh;
};

struct ios {
	struct open_io *open; /* uthash keeps the order of insertion: the oldest is first */
	struct index places;  /* of @depths, by tag and device */
	uint64_t *depths;
	size_t n_depths;
	uint64_t lost_issues;
	uint64_t lost_completions;
	uint64_t inverted;
};

int ios_create(struct ios **ret)
{
	struct ios *ios = calloc(1, sizeof(*ios));

	if (!ios)
		return -ENOMEM;
	*ret = ios;
	return 0;
}

static void forget(struct ios *ios, struct open_io *open)
{
	HASH_DEL(ios->open, open);
	free(open);
}

void ios_destroy(struct ios *ios)
{
	if (!ios)
		return;
	while (ios->open)
		forget(ios, ios->open);
	index_deinit(&ios->places);
	free(ios->depths);
	free(ios);
}

static struct key key_of(const struct merge_item *item, uint64_t sector)
{
	return (struct key){
		.sector = sector,
		.tag = item->tag,
		.device = item->event.device,
		.is_flush = !item->event.bytes,
	};
}

static struct open_io *find(struct ios *ios, const struct merge_item *item, uint64_t sector)
{
	struct key key = key_of(item, sector);
	struct open_io *open;

	HASH_FIND(hh, ios->open, &key, sizeof(key), open);
	return open;
}

static uint64_t *depth_of(struct ios *ios, uint32_t tag, uint32_t device)
{
	uint64_t number = index_pair(tag, device);
	uint64_t *depths;
	size_t at;

	if (index_find(&ios->places, number, &at))
		return &ios->depths[at];
	depths = grow_list(ios->depths, ios->n_depths, sizeof(*depths));
	if (!depths)
		return NULL;
	ios->depths = depths;
	if (index_add(&ios->places, number, ios->n_depths) < 0)
		return NULL;
	depths[ios->n_depths] = 0;
	return &depths[ios->n_depths++];
}

/* The I/O leaves the driver. */
static void leave(struct ios *ios, struct open_io *open)
{
	uint64_t *depth = depth_of(ios, open->io.tag, open->io.device);

	if (open->io.issued_ns && depth && *depth)
		--*depth;
}

static struct open_io *add(struct ios *ios, const struct merge_item *item)
{
	const struct blkbox_event *event = &item->event;
	struct open_io *open;

	if (HASH_COUNT(ios->open) >= IOS_OPEN_MAX) {
		ios->lost_issues += ios->open->io.issued_ns != 0;
		leave(ios, ios->open);
		forget(ios, ios->open);
	}
	open = calloc(1, sizeof(*open));
	if (!open)
		return NULL;
	open->key = key_of(item, event->sector);
	open->io = (struct io){
		.tag = item->tag,
		.device = event->device,
		.sector = event->sector,
		.bytes = event->bytes,
		.categories = event->categories,
		.pid = event->pid,
		.cpu = event->cpu,
		.cgroup_id = event->cgroup_id,
	};
	HASH_ADD(hh, ios->open, key, sizeof(open->key), open);
	return open;
}

static int queue(struct ios *ios, const struct merge_item *item)
{
	struct open_io *open = find(ios, item, item->event.sector);

	/* Two bios for one place: the first one's issue will come first. */
	if (open && open->io.issued_ns)
		return 0;
	if (open)
		forget(ios, open);
	open = add(ios, item);
	if (!open)
		return -ENOMEM;
	open->io.queued_ns = item->event.time_ns;
	return 0;
}

static int issue(struct ios *ios, const struct merge_item *item)
{
	const struct blkbox_event *event = &item->event;
	struct open_io *open = find(ios, item, event->sector);
	uint64_t *depth;

	if (open && open->io.issued_ns) {
		/* Its completion was lost: the place is used again. */
		ios->lost_issues++;
		leave(ios, open);
		forget(ios, open);
		open = NULL;
	}
	if (!open)
		open = add(ios, item);
	/* Only now: the oldest I/O may have left, which may have moved the depths. */
	depth = depth_of(ios, item->tag, event->device);
	if (!open || !depth)
		return -ENOMEM;
	open->io.issued_ns = event->time_ns;
	open->io.bytes = event->bytes;
	open->io.categories = event->categories;
	++*depth;
	return 0;
}

static void requeue(struct ios *ios, const struct merge_item *item)
{
	struct open_io *open = find(ios, item, item->event.sector);

	if (!open)
		return;
	leave(ios, open);
	open->io.issued_ns = 0;
	open->io.requeues++;
}

/* A part is done: the rest will complete from where it starts. */
static void move_on(struct ios *ios, struct open_io *open, const struct blkbox_event *event)
{
	HASH_DEL(ios->open, open);
	open->done_bytes += event->bytes;
	open->key.sector = event->sector + event->bytes / 512;
	HASH_ADD(hh, ios->open, key, sizeof(open->key), open);
}

static int complete(struct ios *ios, const struct merge_item *item, struct io *ret)
{
	const struct blkbox_event *event = &item->event;
	struct open_io *open = find(ios, item, event->sector);

	if (!open) {
		ios->lost_completions++;
		return 0;
	}
	if (event->error && !open->io.error)
		open->io.error = event->error;
	if (open->io.issued_ns && event->bytes &&
	    open->done_bytes + (uint64_t)event->bytes < open->io.bytes) {
		move_on(ios, open, event);
		return 0;
	}
	leave(ios, open);
	open->io.completed_ns = event->time_ns;
	ios->inverted += open->io.completed_ns < open->io.issued_ns ||
			 open->io.completed_ns < open->io.queued_ns ||
			 (open->io.issued_ns && open->io.issued_ns < open->io.queued_ns);
	*ret = open->io;
	ret->operation = operation_of(&(struct blkbox_event){
		.categories = ret->categories,
		.bytes = ret->bytes,
	});
	forget(ios, open);
	return 1;
}

/* The bio in front becomes a part of the older request, which starts where the bio does. */
static void front_merge(struct ios *ios, const struct merge_item *item)
{
	const struct blkbox_event *event = &item->event;
	struct open_io *old = find(ios, item, event->sector + event->bytes / 512);
	struct open_io *bio = find(ios, item, event->sector);

	if (!old || old == bio || old->io.issued_ns)
		return;
	if (bio && bio->io.issued_ns) {
		/* That place is taken: which completion is whose cannot be told. */
		forget(ios, old);
		return;
	}
	if (bio)
		forget(ios, bio);
	HASH_DEL(ios->open, old);
	old->key.sector = old->io.sector = event->sector;
	old->io.bytes += event->bytes;
	HASH_ADD(hh, ios->open, key, sizeof(old->key), old);
}

/* A bio was cut in two and only its front keeps the place: the rest has the same owner. */
static int split(struct ios *ios, const struct merge_item *item)
{
	struct open_io *open = find(ios, item, item->event.sector);
	struct merge_item rest = *item;
	struct io front;

	if (!open || open->io.issued_ns || item->event.bytes >= open->io.bytes)
		return 0;
	front = open->io;
	open->io.bytes = item->event.bytes;
	/* Not the payload's sector, which has 32 bits only. */
	rest.event.sector += item->event.bytes / 512;
	rest.event.bytes = front.bytes - item->event.bytes;
	rest.event.pid = front.pid;
	rest.event.cpu = front.cpu;
	rest.event.cgroup_id = front.cgroup_id;
	rest.event.time_ns = front.queued_ns;
	return queue(ios, &rest);
}

int ios_event(struct ios *ios, const struct merge_item *item, struct io *ret)
{
	const struct blkbox_event *event = &item->event;
	struct open_io *open;

	if (event->categories & (BLKBOX_CAT_NOTIFY | BLKBOX_CAT_PC))
		return 0;
	switch (event->action) {
	case BLKBOX_QUEUE:
		return queue(ios, item);
	case BLKBOX_BACKMERGE:
		/* It is a part of another request from now on. */
		open = find(ios, item, event->sector);
		if (open && !open->io.issued_ns)
			forget(ios, open);
		return 0;
	case BLKBOX_FRONTMERGE:
		front_merge(ios, item);
		return 0;
	case BLKBOX_SPLIT:
		return split(ios, item);
	case BLKBOX_ISSUE:
		return issue(ios, item);
	case BLKBOX_REQUEUE:
		requeue(ios, item);
		return 0;
	case BLKBOX_COMPLETE:
		return event_is_zone_append_sector(event) ? 0 : complete(ios, item, ret);
	default:
		return 0;
	}
}

uint64_t ios_depth(struct ios *ios, uint32_t tag, uint32_t device)
{
	size_t at;

	return index_find(&ios->places, index_pair(tag, device), &at) ? ios->depths[at] : 0;
}

void ios_unmatched(const struct ios *ios, uint64_t *ret_issues, uint64_t *ret_completions)
{
	*ret_issues = ios->lost_issues;
	*ret_completions = ios->lost_completions;
}

uint64_t ios_in_flight(const struct ios *ios)
{
	uint64_t n = 0;

	for (const struct open_io *open = ios->open; open; open = open->hh.next)
		n += open->io.issued_ns != 0;
	return n;
}

uint64_t ios_inverted(const struct ios *ios)
{
	return ios->inverted;
}
