/* SPDX-License-Identifier: MIT */
#include "thread.h"

#include "clock.h"
#include "figure.h"

#include <errno.h>
#include <unistd.h>

enum {
	PATH_BYTES = 64,
};

void thread_init(struct thread *thread, pid_t tid)
{
	*thread = (struct thread){
		.tid = tid,
		.stat_fd = -1,
		.runs_fd = -1,
		.runs = FIGURE_UNKNOWN,
		.d_blkio_ticks = FIGURE_UNKNOWN,
		/* Who is in D by then may be for ever so long. */
		.unread_ns = UINT64_MAX,
	};
}

void thread_close(struct thread *thread, struct proc_files *files)
{
	proc_file_close(files, &thread->stat_fd);
	proc_file_close(files, &thread->runs_fd);
}

static int gone(int error)
{
	return error == -ENOENT ? -ESRCH : error;
}

/* "RUNTIME_NS WAIT_NS TIMES"; all 0 where the kernel does not count. */
static int read_runs(struct thread *thread, struct proc_files *files, pid_t pid, uint64_t *ret)
{
	char path[PATH_BYTES], text[96];
	const char *at = text;
	ssize_t n;
	uint64_t times;

	path[0] = '\0';
	if (thread->runs_fd < 0)
		snprintf(path, sizeof(path), "%d/task/%d/schedstat", pid, thread->tid);
	n = proc_file_read(files, &thread->runs_fd, path, text, sizeof(text));
	if (n == -ESRCH)
		return -ESRCH;
	*ret = FIGURE_UNKNOWN;
	if (n <= 0)
		return 0;
	proc_number(&at);
	proc_number(&at);
	times = proc_number(&at);
	if (times)
		*ret = times;
	return 0;
}

static bool is_measured(const struct task_stat *stat, const struct delay_switch *delay)
{
	return delay_switch_measures(delay, stat->start_ticks, stat->blkio_ticks);
}

/*
 * One cannot have waited for longer than since the last time, or since it began to wait before
 * that. Kernels since 6.12 tell more at times: where a fair task's dequeue is delayed, the wait's
 * start is set for the task that runs by then (__block_task()), and its own last wait's start is
 * taken.
 */
static void cut_wait(struct thread *thread, const struct task_stat *stat, uint64_t mono_ns)
{
	uint64_t tick_ns = NS_PER_S / (uint64_t)sysconf(_SC_CLK_TCK);
	uint64_t most_ns = thread->unread_ns, told_ns;

	if (thread->known && most_ns != UINT64_MAX)
		most_ns += mono_ns - thread->read_ns;
	/* The counter is in whole ticks, and is read a little later than the clock. */
	if (figure_known(thread->d_blkio_ticks) && most_ns != UINT64_MAX &&
	    thread->d_blkio_ticks > most_ns / tick_ns + 2) {
		thread->d_blkio_ticks = most_ns / tick_ns + 1;
		thread->was_cut = true;
	}
	told_ns = figure_known(thread->d_blkio_ticks) ? thread->d_blkio_ticks * tick_ns : 0;
	if (stat->state != 'D')
		thread->unread_ns = 0;
	else if (most_ns != UINT64_MAX)
		thread->unread_ns = most_ns > told_ns ? most_ns - told_ns : 0;
	thread->read_ns = mono_ns;
}

static void take_stat(struct thread *thread, const struct task_stat *stat, bool is_new,
		      const struct delay_switch *delay, uint64_t mono_ns)
{
	uint64_t before = is_new ? 0 : FIGURE_UNKNOWN;

	thread->was_cut = false;
	thread->faulted = !thread->known || thread->stat.start_ticks != stat->start_ticks ||
			  thread->stat.major_faults != stat->major_faults;
	if (thread->known && thread->stat.start_ticks == stat->start_ticks) {
		before = thread->stat.blkio_ticks;
	} else { /* another thread, perhaps of the same number */
		thread->unread_ns = UINT64_MAX;
		thread->blocked_ns = 0;
		thread->was_d = false;
	}
	thread->d_blkio_ticks =
		is_measured(stat, delay) ? figure_delta(stat->blkio_ticks, before) : FIGURE_UNKNOWN;
	cut_wait(thread, stat, mono_ns);
	thread->stat = *stat;
	thread->known = true;
}

void thread_rest(struct thread *thread, const struct delay_switch *delay)
{
	thread->d_blkio_ticks = is_measured(&thread->stat, delay) ? 0 : FIGURE_UNKNOWN;
	thread->was_cut = thread->faulted = false;
}

int thread_read(struct thread *thread, struct proc_files *files, pid_t pid, bool is_new,
		bool has_run, const struct delay_switch *delay, uint64_t mono_ns)
{
	char path[PATH_BYTES], text[1024];
	struct task_stat stat;
	uint64_t runs = FIGURE_UNKNOWN;
	ssize_t n;
	/* First, so that what it does from here on is seen the next time. */
	int r = has_run ? 0 : read_runs(thread, files, pid, &runs);

	if (r < 0)
		return r;
	if (thread->known && figure_known(runs) && runs == thread->runs) {
		thread_rest(thread, delay);
		return 0;
	}
	path[0] = '\0';
	if (thread->stat_fd < 0)
		snprintf(path, sizeof(path), "%d/task/%d/stat", pid, thread->tid);
	n = proc_file_read(files, &thread->stat_fd, path, text, sizeof(text));
	if (n < 0)
		return gone((int)n);
	r = task_stat_parse(text, (size_t)n, &stat);
	if (r < 0)
		return r;
	take_stat(thread, &stat, is_new, delay, mono_ns);
	/* One that runs goes on without being given a CPU anew. */
	thread->runs = stat.state == 'R' ? FIGURE_UNKNOWN : runs;
	return 1;
}
