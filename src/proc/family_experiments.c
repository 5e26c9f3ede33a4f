/* SPDX-License-Identifier: MIT */
/*
 * Whose account it is: of who unlinks, of a parent who waits, of a thread.
 */
#include "pair.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>

static const char file_name[] = "file";

/* report->value */
enum {
	VALUE_ID, /* of the child process, or of the second thread */
	VALUE_ERROR,
};

static int write_file(const void *context, struct worker_report *report)
{
	return worker_write_file(context, report, file_name, O_WRONLY, false);
}

static int unlink_file(const void *context, struct worker_report *report)
{
	(void)context;
	if (unlinkat(WORKER_FD, file_name, 0) < 0)
		return worker_failed(report, -errno, "cannot unlink its file");
	return 0;
}

static int run_unlink(const struct bench *bench, struct observation *observation, struct why *why)
{
	struct pair pair = {.remover_role = "unlinker"};
	struct io_counters later;
	int r = bench_make_empty(bench, file_name, why);

	if (r == 0)
		r = pair_act(bench, observation, write_file, unlink_file, &pair, why);
	if (r == 0)
		r = pair_writer_later(bench, &pair, &later, why);
	if (r == 0)
		r = pair_dismiss(bench, &pair, why);
	if (r < 0)
		return r;
	pair_publish(observation, &pair);
	observe_counters(observation, "writer_after_unlink", &later);
	pair_expect(bench, observation, &pair, false);
	return 0;
}

/* Stops with a dead child that nobody has waited for, and again when it has been waited for. */
static int write_by_child(const void *context, struct worker_report *report)
{
	pid_t parent = getpid(), child = fork();
	siginfo_t info;

	if (child < 0)
		return worker_failed_or_refused(report, -errno, "cannot start a child");
	if (child == 0) {
		die_with_parent(parent);
		report->value[VALUE_ERROR] = write_file(context, report);
		_exit(0);
	}
	report->value[VALUE_ID] = child;
	if (waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT) < 0)
		return worker_failed(report, -errno, "cannot watch its child");
	worker_stop();
	if (report->value[VALUE_ERROR])
		return (int)report->value[VALUE_ERROR];
	if (waitpid(child, NULL, 0) != child)
		return worker_failed(report, -errno, "cannot wait for its child");
	return 0;
}

static void expect_of_family(const struct bench *bench, struct observation *observation,
			     const struct io_counters *child, const struct member *before_wait,
			     const struct member *after_wait)
{
	uint64_t size = bench->payload_bytes;
	struct expected_calls none = {0}, all = {.wchar = size, .syscw = 1};

	expect_calls(observation, "child", child, all);
	expect_calls(observation, "parent before it waits", &before_wait->delta, none);
	expect_calls(observation, "parent after it has waited", &after_wait->delta, all);
	expect_counter(observation, "parent before it waits", &before_wait->delta, IO_WRITE_BYTES,
		       EXPECT_EQUAL, 0);
	expect_counter(observation, "parent after it has waited", &after_wait->delta,
		       IO_WRITE_BYTES, EXPECT_EQUAL, child->value[IO_WRITE_BYTES]);
}

/*
 * The child is dead, but not waited for: newer kernels show its counters only to who may trace
 * every process. 1: so it is here, and the experiment is skipped; 0: read.
 */
static int read_child(const struct bench *bench, struct observation *observation, pid_t child,
		      struct io_counters *ret, struct why *why)
{
	int r;

	observe_task(observation, child, "child");
	r = io_counters_read(bench->proc_fd, child, 0, ret, why);
	if (r != -EACCES && r != -EPERM)
		return r;
	observation_skip(observation,
			 "the kernel does not show the accounting of a child that has ended to an "
			 "ordinary user (%s)",
			 strerror(-r));
	return 1;
}

static void publish_family(const struct bench *bench, struct observation *observation,
			   const struct io_counters *child, const struct member *before_wait,
			   const struct member *after_wait)
{
	observe_counters(observation, "child_at_its_end", child);
	observe_measure(observation, "parent_before_wait", &before_wait->before,
			&before_wait->after, &before_wait->delta);
	observe_measure(observation, "parent_after_wait", &after_wait->before, &after_wait->after,
			&after_wait->delta);
	observe_total(observation, &after_wait->delta);
	expect_of_family(bench, observation, child, before_wait, after_wait);
}

static int run_child(const struct bench *bench, struct observation *observation, struct why *why)
{
	struct member before_wait, after_wait;
	struct io_counters child;
	int hidden, r = bench_make_empty(bench, file_name, why);

	if (r == 0)
		r = bench_hire(bench, observation, "parent", write_by_child, &before_wait, why);
	if (r == 0)
		r = bench_begin(bench, observation, why);
	if (r == 0)
		r = bench_act(bench, &before_wait, why);
	if (r == 0 && bench_is_refused(bench, observation, &before_wait))
		return crew_dismiss(bench->crew, before_wait.worker, why);
	if (r < 0)
		return r;
	hidden = read_child(bench, observation, (pid_t)before_wait.worker->report->value[VALUE_ID],
			    &child, why);
	if (hidden < 0)
		return hidden;
	after_wait = before_wait;
	r = bench_act(bench, &after_wait, why);
	if (r == 0)
		r = crew_dismiss(bench->crew, after_wait.worker, why);
	if (r == 0 && !hidden)
		publish_family(bench, observation, &child, &before_wait, &after_wait);
	return r;
}

/* What the second thread gets. */
struct thread_work {
	const struct bench *bench;
	struct worker_report *report;
	pthread_barrier_t done, leave;
};

static void *write_in_thread(void *argument)
{
	struct thread_work *work = argument;

	work->report->value[VALUE_ID] = gettid();
	work->report->value[VALUE_ERROR] = write_file(work->bench, work->report);
	pthread_barrier_wait(&work->done);
	pthread_barrier_wait(&work->leave);
	return NULL;
}

/* Stops while the second thread is there, and again when it has gone. */
static int write_by_thread(const void *context, struct worker_report *report)
{
	struct thread_work work = {.bench = context, .report = report};
	pthread_t thread;
	int r;

	pthread_barrier_init(&work.done, NULL, 2);
	pthread_barrier_init(&work.leave, NULL, 2);
	r = pthread_create(&thread, NULL, write_in_thread, &work);
	if (r)
		return worker_failed_or_refused(report, -r, "cannot start a thread");
	pthread_barrier_wait(&work.done);
	worker_stop();
	pthread_barrier_wait(&work.leave);
	pthread_join(thread, NULL);
	return (int)report->value[VALUE_ERROR];
}

static void expect_of_threads(const struct bench *bench, struct observation *observation,
			      const struct io_counters threads[2], const struct member *process,
			      const struct member *later)
{
	uint64_t size = bench->payload_bytes;
	struct expected_calls none = {0}, all = {.wchar = size, .syscw = 1};

	expect_calls(observation, "process", &process->delta, all);
	expect_calls(observation, "first thread", &threads[0], none);
	expect_calls(observation, "second thread", &threads[1], all);
	expect_counter(observation, "process", &process->delta, IO_WRITE_BYTES, EXPECT_EQUAL,
		       threads[0].value[IO_WRITE_BYTES] + threads[1].value[IO_WRITE_BYTES]);
	expect_calls(observation, "process without the thread", &later->delta, all);
}

static int read_threads(const struct bench *bench, const struct member *process,
			struct io_counters ret[2], struct why *why)
{
	pid_t pid = process->worker->pid;
	pid_t second = (pid_t)process->worker->report->value[VALUE_ID];
	int r = io_counters_read(bench->proc_fd, pid, pid, &ret[0], why);

	return r < 0 ? r : io_counters_read(bench->proc_fd, pid, second, &ret[1], why);
}

static int run_thread(const struct bench *bench, struct observation *observation, struct why *why)
{
	struct io_counters threads[2];
	struct member process, later;
	int r = bench_make_empty(bench, file_name, why);

	if (r == 0)
		r = bench_hire(bench, observation, "first thread", write_by_thread, &process, why);
	if (r == 0)
		r = bench_begin(bench, observation, why);
	if (r == 0)
		r = bench_act(bench, &process, why);
	if (r == 0 && bench_is_refused(bench, observation, &process))
		return crew_dismiss(bench->crew, process.worker, why);
	if (r == 0)
		r = read_threads(bench, &process, threads, why);
	if (r < 0)
		return r;
	observe_task(observation, (pid_t)process.worker->report->value[VALUE_ID], "second thread");
	later = process;
	r = bench_act(bench, &later, why);
	if (r == 0)
		r = crew_dismiss(bench->crew, later.worker, why);
	if (r < 0)
		return r;
	observe_measure(observation, "process", &process.before, &process.after, &process.delta);
	observe_counters(observation, "first_thread", &threads[0]);
	observe_counters(observation, "second_thread", &threads[1]);
	observe_measure(observation, "process_after_thread_exit", &later.before, &later.after,
			&later.delta);
	observe_total(observation, &later.delta);
	expect_of_threads(bench, observation, threads, &process, &later);
	return 0;
}

const struct experiment family_experiments[3] = {
	{"unlink_before_writeback",
	 "write_bytes is the writer's, though nothing is ever written; "
	 "cancelled_write_bytes is that of who unlinks",
	 run_unlink},
	{"child_and_parent",
	 "a child's counters become its parent's when it is waited for, once, "
	 "and not before: a sum over both at both moments counts them twice",
	 run_child},
	{"second_thread",
	 "a process's counters are those of its threads, also of those that have "
	 "ended",
	 run_thread},
};
