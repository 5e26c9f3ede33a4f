/* SPDX-License-Identifier: MIT */
#include "truth.h"

#include <string.h>

enum {
	SECTOR_BYTES = 512
};

/* Queued, and not complete: a stretch of the device. */
struct truth_pending {
	uint64_t from, to; /* sectors; @to is not part of it */
	bool write;
	size_t window, owner;
};

int truth_create(const struct observation *observations, size_t n, struct truth **ret)
{
	struct truth *truth = calloc(1, sizeof(*truth));

	if (truth)
		truth->windows = calloc(n ? n : 1, sizeof(*truth->windows));
	if (!truth || !truth->windows) {
		free(truth);
		return -ENOMEM;
	}
	truth->observations = observations;
	truth->n = n;
	*ret = truth;
	return 0;
}

void truth_destroy(struct truth *truth)
{
	if (!truth)
		return;
	for (size_t i = 0; i < truth->n; i++)
		free(truth->windows[i].owners);
	free(truth->windows);
	free(truth->pending);
	free(truth);
}

/* The experiment that runs at @time_ns; truth->n: none. */
static size_t find_window(const struct truth *truth, uint64_t time_ns)
{
	for (size_t i = 0; i < truth->n; i++) {
		const struct observation *observation = &truth->observations[i];

		if (observation->from_ns <= time_ns && time_ns <= observation->to_ns)
			return i;
	}
	return truth->n;
}

static bool begins_with(const char *text, const char *prefix)
{
	return !strncmp(text, prefix, strlen(prefix));
}

/* Threads of the kernel that work for a file system's journal, and others. */
static const char *role_by_name(const char *name)
{
	static const char *const journals[] = {"jbd2/", "xfsaild/", "btrfs-transacti"};
	static const char *const threads[] = {"kworker/", "ksoftirqd/",	  "kswapd", "btrfs-",
					      "loop",	  "ext4lazyinit", "swapper"};

	for (size_t i = 0; i < sizeof(journals) / sizeof(journals[0]); i++) {
		if (begins_with(name, journals[i]))
			return "journal";
	}
	for (size_t i = 0; i < sizeof(threads) / sizeof(threads[0]); i++) {
		if (begins_with(name, threads[i]))
			return "kernel";
	}
	return "other";
}

static const char *find_role(const struct observation *observation, uint32_t pid, const char *name)
{
	if ((pid_t)pid == getpid())
		return "blkbox";
	for (size_t i = 0; i < observation->n_tasks; i++) {
		if (observation->tasks[i].pid == (pid_t)pid)
			return observation->tasks[i].role;
	}
	return role_by_name(name);
}

static int find_owner(struct truth *truth, size_t window_index, uint32_t pid, const char *name,
		      size_t *ret)
{
	struct truth_window *window = &truth->windows[window_index];
	struct truth_owner *owner, *more;

	for (size_t i = 0; i < window->n_owners; i++) {
		if (window->owners[i].pid == pid) {
			*ret = i;
			return 0;
		}
	}
	more = reallocarray(window->owners, window->n_owners + 1, sizeof(*more));
	if (!more)
		return -ENOMEM;
	window->owners = more;
	owner = &more[window->n_owners];
	*owner = (struct truth_owner){.pid = pid};
	snprintf(owner->name, sizeof(owner->name), "%s", name ? name : "");
	owner->role = find_role(&truth->observations[window_index], pid, owner->name);
	*ret = window->n_owners++;
	return 0;
}

static int remember(struct truth *truth, struct truth_pending pending)
{
	if (truth->n_pending == truth->room) {
		size_t room = truth->room ? 2 * truth->room : 64;
		struct truth_pending *more = reallocarray(truth->pending, room, sizeof(*more));

		if (!more)
			return -ENOMEM;
		truth->pending = more;
		truth->room = room;
	}
	truth->pending[truth->n_pending++] = pending;
	return 0;
}

static void count_queued(struct truth_bytes *bytes, const struct blkbox_event *event)
{
	bool write = event->categories & BLKBOX_CAT_WRITE;

	if (!event->bytes) {
		bytes->flushes++;
		return;
	}
	if (event->categories & BLKBOX_CAT_DISCARD) {
		bytes->queued_discard += event->bytes;
		return;
	}
	*(write ? &bytes->queued_write : &bytes->queued_read) += event->bytes;
	if (event->categories & BLKBOX_CAT_META)
		bytes->queued_metadata += event->bytes;
	if (!write && event->categories & BLKBOX_CAT_AHEAD)
		bytes->queued_readahead += event->bytes;
}

static int queue(struct truth *truth, const struct blkbox_event *event, const char *name)
{
	struct truth_pending pending = {
		.from = event->sector,
		.to = event->sector + event->bytes / SECTOR_BYTES,
		.write = event->categories & BLKBOX_CAT_WRITE,
		.window = find_window(truth, event->time_ns),
	};
	struct truth_window *window;
	int r;

	if (pending.window == truth->n)
		return 0;
	r = find_owner(truth, pending.window, event->pid, name, &pending.owner);
	if (r < 0)
		return r;
	window = &truth->windows[pending.window];
	count_queued(&window->total, event);
	count_queued(&window->owners[pending.owner].bytes, event);
	if (!event->bytes || event->categories & BLKBOX_CAT_DISCARD)
		return 0;
	return remember(truth, pending);
}

static void count_completed(struct truth *truth, const struct truth_pending *pending,
			    uint64_t sectors)
{
	struct truth_window *window = &truth->windows[pending->window];
	struct truth_bytes *both[] = {&window->total, &window->owners[pending->owner].bytes};
	uint64_t bytes = sectors * SECTOR_BYTES;

	for (size_t i = 0; i < 2; i++)
		*(pending->write ? &both[i]->completed_write : &both[i]->completed_read) += bytes;
}

/*
 * A completion may be of several that were merged, or of a part. What it covers of each is taken
 * off, from the front or the back; a hole in the middle stays, which no driver makes.
 */
static void complete(struct truth *truth, const struct blkbox_event *event)
{
	uint64_t from = event->sector, to = from + event->bytes / SECTOR_BYTES;
	bool write = event->categories & BLKBOX_CAT_WRITE;
	size_t kept = 0;

	for (size_t i = 0; i < truth->n_pending; i++) {
		struct truth_pending *pending = &truth->pending[i];
		uint64_t first = pending->from > from ? pending->from : from;
		uint64_t end = pending->to < to ? pending->to : to;

		if (pending->write == write && first < end) {
			count_completed(truth, pending, end - first);
			if (first == pending->from)
				pending->from = end;
			else
				pending->to = first;
		}
		if (pending->from < pending->to)
			truth->pending[kept++] = *pending;
	}
	truth->n_pending = kept;
}

int truth_add(struct truth *truth, const struct blkbox_event *event, const char *name)
{
	if (blkbox_event_is_note(event))
		return 0;
	if (event->action == BLKBOX_QUEUE)
		return queue(truth, event, name);
	if (blkbox_event_is_completion(event) && event->bytes && !event->error)
		complete(truth, event);
	return 0;
}
