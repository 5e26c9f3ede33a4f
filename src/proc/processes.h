/* SPDX-License-Identifier: MIT */
/**
 * @file
 * All processes of the machine, from one sample to the next.
 */
#ifndef BLKBOX_PROC_PROCESSES_H
#define BLKBOX_PROC_PROCESSES_H

#include "thread_group.h"

enum {
	VANISHED_MAX = 256,
};

/** What a process had counted when it was seen last, and whose child it was. */
struct vanished {
	pid_t pid, parent;
	char name[TASK_NAME_BYTES];
	struct io_counters io;
	uint64_t sample; /* in which it was missed; 0: none */
};

struct processes {
	struct proc_files *files; /* borrowed */
	DIR *dir;
	struct process_entry *entries; /* a hash table by PID */
	size_t n;
	int loadavg_fd;
	uint64_t last_pid; /* that was given to anybody; FIGURE_UNKNOWN */
	uint64_t listed_ns;
	uint64_t last_pid_before; /* a sample earlier */
	uint64_t probed_from;	  /* the one before those that were looked for then */
	uint64_t n_tasks;	  /* threads of the whole machine; FIGURE_UNKNOWN */
	bool same_tasks;	  /* nobody was made, and nobody has ended, since the last sample */
	uint64_t looked_ns;	  /* when the last one was that looked at everybody */
	struct delay_switch delay; /* as it was then */
	uint64_t sample;
	uint64_t denied;			/* processes whose counters may not be read */
	struct vanished vanished[VANISHED_MAX]; /* a ring: the last ones */
	size_t next_vanished;
	uint64_t last_vanished; /* sample in which somebody did */
};

/** -ENOMEM, or why /proc cannot be listed */
int processes_init(struct processes *processes, struct proc_files *files, struct why *why);
void processes_deinit(struct processes *processes);

/**
 * The next sample. 0 or -ENOMEM.
 * @quiet: no disk did anything since the last one, and nobody waited for any. Then those without a
 * label that have slept for a while are looked at now and then only.
 */
int processes_read(struct processes *processes, const struct delay_switch *delay, uint64_t mono_ns,
		   bool quiet);

/** The first process (@after NULL) or the next one; NULL: none. In no particular order. */
struct thread_group *processes_next(const struct processes *processes,
				    const struct thread_group *after);

/**
 * A child that has vanished lately, whose counters its parent took over in this sample: those of
 * the parent have grown by at least as much. They are taken from the parent's growth, for they were
 * told already. NULL: there is none.
 */
const struct vanished *processes_take_child(struct processes *processes,
					    struct thread_group *parent);

#endif
