/* SPDX-License-Identifier: MIT */
#include "crew.h"

#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>

int crew_init(struct crew *crew, const struct watch *watch, int keep_fd, struct why *why)
{
	void *shared = mmap(NULL, CREW_MAX * sizeof(struct worker_report), PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (shared == MAP_FAILED)
		return why_errno(why, -errno, "cannot share memory with workers");
	*crew = (struct crew){.watch = watch, .keep_fd = keep_fd, .reports = shared};
	return 0;
}

void crew_deinit(struct crew *crew)
{
	int status;

	if (!crew->reports)
		return;
	for (size_t i = 0; i < CREW_MAX; i++) {
		if (!crew->workers[i].pid)
			continue;
		kill(crew->workers[i].pid, SIGKILL);
		while (waitpid(crew->workers[i].pid, &status, 0) < 0 && errno == EINTR)
			;
		crew->workers[i].pid = 0;
	}
	munmap(crew->reports, CREW_MAX * sizeof(struct worker_report));
	crew->reports = NULL;
}

void worker_stop(void)
{
	raise(SIGSTOP);
}

int worker_failed(struct worker_report *report, int error, const char *what)
{
	snprintf(report->what, sizeof(report->what), "%s", what);
	return error;
}

int worker_refused(struct worker_report *report, int error, const char *what)
{
	report->refused = error;
	worker_failed(report, error, what);
	return 0;
}

int worker_failed_or_refused(struct worker_report *report, int error, const char *what)
{
	static const int refusals[] = {ENOSYS, EPERM, EACCES, EXDEV, EOPNOTSUPP, EINVAL};

	for (size_t i = 0; i < sizeof(refusals) / sizeof(refusals[0]); i++) {
		if (error == -refusals[i])
			return worker_refused(report, error, what);
	}
	return worker_failed(report, error, what);
}

void die_with_parent(pid_t parent)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	/* It may have died before. */
	if (getppid() != parent)
		_exit(1);
}

/* Nothing of the maker's is held open: neither its traces nor its outputs. */
static void keep_only(int keep_fd)
{
	if (keep_fd != WORKER_FD)
		dup2(keep_fd, WORKER_FD);
	close_range(WORKER_FD + 1, ~0u, 0);
}

static void work(const struct crew *crew, worker_action action, const void *context,
		 struct worker_report *report)
{
	prctl(PR_SET_NAME, "blkbox-worker");
	keep_only(crew->keep_fd);
	worker_stop();
	report->error = action(context, report);
	if (report->error < 0)
		_exit(1);
	worker_stop();
	_exit(0);
}

static int find_place(struct crew *crew)
{
	for (int i = 0; i < CREW_MAX; i++) {
		if (!crew->workers[i].pid)
			return i;
	}
	return -EAGAIN;
}

/* Why there is no stopped worker. */
static int explain_end(const struct worker_report *report, int status, struct why *why)
{
	if (WIFSIGNALED(status) && WTERMSIG(status) == SIGBUS)
		return why_set(why, -ENOSPC,
			       "a worker could not write to its mapping (SIGBUS): most likely the "
			       "file system is full");
	if (WIFSIGNALED(status))
		return why_set(why, -ECHILD, "a worker was killed by signal %d (%s)",
			       WTERMSIG(status), strsignal(WTERMSIG(status)));
	if (report->error < 0)
		return why_errno(why, report->error, "a worker %s", report->what);
	return why_set(why, -ECHILD, "a worker did not stop where it should");
}

static int await_stop(struct crew *crew, struct worker *worker, struct why *why)
{
	int status;
	int r = watch_child(crew->watch, worker->pid, WUNTRACED, &status, why);

	if (r < 0)
		return r;
	if (WIFSTOPPED(status) && WSTOPSIG(status) == SIGSTOP)
		return 0;
	if (WIFEXITED(status) || WIFSIGNALED(status))
		worker->pid = 0;
	return explain_end(worker->report, status, why);
}

int crew_hire(struct crew *crew, worker_action action, const void *context, struct worker **ret,
	      struct why *why)
{
	int place = find_place(crew);
	pid_t parent = getpid();
	struct worker *worker;
	int r;

	if (place < 0)
		return why_errno(why, place, "cannot start a worker");
	worker = &crew->workers[place];
	worker->report = &crew->reports[place];
	memset(worker->report, 0, sizeof(*worker->report));
	worker->pid = fork();
	if (worker->pid == 0) {
		die_with_parent(parent);
		work(crew, action, context, worker->report);
	}
	if (worker->pid < 0) {
		r = -errno;
		worker->pid = 0;
		return why_errno(why, r, "cannot start a worker");
	}
	r = await_stop(crew, worker, why);
	if (r < 0)
		return r;
	*ret = worker;
	return 0;
}

int crew_resume(struct crew *crew, struct worker *worker, struct why *why)
{
	kill(worker->pid, SIGCONT);
	return await_stop(crew, worker, why);
}

int crew_dismiss(struct crew *crew, struct worker *worker, struct why *why)
{
	int status, r;

	kill(worker->pid, SIGCONT);
	r = watch_child(crew->watch, worker->pid, 0, &status, why);
	if (r < 0)
		return r;
	worker->pid = 0;
	if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
		return 0;
	return explain_end(worker->report, status, why);
}
