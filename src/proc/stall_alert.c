/* SPDX-License-Identifier: MIT */
#include "stall_alert.h"

#include "clock.h"
#include "escape.h"
#include "figure.h"
#include "wait_channel.h"

#include <string.h>
#include <unistd.h>

enum {
	WRITERS = 3,
	LEAST_BYTES = 64 << 10, /* of a writer that is worth telling */
	NAME_ROOM = 4 * TASK_NAME_BYTES,
	TEXT_BYTES = 1024,
};

/* A sliding second, roughly: what is older fades. */
static void count_writes(struct thread_group *process, double interval_s)
{
	uint64_t bytes = process->delta[IO_WRITE_BYTES];

	process->recent_bytes *= interval_s < 1 ? 1 - interval_s : 0;
	if (figure_known(bytes))
		process->recent_bytes += (double)bytes;
}

/* What the kernel's counters of time are in. */
static uint64_t tick_ns(void)
{
	return NS_PER_S / (uint64_t)sysconf(_SC_CLK_TCK);
}

/* One cannot have waited in one go and have been in D at no sample, unless it is shorter. */
static bool fits_between_samples(uint64_t wait_ns, uint64_t interval_ns)
{
	return wait_ns + tick_ns() < interval_ns;
}

/*
 * How long, at least, the thread has been blocked without a break, or was when its wait ended
 * since the last sample. Many short waits are none that is long; but one that is made of pieces
 * (a writer that the kernel throttles sleeps for a while, looks, and sleeps again) is.
 */
static uint64_t blocked_ns(struct thread *thread, uint64_t interval_ns)
{
	bool is_d = thread->known && thread->stat.state == 'D', was_d = thread->was_d;
	uint64_t ticks = thread->d_blkio_ticks, longest_ns = thread->blocked_ns;
	uint64_t wait_ns = figure_known(ticks) ? ticks * tick_ns() : 0;
	bool goes_on = was_d && is_d && (!wait_ns || wait_ns * 2 >= interval_ns);

	thread->was_d = is_d;
	thread->blocked_ns = goes_on ? thread->blocked_ns + interval_ns : 0;
	if (goes_on)
		return thread->blocked_ns;
	if (was_d || fits_between_samples(wait_ns, interval_ns))
		longest_ns = wait_ns > longest_ns ? wait_ns : longest_ns;
	return longest_ns;
}

static void put_writers(const struct sampler *sampler, char *text, size_t size)
{
	const struct thread_group *best[WRITERS] = {NULL}, *process = NULL;
	size_t n = 0;

	while ((process = processes_next(&sampler->processes, process))) {
		const struct thread_group *other = process;

		for (int i = 0; i < WRITERS && other->recent_bytes >= LEAST_BYTES; i++) {
			const struct thread_group *moved = best[i];

			if (moved && moved->recent_bytes >= other->recent_bytes)
				continue;
			best[i] = other;
			if (!moved)
				break;
			other = moved;
		}
	}
	for (int i = 0; i < WRITERS && best[i] && n < size; i++) {
		char name[NAME_ROOM];

		escape_name(name, sizeof(name), thread_group_name(best[i]), TASK_NAME_BYTES);
		n += (size_t)snprintf(text + n, size - n, "%s %s (%d) %.1f MB", i ? "," : "", name,
				      best[i]->pid, best[i]->recent_bytes / 1e6);
	}
	if (!n)
		snprintf(text, size, " nobody");
}

static void tell(struct sampler *sampler, struct thread_group *process, const struct thread *thread,
		 uint64_t ns)
{
	const struct sampler_sink *sink = &sampler->options.sink;
	char name[NAME_ROOM], writers[TEXT_BYTES / 2], text[TEXT_BYTES], channel[TASK_NAME_BYTES];
	bool goes_on = thread->stat.state == 'D';

	escape_name(name, sizeof(name), process->label, TASK_NAME_BYTES);
	if (!goes_on || !stall_wait_channel(sampler->options.proc_fd, process->pid, thread->tid,
					    channel, sizeof(channel)))
		strcpy(channel, "?");
	/* Waits for its child to run a program. */
	if (goes_on && wait_channel_is_no_io(channel))
		return;
	put_writers(sampler, writers, sizeof(writers));
	snprintf(text, sizeof(text),
		 "%s (%d) %s blocked for %llu ms, thread %d%s%s; wrote most just now:%s", name,
		 process->pid, goes_on ? "has been" : "was", (unsigned long long)ns / NS_PER_MS,
		 thread->tid, goes_on ? " in " : "", goes_on ? channel : "", writers);
	sink->alert(sink->context, text);
	process->alerted = true;
}

static void look_at(struct sampler *sampler, struct thread_group *process)
{
	const struct thread *worst = NULL;
	uint64_t longest_ns = 0;
	bool is_d = false;

	for (size_t i = 0; i < process->n_threads; i++) {
		struct thread *thread = &process->threads[i];
		uint64_t ns = blocked_ns(thread, sampler->interval_ns);

		is_d |= thread->was_d;
		if (ns > longest_ns) {
			longest_ns = ns;
			worst = thread;
		}
	}
	if (worst && longest_ns >= sampler->options.alert_ns && !process->alerted && process->label)
		tell(sampler, process, worst, longest_ns);
	if (!is_d)
		process->alerted = false;
}

void stall_alert_look(struct sampler *sampler)
{
	struct thread_group *process = NULL;

	while ((process = processes_next(&sampler->processes, process)))
		count_writes(process, (double)sampler->interval_ns / NS_PER_S);
	while ((process = processes_next(&sampler->processes, process)))
		look_at(sampler, process);
}
