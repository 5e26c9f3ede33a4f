/* SPDX-License-Identifier: MIT */
#include "thread.h"

#include "figure.h"

#include <errno.h>

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

/* Tasks that were made while nobody counted have a 0 that says nothing. */
static bool is_measured(const struct task_stat *stat, const struct delay_switch *delay)
{
	if (delay->state == DELAY_OFF || !figure_known(stat->blkio_ticks))
		return false;
	return stat->blkio_ticks ||
	       (figure_known(delay->on_ticks) && stat->start_ticks > delay->on_ticks) ||
	       delay->on_ticks == 0;
}

static void take_stat(struct thread *thread, const struct task_stat *stat, bool is_new,
		      const struct delay_switch *delay)
{
	uint64_t before = is_new ? 0 : FIGURE_UNKNOWN;

	/* Another start: another thread, of the same number. */
	if (thread->known && thread->stat.start_ticks == stat->start_ticks)
		before = thread->stat.blkio_ticks;
	thread->d_blkio_ticks =
		is_measured(stat, delay) ? figure_delta(stat->blkio_ticks, before) : FIGURE_UNKNOWN;
	thread->stat = *stat;
	thread->known = true;
}

void thread_rest(struct thread *thread, const struct delay_switch *delay)
{
	thread->d_blkio_ticks = is_measured(&thread->stat, delay) ? 0 : FIGURE_UNKNOWN;
}

int thread_read(struct thread *thread, struct proc_files *files, pid_t pid, bool is_new,
		bool has_run, const struct delay_switch *delay)
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
	take_stat(thread, &stat, is_new, delay);
	/* One that runs goes on without being given a CPU anew. */
	thread->runs = stat.state == 'R' ? FIGURE_UNKNOWN : runs;
	return 1;
}
