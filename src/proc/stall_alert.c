/* SPDX-License-Identifier: MIT */
#include "stall_alert.h"

#include "clock.h"
#include "escape.h"
#include "figure.h"

#include <string.h>

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

/* In D, or, between two samples, for at least half of the time. */
static bool is_blocked(const struct thread_group *process, uint64_t interval_ns)
{
	struct stall_figures figures;

	if (thread_group_state(process) == 'D')
		return true;
	stall_figures_of(process, &figures);
	return figure_known(figures.blkio_ms) && figures.blkio_ms * NS_PER_MS * 2 >= interval_ns;
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

static void tell(struct sampler *sampler, struct thread_group *process)
{
	const struct sampler_sink *sink = &sampler->options.sink;
	const struct thread *worst = thread_group_worst_thread(process);
	char name[NAME_ROOM], writers[TEXT_BYTES / 2], text[TEXT_BYTES], channel[TASK_NAME_BYTES];

	escape_name(name, sizeof(name), process->label, TASK_NAME_BYTES);
	if (worst->stat.state != 'D' || !stall_wait_channel(sampler->options.proc_fd, process->pid,
							    worst->tid, channel, sizeof(channel)))
		strcpy(channel, "?");
	put_writers(sampler, writers, sizeof(writers));
	snprintf(text, sizeof(text),
		 "%s (%d) has been blocked for %llu ms, thread %d in %s; wrote most just now:%s",
		 name, process->pid, (unsigned long long)process->blocked_ns / NS_PER_MS,
		 worst->tid, channel, writers);
	sink->alert(sink->context, text);
}

void stall_alert_look(struct sampler *sampler)
{
	struct thread_group *process = NULL;

	while ((process = processes_next(&sampler->processes, process)))
		count_writes(process, (double)sampler->interval_ns / NS_PER_S);
	while ((process = processes_next(&sampler->processes, process))) {
		if (!process->label)
			continue;
		if (!is_blocked(process, sampler->interval_ns)) {
			process->blocked_ns = 0;
			process->alerted = false;
			continue;
		}
		process->blocked_ns += sampler->interval_ns;
		if (process->blocked_ns >= sampler->options.alert_ns && !process->alerted) {
			tell(sampler, process);
			process->alerted = true;
		}
	}
}
