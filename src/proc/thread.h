/* SPDX-License-Identifier: MIT */
/**
 * @file
 * One thread of somebody's process, as it is seen from one sample to the next.
 */
#ifndef BLKBOX_PROC_THREAD_H
#define BLKBOX_PROC_THREAD_H

#include "delay_switch.h"
#include "proc_file.h"
#include "task_stat.h"

struct thread {
	pid_t tid;
	int stat_fd;
	int runs_fd;
	struct task_stat stat;	/* as it was seen last */
	uint64_t runs;		/* times that it got a CPU; FIGURE_UNKNOWN: not told, or it runs */
	bool known;		/* @stat is there: what it has grown by can be told */
	bool stays;		/* while the list is renewed */
	uint64_t d_blkio_ticks; /* in this sample; FIGURE_UNKNOWN */
	uint64_t read_ns;	/* when @stat was read */
	uint64_t unread_ns;	/* of a wait that goes on: it may have lasted so long by then */
	uint64_t blocked_ns;	/* in D without a break, at least so long; kept by stall_alert */
	bool was_d;		/* in the sample before; likewise */
	bool faulted;		/* since the last sample it had major faults, or may have */
	bool was_cut;		/* the kernel told more than that, in this sample */
};

void thread_init(struct thread *thread, pid_t tid);
void thread_close(struct thread *thread, struct proc_files *files);

/**
 * What has become of it. Only if it has run since the last time, more than one small file is read:
 * nothing else can have changed.
 *
 * @is_new: it was made since the last sample of its process, so that its counter began at 0 then
 * @has_run: for sure
 * @mono_ns: of this sample
 * 1: it has run; 0: it has not; -ESRCH: it has gone; others: cannot be read
 */
int thread_read(struct thread *thread, struct proc_files *files, pid_t pid, bool is_new,
		bool has_run, const struct delay_switch *delay, uint64_t mono_ns);
/** It has not run, for sure: nothing has become of it. */
void thread_rest(struct thread *thread, const struct delay_switch *delay);

#endif
