/* SPDX-License-Identifier: MIT */
/* Who was blocked, in order. */
#include "stall_history.h"

#include "clock.h"
#include "grow.h"

/* @a before @b: the longest first. */
static bool comes_before(const struct stall_victim *a, const struct stall_victim *b)
{
	return a->blocked_ms > b->blocked_ms;
}

/* The piece of the same process that is told already; NULL: there is none. */
static struct stall_victim *find(struct stall_event *stall, const struct stall_victim *victim)
{
	for (size_t i = 0; i < stall->n_victims; i++) {
		struct stall_victim *other = &stall->victims[i];

		if (other->pid == victim->pid && !strcmp(other->name, victim->name))
			return other;
	}
	return NULL;
}

/* Two waits of one process in one stall: they add up. */
static void join(struct stall_victim *to, const struct stall_victim *from)
{
	if (from->start_ns < to->start_ns)
		to->start_ns = from->start_ns;
	if (from->end_ns > to->end_ns)
		to->end_ns = from->end_ns;
	to->blocked_ms += from->blocked_ms;
	to->longest_ms = fmax(to->longest_ms, from->longest_ms);
	to->measured &= from->measured;
	to->threads_add_up |= from->threads_add_up;
	to->goes_on |= from->goes_on;
	to->samples += from->samples;
}

void stall_add_victim(struct stall_event *stall, const struct stall_victim *victim)
{
	struct stall_victim *same = find(stall, victim);
	struct stall_victim next = *victim;
	size_t i;

	if (same) {
		join(same, victim);
		next = *same;
		/* Taken out, to be put back where it belongs now. */
		memmove(same, same + 1,
			(size_t)(&stall->victims[--stall->n_victims] - same) * sizeof(*same));
	} else {
		stall->all_victims++;
	}
	for (i = stall->n_victims; i > 0 && comes_before(&next, &stall->victims[i - 1]); i--) {
		if (i < STALL_LIST_MAX)
			stall->victims[i] = stall->victims[i - 1];
	}
	if (i == STALL_LIST_MAX)
		return;
	stall->victims[i] = next;
	stall->n_victims += stall->n_victims < STALL_LIST_MAX;
}

/* Who wrote most waits for its own, and so do the threads that write for others. */
static bool is_writer(const struct stall_event *stall, const struct stall_victim *victim)
{
	double most_kb = 0;

	if (!strncmp(victim->name, "kworker/", 8) || !strncmp(victim->name, "jbd2/", 5))
		return true;

	for (size_t i = 0; i < stall->n_victims; i++)
		most_kb = fmax(most_kb, stall->victims[i].wrote_kb);
	for (size_t i = 0; i < stall->n_writers; i++) {
		const struct stall_writer *w = &stall->writers[i];

		most_kb = fmax(most_kb, fmax(w->calls_kb[0] + w->calls_kb[1],
					     w->device_kb[0] + w->device_kb[1]));
	}
	return victim->wrote_kb >= 1024 && victim->wrote_kb >= most_kb / 2;
}

void stall_rank_victims(struct stall_event *stall)
{
	struct stall_victim ranked[STALL_LIST_MAX];
	size_t n = 0;

	for (int writers = 0; writers < 2; writers++) {
		for (size_t i = 0; i < stall->n_victims; i++) {
			if (is_writer(stall, &stall->victims[i]) == writers)
				ranked[n++] = stall->victims[i];
		}
	}
	memcpy(stall->victims, ranked, n * sizeof(ranked[0]));
}

static void begin_victim(const struct stall_process *process, uint64_t mono_ns,
			 struct stall_victim *ret)
{
	*ret = (struct stall_victim){
		.pid = process->key.pid,
		.start_ns = mono_ns,
		.tid = process->tid,
	};
	memcpy(ret->name, process->key.name, sizeof(ret->name));
	memcpy(ret->thread, process->thread, sizeof(ret->thread));
	memcpy(ret->wchan, process->wchan, sizeof(ret->wchan));
}

struct victims {
	struct stall_victim *items;
	size_t n;
};

static int add_sample(struct stall_history *history, struct victims *victims,
		      const struct stall_sample *sample)
{
	struct stall_process *process = sample->process;
	struct stall_victim *victim;

	if (process->in_sum != history->sums) {
		struct stall_victim *items = grow_list(victims->items, victims->n, sizeof(*items));

		if (!items)
			return -ENOMEM;
		victims->items = items;
		process->in_sum = history->sums;
		process->place = victims->n++;
		begin_victim(process, sample->mono_ns, &items[process->place]);
	}
	victim = &victims->items[process->place];
	victim->end_ns = sample->mono_ns;
	victim->samples += sample->is_d;
	if (sample->blkio_ms > 0) {
		uint64_t wait_ns = (uint64_t)fmin((double)sample->blkio_ms * NS_PER_MS, 1e18);

		victim->blocked_ms += (double)sample->blkio_ms;
		victim->longest_ms = fmax(victim->longest_ms, (double)sample->blkio_ms);
		if (sample->mono_ns - wait_ns < victim->start_ns)
			victim->start_ns =
				sample->mono_ns > wait_ns ? sample->mono_ns - wait_ns : 0;
	}
	return 0;
}

int stall_moment_victims(struct stall_history *history, struct stall_event *stall)
{
	_cleanup_free_ struct stall_victim *items = NULL;
	const struct stall_queue *samples = &history->samples;
	struct victims victims = {NULL};
	int r = 0;

	history->sums++;
	for (size_t i = stall_queue_find(samples, stall->start_ns); r == 0 && i < samples->n; i++) {
		const struct stall_sample *sample = stall_queue_at(samples, i);

		if (sample->mono_ns > stall->end_ns)
			break;
		if (!sample->process->is_other && (sample->is_d || sample->blkio_ms > 0))
			r = add_sample(history, &victims, sample);
	}
	items = victims.items;
	for (size_t i = 0; r == 0 && i < victims.n; i++) {
		struct stall_victim *victim = &items[i];
		double span_ms = (double)(victim->end_ns - victim->start_ns) / NS_PER_MS;

		victim->measured = victim->blocked_ms > 0;
		victim->threads_add_up = victim->blocked_ms > span_ms + 10;
		if (!victim->measured)
			victim->blocked_ms = victim->longest_ms = span_ms;
		stall_add_victim(stall, victim);
	}
	return r;
}
