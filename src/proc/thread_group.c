/* SPDX-License-Identifier: MIT */
#include "thread_group.h"

#include "figure.h"

#include <fcntl.h>
#include <string.h>

enum {
	PATH_BYTES = 64,
};

int thread_group_init(struct thread_group *process, pid_t pid)
{
	*process = (struct thread_group){
		.pid = pid,
		.cpu_ns = FIGURE_UNKNOWN,
		.swapin_ns = FIGURE_UNKNOWN,
		.d_swapin_ns = FIGURE_UNKNOWN,
		.io_fd = -1,
		.threads = malloc(sizeof(struct thread)),
		.n_threads = 1,
		.room_threads = 1,
		.renamed = true,
	};
	if (!process->threads)
		return -ENOMEM;
	thread_init(&process->threads[0], pid);
	return 0;
}

void thread_group_deinit(struct thread_group *process, struct proc_files *files)
{
	for (size_t i = 0; i < process->n_threads && process->threads; i++)
		thread_close(&process->threads[i], files);
	proc_file_close(files, &process->io_fd);
	free(take_ptr(process->threads));
	process->n_threads = 0;
}

static int add_thread(struct thread_group *process, pid_t tid)
{
	struct thread *threads = process->threads;

	if (process->n_threads == process->room_threads) {
		threads = reallocarray(threads, 2 * process->room_threads, sizeof(*threads));
		if (!threads)
			return -ENOMEM;
		process->threads = threads;
		process->room_threads *= 2;
		process->renamed = true; /* its label may be a name that has moved */
	}
	thread_init(&threads[process->n_threads], tid);
	threads[process->n_threads++].stays = true;
	return 0;
}

static int keep_or_add(struct thread_group *process, pid_t tid)
{
	for (size_t i = 0; i < process->n_threads; i++) {
		if (process->threads[i].tid == tid) {
			process->threads[i].stays = true;
			return 0;
		}
	}
	return add_thread(process, tid);
}

/* Returns how many of the first @had are left: they stay in front. */
static size_t drop_threads(struct thread_group *process, struct proc_files *files, size_t had)
{
	size_t n = 1, left = 1;

	for (size_t i = 1; i < process->n_threads; i++) {
		if (!process->threads[i].stays) {
			thread_close(&process->threads[i], files);
			continue;
		}
		left += i < had;
		process->threads[n++] = process->threads[i];
	}
	process->n_threads = n;
	return left;
}

/* Which threads it has now. *@ret_new: the first one that it had not before. */
static int list_threads(struct thread_group *process, struct proc_files *files, size_t *ret_new)
{
	size_t had = process->n_threads;
	_cleanup_closedir_ DIR *dir = NULL;
	_cleanup_close_ int fd = -1;
	char path[PATH_BYTES];
	struct dirent *entry;
	int r = 0;

	snprintf(path, sizeof(path), "%d/task", process->pid);
	fd = openat(files->proc_fd, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return errno == ENOENT ? -ESRCH : -errno;
	dir = fdopendir(fd);
	if (!dir)
		return -errno;
	take_fd(&fd);
	for (size_t i = 0; i < process->n_threads; i++)
		process->threads[i].stays = false;
	while (r == 0 && (entry = readdir(dir))) {
		int tid = atoi(entry->d_name);

		if (tid > 0)
			r = keep_or_add(process, tid);
	}
	*ret_new = drop_threads(process, files, had);
	return r;
}

/* One of the same number, or begun with for the first time: nothing is known of it. */
static void begin_anew(struct thread_group *process)
{
	process->known = process->io_known = process->alerted = false;
	process->access = IO_NOT_READ;
	process->recent_bytes = 0;
	process->swapin_ns = FIGURE_UNKNOWN;
	process->swapin_asked = false;
	process->threads_known = false;
	process->renamed = true;
}

/*
 * All threads that are in the list. *@ret_ran: one of them has run; *@ret_stale: some have gone.
 * -ESRCH: all of it.
 */
static int read_threads(struct thread_group *process, struct proc_files *files,
			const struct delay_switch *delay, size_t from, uint64_t mono_ns,
			bool *ret_ran, bool *ret_stale)
{
	for (size_t i = from; i < process->n_threads; i++) {
		struct thread *thread = &process->threads[i];
		bool is_new = process->known && process->threads_known && !thread->known;
		char name[TASK_NAME_BYTES];
		bool alone;
		int r;

		memcpy(name, thread->stat.name, sizeof(name));
		/* A single one has run, if any has. */
		alone = process->n_threads == 1 && files->is_real;
		r = thread_read(thread, files, process->pid, is_new, alone, delay, mono_ns);
		if (r == -ESRCH && i == 0)
			return -ESRCH;
		if (r < 0) {
			*ret_stale = true;
			thread->known = false;
			thread->d_blkio_ticks = FIGURE_UNKNOWN;
			continue;
		}
		*ret_ran |= r > 0;
		if (i)
			continue;
		if (thread->stat.start_ticks != process->start_ticks) {
			process->start_ticks = thread->stat.start_ticks;
			begin_anew(process);
		}
		process->renamed |= memcmp(name, thread->stat.name, sizeof(name)) != 0;
	}
	return 0;
}

static void set_deltas(struct thread_group *process, const struct io_counters *io)
{
	for (int i = 0; i < N_IO_COUNTERS; i++)
		process->delta[i] = process->io_known
					    ? figure_delta(io->value[i], process->io.value[i])
					    : FIGURE_UNKNOWN;
	process->io = *io;
	process->io_known = true;
}

static void no_io(struct thread_group *process, enum io_access access)
{
	for (int i = 0; i < N_IO_COUNTERS; i++)
		process->delta[i] = FIGURE_UNKNOWN;
	process->access = access;
	process->io_known = false;
}

static int read_io(struct thread_group *process, struct proc_files *files)
{
	char path[PATH_BYTES], text[512];
	struct io_counters io;
	ssize_t n;

	path[0] = '\0';
	if (process->io_fd < 0)
		snprintf(path, sizeof(path), "%d/io", process->pid);
	n = proc_file_read(files, &process->io_fd, path, text, sizeof(text));
	if (n == -ESRCH)
		return -ESRCH;
	if (n == -EACCES || n == -EPERM) {
		no_io(process, IO_DENIED);
		return 0;
	}
	if (n < 0 || io_counters_parse(text, &io, NULL) < 0) {
		no_io(process, IO_ABSENT);
		return 0;
	}
	set_deltas(process, &io);
	process->access = IO_READ;
	return 0;
}

static void sum_threads(struct thread_group *process)
{
	uint64_t sum = FIGURE_UNKNOWN;
	bool unknown = false;

	process->was_cut = process->faulted = false;
	for (size_t i = 0; i < process->n_threads; i++) {
		uint64_t ticks = process->threads[i].d_blkio_ticks;

		unknown |= !figure_known(ticks);
		process->was_cut |= process->threads[i].was_cut;
		process->faulted |= process->threads[i].faulted;
		sum = figure_sum(sum, ticks);
	}
	/* Nothing, as far as one knows: that is no 0. */
	process->d_blkio_ticks = unknown && sum == 0 ? FIGURE_UNKNOWN : sum;
}

/* Its list of threads is not what it was: makes it anew, and reads those that are new. */
static int renew_threads(struct thread_group *process, struct proc_files *files,
			 const struct delay_switch *delay, uint64_t mono_ns, bool *ret_ran)
{
	size_t first_new = process->n_threads;
	bool ignored;
	int r = 0;

	/* A process of one thread needs no list. */
	if (process->n_threads > 1 || process->threads[0].stat.threads > 1) {
		r = list_threads(process, files, &first_new);
		if (r == 0)
			r = read_threads(process, files, delay, first_new, mono_ns, ret_ran,
					 &ignored);
	}
	process->threads_known = true;
	return r;
}

static bool is_running(const struct thread_group *process)
{
	for (size_t i = 0; i < process->n_threads; i++) {
		if (process->threads[i].stat.state == 'R')
			return true;
	}
	return false;
}

/* Nobody of it had a CPU: nothing has changed. */
static void nothing_new(struct thread_group *process, const struct delay_switch *delay)
{
	for (size_t i = 0; i < process->n_threads; i++)
		thread_rest(&process->threads[i], delay);
	for (int i = 0; i < N_IO_COUNTERS; i++)
		process->delta[i] = process->io_known ? 0 : FIGURE_UNKNOWN;
	sum_threads(process);
}

static int read_anew(struct thread_group *process, struct proc_files *files,
		     const struct delay_switch *delay, uint64_t mono_ns)
{
	bool ran = false, stale = false;
	int r = read_threads(process, files, delay, 0, mono_ns, &ran, &stale);

	if (r == 0 && (stale || !process->threads_known ||
		       process->threads[0].stat.threads != process->n_threads))
		r = renew_threads(process, files, delay, mono_ns, &ran);
	if (r < 0)
		return r;
	if (ran || process->access == IO_NOT_READ)
		return read_io(process, files);
	for (int i = 0; i < N_IO_COUNTERS; i++)
		process->delta[i] = process->io_known ? 0 : FIGURE_UNKNOWN;
	return 0;
}

int thread_group_read(struct thread_group *process, struct proc_files *files,
		      const struct delay_switch *delay, uint64_t mono_ns)
{
	/* First, so that what they do from here on is seen the next time. */
	uint64_t cpu_ns = proc_cpu_ns(files, process->pid);
	int r;

	process->known = process->access != IO_NOT_READ;
	if (process->known && figure_known(cpu_ns) && cpu_ns == process->cpu_ns) {
		if (!process->rests)
			nothing_new(process, delay);
		process->rests = true;
		return 0;
	}
	process->rests = false;
	process->ran_ns = mono_ns;
	r = read_anew(process, files, delay, mono_ns);
	if (r < 0)
		return r;
	/* The time of one that runs is brought up to date now and then. */
	process->cpu_ns = is_running(process) ? FIGURE_UNKNOWN : cpu_ns;
	sum_threads(process);
	return 0;
}

char thread_group_state(const struct thread_group *process)
{
	for (size_t i = 0; i < process->n_threads; i++) {
		if (process->threads[i].known && process->threads[i].stat.state == 'D')
			return 'D';
	}
	return process->threads[0].stat.state;
}

static bool is_worse(const struct thread *a, const struct thread *b)
{
	uint64_t ticks_a = figure_known(a->d_blkio_ticks) ? a->d_blkio_ticks : 0;
	uint64_t ticks_b = figure_known(b->d_blkio_ticks) ? b->d_blkio_ticks : 0;

	if (ticks_a != ticks_b)
		return ticks_a > ticks_b;
	return a->known && a->stat.state == 'D' && b->stat.state != 'D';
}

const struct thread *thread_group_worst_thread(const struct thread_group *process)
{
	const struct thread *worst = &process->threads[0];

	for (size_t i = 1; i < process->n_threads; i++) {
		if (is_worse(&process->threads[i], worst))
			worst = &process->threads[i];
	}
	return worst;
}
