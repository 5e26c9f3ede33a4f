/* SPDX-License-Identifier: MIT */
#include "text_track.h"

#include "letters.h"

#include <string.h>
#include <uthash.h>

/* Issues whose completion was lost must not fill the memory. */
enum {
	IOS_MAX = 256 << 10
};

struct io_key {
	uint64_t sector;
	uint32_t tag;
	uint32_t device;
};

/* Times of 0 = that event was not seen. */
struct io {
	struct io_key key;
	uint32_t pid;
	uint64_t queued_ns; /* bio-based devices have no issue: from here to completion */
	uint64_t allocated_ns;
	uint64_t inserted_ns;
	uint64_t issued_ns;
	UT_hash_handle hh;
};

struct text_track {
	struct io *ios; /* uthash keeps the order of insertion: the first is the oldest */
};

int text_track_create(struct text_track **ret)
{
	struct text_track *track = calloc(1, sizeof(*track));

	if (!track)
		return -ENOMEM;
	*ret = track;
	return 0;
}

static void forget(struct text_track *track, struct io *io)
{
	HASH_DEL(track->ios, io);
	free(io);
}

void text_track_destroy(struct text_track *track)
{
	if (!track)
		return;
	while (track->ios)
		forget(track, track->ios);
	free(track);
}

static struct io *find(struct text_track *track, uint32_t tag, uint32_t device, uint64_t sector)
{
	struct io_key key = {sector, tag, device};
	struct io *io;

	HASH_FIND(hh, track->ios, &key, sizeof(key), io);
	return io;
}

static struct io *find_or_add(struct text_track *track, uint32_t tag,
			      const struct blkbox_event *event)
{
	struct io *io = find(track, tag, event->device, event->sector);

	if (io)
		return io;
	if (HASH_COUNT(track->ios) >= IOS_MAX)
		forget(track, track->ios);
	io = calloc(1, sizeof(*io));
	if (!io)
		return NULL;
	io->key = (struct io_key){event->sector, tag, event->device};
	io->pid = event->pid;
	HASH_ADD(hh, track->ios, key, sizeof(io->key), io);
	return io;
}

static void front_merge(struct text_track *track, uint32_t tag, const struct blkbox_event *event)
{
	struct io *io = find(track, tag, event->device, event->sector + event->bytes / 512);
	struct io *other = find(track, tag, event->device, event->sector);

	if (!io || io == other)
		return;
	if (other)
		forget(track, other);
	HASH_DEL(track->ios, io);
	io->key.sector = event->sector;
	HASH_ADD(hh, track->ios, key, sizeof(io->key), io);
}

static uint64_t since(uint64_t from_ns, const struct blkbox_event *event)
{
	return from_ns && from_ns <= event->time_ns ? event->time_ns - from_ns : TRACK_NONE;
}

static uint64_t complete(struct text_track *track, uint32_t tag, const struct blkbox_event *event,
			 uint32_t *ret_pid)
{
	struct io *io = find(track, tag, event->device, event->sector);
	uint64_t elapsed_ns;

	if (!io)
		return TRACK_NONE;
	elapsed_ns = since(io->issued_ns ? io->issued_ns : io->queued_ns, event);
	*ret_pid = io->pid;
	forget(track, io);
	return elapsed_ns;
}

int text_track_event(struct text_track *track, uint32_t tag, const struct blkbox_event *event,
		     struct track_time *ret)
{
	struct track_time time = {.elapsed_ns = TRACK_NONE, .pid = event->pid};
	struct io *io = NULL;

	if (event->categories & (BLKBOX_CAT_NOTIFY | BLKBOX_CAT_PC)) {
		*ret = time;
		return 0;
	}
	if (event->action == BLKBOX_QUEUE || event->action == BLKBOX_GETRQ ||
	    event->action == BLKBOX_INSERT) {
		io = find_or_add(track, tag, event);
		if (!io)
			return -ENOMEM;
	}
	switch (event->action) {
	case BLKBOX_QUEUE:
		io->queued_ns = event->time_ns;
		break;
	case BLKBOX_GETRQ:
		io->allocated_ns = event->time_ns;
		io->pid = event->pid;
		break;
	case BLKBOX_INSERT:
		io->inserted_ns = event->time_ns;
		time = (struct track_time){since(io->allocated_ns, event), io->pid};
		break;
	case BLKBOX_FRONTMERGE:
		front_merge(track, tag, event);
		break;
	case BLKBOX_ISSUE:
		io = find(track, tag, event->device, event->sector);
		if (io && (event->categories & BLKBOX_CAT_FS)) {
			io->issued_ns = event->time_ns;
			time = (struct track_time){since(io->inserted_ns, event), io->pid};
		}
		break;
	case BLKBOX_COMPLETE:
		if (!event_is_zone_append_sector(event))
			time.elapsed_ns = complete(track, tag, event, &time.pid);
		break;
	default:
		break;
	}
	*ret = time;
	return 0;
}
