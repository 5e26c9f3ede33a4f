/* SPDX-License-Identifier: MIT */
#include "stats_ios.h"

#include <errno.h>
#include <stdlib.h>

int stats_ios_init(struct stats_ios *ios, size_t room)
{
	ios->items = calloc(room + 1, sizeof(*ios->items));
	ios->room = room;
	return ios->items ? 0 : -ENOMEM;
}

void stats_ios_deinit(struct stats_ios *ios)
{
	free(ios->items);
	*ios = (struct stats_ios){0};
}

void stats_ios_add_longest(struct stats_ios *ios, const struct stats_io *io)
{
	struct stats_io *items = ios->items;
	size_t at = ios->n;

	if (!ios->room || (at == ios->room && io->latency_ns <= items[at - 1].latency_ns))
		return;
	if (at == ios->room)
		at--;
	else
		ios->n++;
	for (; at && items[at - 1].latency_ns < io->latency_ns; at--)
		items[at] = items[at - 1];
	items[at] = *io;
}

void stats_ios_add_first(struct stats_ios *ios, const struct stats_io *io)
{
	if (ios->n < ios->room)
		ios->items[ios->n++] = *io;
}

/*
 * @lower is what @upper became on the next traced device below: between them may be partitions.
 * Each device may be in an input of its own.
 */
static bool is_part(const struct track_io *lower, const struct track_io *upper)
{
	if (!upper->times.queued_ns || lower->times.remapped_from_ns != upper->times.queued_ns)
		return false;
	for (unsigned i = 0; i < lower->n_levels; i++) {
		if (lower->levels[i].device == upper->device)
			return true;
	}
	return false;
}

/* NULL: none is known. */
static const struct track_io *last_part(const struct stats_ios *ios, const struct track_io *upper)
{
	const struct track_io *last = NULL;

	for (size_t i = 0; i < ios->n; i++) {
		const struct track_io *io = &ios->items[i].io;

		if (is_part(io, upper) &&
		    (!last || io->times.completed_ns > last->times.completed_ns))
			last = io;
	}
	return last;
}

void stats_ios_join(struct stats_ios *upper, const struct stats_ios *lower)
{
	for (size_t i = 0; i < upper->n; i++) {
		struct stats_io *item = &upper->items[i];
		const struct track_io *part = last_part(lower, &item->io);

		for (int level = 0; part && level < TRACK_LEVELS_MAX; level++) {
			item->has_below = true;
			item->below = *part;
			part = last_part(lower, part);
		}
	}
}

static bool has_upper(const struct stats_ios *ios, const struct track_io *lower)
{
	for (size_t i = 0; i < ios->n; i++) {
		if (is_part(lower, &ios->items[i].io))
			return true;
	}
	return false;
}

void stats_ios_fold(struct stats_ios *ios, size_t room)
{
	struct stats_ios whole = *ios;
	size_t n = 0;

	stats_ios_join(ios, &whole);
	for (size_t i = 0; i < whole.n; i++)
		whole.items[i].is_part = has_upper(&whole, &whole.items[i].io);
	for (size_t i = 0; i < whole.n && n < room; i++) {
		if (!whole.items[i].is_part)
			ios->items[n++] = whole.items[i];
	}
	ios->n = n;
}
