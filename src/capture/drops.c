/* SPDX-License-Identifier: MIT */
#include "drops.h"

#include "locked.h"

#include <string.h>

struct drop_counter {
	uint32_t device_index;
	uint32_t cpu;
	uint64_t value;	 /* at the last look */
	uint64_t hidden; /* share of CPUs that are offline */
	uint64_t looked_ns;
	uint64_t lost;
	uint64_t lost_at_stop;
};

int drop_tracker_init(struct drop_tracker *tracker)
{
	*tracker = (struct drop_tracker){0};
	return -pthread_mutex_init(&tracker->lock, NULL);
}

void drop_tracker_deinit(struct drop_tracker *tracker)
{
	pthread_mutex_destroy(&tracker->lock);
	free(tracker->counters);
	free(tracker->windows);
}

static struct drop_counter *find(struct drop_tracker *tracker, uint32_t device_index, uint32_t cpu)
{
	for (size_t i = 0; i < tracker->n_counters; i++) {
		struct drop_counter *counter = &tracker->counters[i];

		if (counter->device_index == device_index && counter->cpu == cpu)
			return counter;
	}
	return NULL;
}

static struct drop_counter *add_counter(struct drop_tracker *tracker)
{
	struct drop_counter *more =
		reallocarray(tracker->counters, tracker->n_counters + 1, sizeof(*more));

	if (!more)
		return NULL;
	tracker->counters = more;
	return &more[tracker->n_counters++];
}

static int add_window(struct drop_tracker *tracker, const struct log_drops *drops)
{
	if (tracker->n_windows == tracker->room) {
		size_t room = tracker->room ? 2 * tracker->room : 16;
		struct log_drops *more = reallocarray(tracker->windows, room, sizeof(*more));

		if (!more)
			return -ENOMEM;
		tracker->windows = more;
		tracker->room = room;
	}
	tracker->windows[tracker->n_windows++] = *drops;
	return 0;
}

/* Adds @count losses to the window that @window dates. */
static int account(struct drop_tracker *tracker, struct drop_counter *counter,
		   const struct log_drops *window, uint64_t count, uint32_t flags)
{
	struct log_drops drops = *window;
	int r;

	if (!count)
		return 0;
	drops.count = count;
	drops.flags = flags;
	r = add_window(tracker, &drops);
	if (r < 0)
		return r;
	if (flags & LOG_DROPS_AT_STOP)
		counter->lost_at_stop += count;
	else
		counter->lost += count;
	return 0;
}

int drop_tracker_look(struct drop_tracker *tracker, uint32_t device_index, uint32_t cpu,
		      uint64_t value, uint64_t now_ns, bool cpu_came, uint64_t noise_max)
{
	LOCKED(&tracker->lock);
	struct drop_counter *counter = find(tracker, device_index, cpu);
	int r = 0;

	if (!counter) {
		counter = add_counter(tracker);
		if (!counter)
			return -ENOMEM;
		*counter = (struct drop_counter){
			.device_index = device_index,
			.cpu = cpu,
			.value = value,
			.looked_ns = now_ns,
		};
		return 0;
	}
	if (value < counter->value) {
		counter->hidden += counter->value - value;
	} else if (value > counter->value) {
		uint64_t rise = value - counter->value;
		uint64_t back = !cpu_came ? 0 : rise < counter->hidden ? rise : counter->hidden;
		uint64_t noise = rise - back < noise_max ? rise - back : noise_max;
		struct log_drops drops = {
			.device_index = device_index,
			.cpu = cpu,
			.from_ns = counter->looked_ns,
			.to_ns = now_ns,
		};

		/* On failure what is not accounted for is not forgotten: the next look sees it. */
		r = account(tracker, counter, &drops, rise - back - noise, 0);
		if (r < 0)
			return r;
		counter->value += rise - back - noise;
		r = account(tracker, counter, &drops, noise, LOG_DROPS_AT_STOP);
		if (r < 0)
			return r;
		counter->hidden -= back;
	}
	counter->value = value;
	counter->looked_ns = now_ns;
	return 0;
}

int drop_tracker_add(struct drop_tracker *tracker, const struct log_drops *drops)
{
	LOCKED(&tracker->lock);
	struct drop_counter *counter = find(tracker, drops->device_index, drops->cpu);

	if (!counter) {
		counter = add_counter(tracker);
		if (!counter)
			return -ENOMEM;
		*counter = (struct drop_counter){
			.device_index = drops->device_index,
			.cpu = drops->cpu,
			.looked_ns = drops->to_ns,
		};
	}
	return account(tracker, counter, drops, drops->count, drops->flags);
}

size_t drop_tracker_take(struct drop_tracker *tracker, struct log_drops **ret)
{
	LOCKED(&tracker->lock);
	size_t n = tracker->n_windows - tracker->n_taken;
	struct log_drops *copy;

	if (!n)
		return 0;
	copy = calloc(n, sizeof(*copy));
	if (!copy)
		return 0;
	memcpy(copy, tracker->windows + tracker->n_taken, n * sizeof(*copy));
	tracker->n_taken = tracker->n_windows;
	*ret = copy;
	return n;
}

void drop_tracker_put_back(struct drop_tracker *tracker, size_t n)
{
	LOCKED(&tracker->lock);

	tracker->n_taken -= n;
}

uint64_t drop_tracker_sum(struct drop_tracker *tracker, uint32_t device_index, bool at_stop)
{
	LOCKED(&tracker->lock);
	uint64_t sum = 0;

	for (size_t i = 0; i < tracker->n_counters; i++) {
		const struct drop_counter *counter = &tracker->counters[i];

		if (counter->device_index == device_index)
			sum += at_stop ? counter->lost_at_stop : counter->lost;
	}
	return sum;
}
