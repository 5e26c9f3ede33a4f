/* SPDX-License-Identifier: MIT */
#include "merge.h"

#include "grow.h"
#include "heap.h"
#include "reorder.h"

enum {
	NONE = UINT32_MAX,
	DECODED_AT_ONCE = 32, /* there may be thousands of channels */
};

enum channel_state {
	CHANNEL_STALE, /* its head was given out: the next one must be read */
	CHANNEL_READY, /* its head waits in the heap */
	CHANNEL_DRY,   /* nothing now */
	CHANNEL_ENDED,
};

struct channel {
	struct merge_channel options;
	struct decoder *decoder;
	struct reorder *reorder; /* NULL if the channel is in order */
	uint64_t head_ns;	 /* the head's time, shifted */
	const struct blkbox_event *head;
	struct blkbox_event reordered; /* the head, if there is a reorder */
	enum channel_state state;
	bool decoder_ended;
	unsigned at, n; /* of what is decoded: the next one, and how many there are */
	struct blkbox_event decoded[DECODED_AT_ONCE];
};

struct merge {
	struct channel **channels; /* their heads point into them */
	uint32_t n;
	uint32_t given; /* channel on top of the heap whose head is with the caller; or NONE */
	uint64_t newest_ns;
	bool waiting; /* some channels are stale and not in the heap */
	struct heap heap;
};

static bool before(const void *context, uint32_t a, uint32_t b)
{
	const struct merge *merge = context;
	const struct channel *first = merge->channels[a], *second = merge->channels[b];
	const struct blkbox_event *x = first->head, *y = second->head;

	if (first->head_ns != second->head_ns)
		return first->head_ns < second->head_ns;
	if (x->cpu != y->cpu)
		return x->cpu < y->cpu;
	if (x->sequence != y->sequence)
		return x->sequence < y->sequence;
	return a < b;
}

int merge_create(struct merge **ret)
{
	struct merge *merge = calloc(1, sizeof(*merge));

	if (!merge)
		return -ENOMEM;
	merge->given = NONE;
	heap_init(&merge->heap, before, merge);
	*ret = merge;
	return 0;
}

void merge_destroy(struct merge *merge)
{
	if (!merge)
		return;
	for (uint32_t i = 0; i < merge->n; i++) {
		decoder_destroy(merge->channels[i]->decoder);
		reorder_destroy(merge->channels[i]->reorder);
		free(merge->channels[i]);
	}
	free(merge->channels);
	heap_deinit(&merge->heap);
	free(merge);
}

int merge_adopt(struct merge *merge, struct decoder *decoder, const struct merge_channel *options)
{
	_cleanup_(cleanup_decoder_destroy) struct decoder *own = decoder;
	_cleanup_(cleanup_reorder_destroy) struct reorder *reorder = NULL;
	struct channel **channels, *channel;
	int r;

	if (options->disorder_ns) {
		r = reorder_create(options->disorder_ns, &reorder);
		if (r < 0)
			return r;
	}
	channels = grow_list(merge->channels, merge->n, sizeof(*channels));
	if (!channels)
		return -ENOMEM;
	merge->channels = channels;
	channel = malloc(sizeof(*channel));
	if (!channel)
		return -ENOMEM;
	*channel = (struct channel){
		.options = *options,
		.decoder = take_ptr(own),
		.reorder = take_ptr(reorder),
		.state = CHANNEL_STALE,
	};
	channels[merge->n++] = channel;
	merge->waiting = true;
	return 0;
}

/* The channel's next event as it is stored, those of other CPUs left out. */
static int decode(struct channel *channel, const struct blkbox_event **ret, struct why *why)
{
	uint32_t only_cpu = channel->options.only_cpu;

	do {
		if (channel->at == channel->n) {
			int r = channel->decoder_ended
					? 0
					: decoder_next_events(channel->decoder, DECODED_AT_ONCE,
							      channel->decoded, why);

			if (r == 0)
				channel->decoder_ended = true;
			if (r <= 0)
				return r;
			channel->at = 0;
			channel->n = (unsigned)r;
		}
		*ret = &channel->decoded[channel->at++];
	} while (only_cpu != MERGE_ALL_CPUS && (*ret)->cpu != only_cpu);
	return 1;
}

/* The channel's next event in order of time. */
static int pull(struct channel *channel, const struct blkbox_event **ret, struct why *why)
{
	const struct blkbox_event *event;
	int r;

	if (!channel->reorder)
		return decode(channel, ret, why);
	while (!channel->decoder_ended && reorder_is_hungry(channel->reorder)) {
		r = decode(channel, &event, why);
		if (r < 0)
			return r;
		if (r == 0)
			break;
		r = reorder_put(channel->reorder, event);
		if (r < 0)
			return why_set(why, r, "no memory to put events into order");
	}
	*ret = &channel->reordered;
	return reorder_take(channel->reorder, &channel->reordered);
}

/* Reads a stale channel's next head. */
static int refresh(struct channel *channel, struct why *why)
{
	int r = pull(channel, &channel->head, why);

	if (r == -EAGAIN) {
		channel->state = CHANNEL_DRY;
		return 0;
	}
	if (r < 0)
		return r;
	if (r == 0) {
		channel->state = CHANNEL_ENDED;
		return 0;
	}
	channel->head_ns = channel->head->time_ns + (uint64_t)channel->options.shift_ns;
	channel->state = CHANNEL_READY;
	return 0;
}

/* The caller is done with the head it was given: the channel's next one takes its place. */
static int replace_given(struct merge *merge, struct why *why)
{
	struct channel *channel;
	int r;

	if (merge->given == NONE)
		return 0;
	channel = merge->channels[merge->given];
	r = refresh(channel, why);
	if (r < 0)
		return r;
	if (channel->state == CHANNEL_READY)
		heap_top_changed(&merge->heap);
	else
		heap_pop(&merge->heap);
	merge->given = NONE;
	return 0;
}

static int start_waiting(struct merge *merge, struct why *why)
{
	if (!merge->waiting)
		return 0;
	for (uint32_t i = 0; i < merge->n; i++) {
		struct channel *channel = merge->channels[i];
		int r;

		if (channel->state != CHANNEL_STALE)
			continue;
		r = refresh(channel, why);
		if (r == 0 && channel->state == CHANNEL_READY) {
			r = heap_push(&merge->heap, i);
			if (r < 0)
				why_set(why, r, "no memory to merge");
		}
		if (r < 0)
			return r;
	}
	merge->waiting = false;
	return 0;
}

int merge_next(struct merge *merge, uint64_t limit_ns, struct merge_item *ret, struct why *why)
{
	const struct channel *channel;
	int r = replace_given(merge, why);

	if (r == 0)
		r = start_waiting(merge, why);
	if (r < 0)
		return r;
	if (!merge->heap.n)
		return 0;
	channel = merge->channels[heap_top(&merge->heap)];
	if (channel->head_ns > limit_ns)
		return 0;
	merge->given = heap_top(&merge->heap);
	ret->event = *channel->head;
	ret->event.time_ns = channel->head_ns;
	ret->tag = channel->options.tag;
	ret->late = channel->head_ns < merge->newest_ns;
	if (!ret->late)
		merge->newest_ns = channel->head_ns;
	return 1;
}

void merge_resume(struct merge *merge)
{
	for (uint32_t i = 0; i < merge->n; i++) {
		if (merge->channels[i]->state != CHANNEL_DRY)
			continue;
		merge->channels[i]->state = CHANNEL_STALE;
		merge->waiting = true;
	}
}
