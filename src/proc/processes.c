/* SPDX-License-Identifier: MIT */
#include "processes.h"

#include "clock.h"
#include "figure.h"

#include <fcntl.h>
#include <string.h>
#include <uthash.h>

enum {
	VANISHED_SAMPLES = 3, /* for how long a parent may be late to take over */
	LIST_INTERVAL_S = 10,
	PROBES_MAX = 100, /* new PIDs that are looked for one by one */
	SLEEPER_MS = 1000,
	SLEEPER_LOOK_MS = 350, /* every fourth tick of ten a second */
};

struct process_entry {
	struct thread_group process; /* first: processes_next() */
	UT_hash_handle hh;
};

int processes_init(struct processes *processes, struct proc_files *files, struct why *why)
{
	int fd = openat(files->proc_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	*processes = (struct processes){
		.files = files,
		.loadavg_fd = -1,
		.last_pid = FIGURE_UNKNOWN,
		.last_pid_before = FIGURE_UNKNOWN,
		.probed_from = FIGURE_UNKNOWN,
		.n_tasks = FIGURE_UNKNOWN,
	};
	processes->dir = fd < 0 ? NULL : fdopendir(fd);
	if (!processes->dir) {
		why_errno(why, -errno, "cannot list /proc");
		close_keep_errno(fd);
		return -errno;
	}
	return 0;
}

static void forget(struct processes *processes, struct process_entry *entry)
{
	thread_group_deinit(&entry->process, processes->files);
	HASH_DEL(processes->entries, entry);
	processes->n--;
	free(entry);
}

void processes_deinit(struct processes *processes)
{
	struct process_entry *entry, *next;

	HASH_ITER (hh, processes->entries, entry, next) {
		forget(processes, entry);
	}
	if (processes->dir)
		closedir(take_ptr(processes->dir));
	close_keep_errno(take_fd(&processes->loadavg_fd));
}

static int add(struct processes *processes, pid_t pid)
{
	struct process_entry *entry = malloc(sizeof(*entry));

	if (!entry || thread_group_init(&entry->process, pid) < 0) {
		free(entry);
		return -ENOMEM;
	}
	entry->process.listed = true;
	HASH_ADD_INT(processes->entries, process.pid, entry);
	processes->n++;
	return 0;
}

static void remember(struct processes *processes, const struct thread_group *process)
{
	struct vanished *vanished;

	if (!process->io_known)
		return;
	vanished = &processes->vanished[processes->next_vanished++ % VANISHED_MAX];
	*vanished = (struct vanished){
		.pid = process->pid,
		.parent = process->threads[0].stat.parent,
		.io = process->io,
		.sample = processes->sample,
	};
	processes->last_vanished = processes->sample;
	memcpy(vanished->name, thread_group_name(process), sizeof(vanished->name));
}

static int list(struct processes *processes)
{
	struct process_entry *entry, *next;
	struct dirent *file;

	HASH_ITER (hh, processes->entries, entry, next) {
		entry->process.listed = false;
	}
	rewinddir(processes->dir);
	while ((file = readdir(processes->dir))) {
		pid_t pid =
			file->d_name[0] >= '1' && file->d_name[0] <= '9' ? atoi(file->d_name) : 0;

		if (!pid)
			continue;
		HASH_FIND_INT(processes->entries, &pid, entry);
		if (entry)
			entry->process.listed = true;
		else if (add(processes, pid) < 0)
			return -ENOMEM;
	}
	HASH_ITER (hh, processes->entries, entry, next) {
		if (!entry->process.listed) {
			remember(processes, &entry->process);
			forget(processes, entry);
		}
	}
	return 0;
}

/* Who got one of these numbers, which were given since the last time? */
static int probe(struct processes *processes, uint64_t from, uint64_t to)
{
	struct process_entry *entry;

	for (pid_t pid = (pid_t)from; pid <= (pid_t)to; pid++) {
		if (!figure_known(proc_cpu_ns(processes->files, pid)))
			continue;
		HASH_FIND_INT(processes->entries, &pid, entry);
		if (!entry && add(processes, pid) < 0)
			return -ENOMEM;
	}
	return 0;
}

/*
 * "0.00 0.00 0.00 RUNNING/TASKS LAST_PID": how many there are, and who was made last. If both stay
 * the same, so does everybody.
 */
static void look_for_changes(struct processes *processes)
{
	uint64_t n_tasks = FIGURE_UNKNOWN, last_pid = FIGURE_UNKNOWN;
	char text[128];
	const char *at;

	if (proc_file_read(processes->files, &processes->loadavg_fd, "loadavg", text,
			   sizeof(text)) > 0 &&
	    (at = strchr(text, '/'))) {
		at++;
		n_tasks = proc_number(&at);
		last_pid = proc_number(&at);
	}
	processes->same_tasks = figure_known(n_tasks) && n_tasks == processes->n_tasks &&
				last_pid == processes->last_pid;
	processes->n_tasks = n_tasks;
	processes->last_pid_before = processes->last_pid;
	processes->last_pid = last_pid;
}

/*
 * Listing /proc costs more than all the rest. If the last PID that was given has moved on a little,
 * one can look there; also for those of the last sample, who may have had no more than a number by
 * then. Numbers that somebody chose by himself (CRIU) are found by the list.
 */
static int find_new(struct processes *processes, uint64_t mono_ns)
{
	uint64_t before = processes->last_pid_before, from = processes->probed_from;
	uint64_t now = processes->last_pid;

	processes->probed_from = before;
	if (figure_known(now) && figure_known(from) &&
	    mono_ns - processes->listed_ns < (uint64_t)LIST_INTERVAL_S * NS_PER_S) {
		if (now == from && now == before)
			return 0;
		if (processes->files->is_real && from <= before && before <= now &&
		    now - from <= PROBES_MAX)
			return probe(processes, from + 1, now);
	}
	processes->listed_ns = mono_ns;
	return list(processes);
}

/* Who has slept for a while, nobody asked for, and does not matter while no disk does anything. */
static bool may_sleep_on(const struct thread_group *process, uint64_t mono_ns)
{
	return process->rests && !process->label && !process->renamed &&
	       mono_ns - process->ran_ns >= (uint64_t)SLEEPER_MS * NS_PER_MS &&
	       thread_group_state(process) != 'D';
}

int processes_read(struct processes *processes, const struct delay_switch *delay, uint64_t mono_ns,
		   bool quiet)
{
	bool other_delay = delay->state != processes->delay.state ||
			   delay->on_ticks != processes->delay.on_ticks;
	struct process_entry *entry, *next;
	int r;

	processes->sample++;
	look_for_changes(processes);
	r = find_new(processes, mono_ns);
	quiet &= processes->same_tasks && !other_delay &&
		 mono_ns - processes->looked_ns < (uint64_t)SLEEPER_LOOK_MS * NS_PER_MS;
	if (!quiet)
		processes->looked_ns = mono_ns;
	processes->delay = *delay;
	HASH_ITER (hh, processes->entries, entry, next) {
		struct thread_group *process = &entry->process;
		bool was_denied = process->access == IO_DENIED;

		if (quiet && may_sleep_on(process, mono_ns))
			continue;
		process->rests &= !other_delay;
		if (thread_group_read(process, processes->files, delay, mono_ns) < 0) {
			remember(processes, process);
			forget(processes, entry);
			continue;
		}
		processes->denied += process->access == IO_DENIED && !was_denied;
	}
	return r;
}

struct thread_group *processes_next(const struct processes *processes,
				    const struct thread_group *after)
{
	struct process_entry *entry = processes->entries;

	if (after)
		entry = ((const struct process_entry *)after)->hh.next;
	return entry ? &entry->process : NULL;
}

/* Has the parent's growth these counters in it? */
static bool has_grown_by(const struct thread_group *parent, const struct io_counters *io)
{
	bool any = false;

	for (int i = 0; i < N_IO_COUNTERS; i++) {
		if (!figure_known(parent->delta[i]) || parent->delta[i] < io->value[i])
			return false;
		any |= i != IO_CANCELLED_WRITE_BYTES && io->value[i];
	}
	return any;
}

const struct vanished *processes_take_child(struct processes *processes,
					    struct thread_group *parent)
{
	if (processes->sample - processes->last_vanished > VANISHED_SAMPLES)
		return NULL;
	for (size_t i = 0; i < VANISHED_MAX; i++) {
		struct vanished *child = &processes->vanished[i];

		if (!child->sample || child->parent != parent->pid ||
		    processes->sample - child->sample > VANISHED_SAMPLES ||
		    !has_grown_by(parent, &child->io))
			continue;
		for (int k = 0; k < N_IO_COUNTERS; k++)
			parent->delta[k] -= child->io.value[k];
		child->sample = 0;
		return child;
	}
	return NULL;
}
