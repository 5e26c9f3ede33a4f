/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Somebody's process, as it is seen from one sample to the next: all its threads together.
 */
#ifndef BLKBOX_PROC_THREAD_GROUP_H
#define BLKBOX_PROC_THREAD_GROUP_H

#include "io_counters.h"
#include "thread.h"

enum io_access {
	IO_NOT_READ,
	IO_READ,
	IO_DENIED, /* may not be read */
	IO_ABSENT, /* is not there, or not as it should be */
};

struct thread_group {
	pid_t pid;
	uint64_t start_ticks;
	uint64_t cpu_ns; /* of all threads; FIGURE_UNKNOWN: not told, or one of them runs */
	int io_fd;
	enum io_access access;
	bool known;	   /* there was a sample before this one */
	bool rests;	   /* nobody of it has run since the last sample: the deltas are 0 */
	uint64_t ran_ns;   /* when it was seen last that somebody had */
	bool io_known;	   /* the same of @io */
	bool renamed;	   /* since @label was found, or never looked */
	bool listed;	   /* while the list is renewed */
	const char *label; /* NULL: not watched; may point into @threads */
	struct io_counters io;
	uint64_t delta[N_IO_COUNTERS]; /* in this sample; FIGURE_UNKNOWN: not known */
	uint64_t d_blkio_ticks;	       /* of all threads; FIGURE_UNKNOWN */
	bool swapin_asked;
	uint64_t swapin_ns;	       /* since it began, as asked for last; FIGURE_UNKNOWN */
	uint64_t d_swapin_ns;	       /* in this sample; FIGURE_UNKNOWN */
	bool faulted;		       /* its threads had major faults, or may have had */
	bool was_cut;		       /* the kernel told longer waits than can have been */
	struct thread *threads;	       /* the first is the one that is called as the process */
	size_t n_threads, room_threads;
	bool threads_known;  /* the list was made once */
	bool alerted;	     /* of this stretch of being blocked */
	double recent_bytes; /* written in the last second or so */
};

/* -ENOMEM */
int thread_group_init(struct thread_group *process, pid_t pid);
void thread_group_deinit(struct thread_group *process, struct proc_files *files);

/**
 * Looks what has become of it. 0; -ESRCH: it has gone; -ENOMEM.
 * Another process of the same number is known by its start, and is begun with anew.
 */
int thread_group_read(struct thread_group *process, struct proc_files *files,
		      const struct delay_switch *delay, uint64_t mono_ns);

/** Its name: any bytes. */
static inline const char *thread_group_name(const struct thread_group *process)
{
	return process->threads[0].stat.name;
}

/** 'D' if any of its threads is in D; else the first thread's. */
char thread_group_state(const struct thread_group *process);
/** The thread that waited longest in this sample, or waits; else the first one. */
const struct thread *thread_group_worst_thread(const struct thread_group *process);

#endif
