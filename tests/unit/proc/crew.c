/* SPDX-License-Identifier: MIT */
#include "crew.h"

#include "clock.h"
#include "scratch.h"

#include <criterion/criterion.h>
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>

enum {
	LIMIT_S = 20,
	TRIES = 500,
	PAUSE_US = 10000
};

static struct watch watch;
static struct crew crew;
static struct why why;

static void init(void)
{
	cr_assert_eq(watch_init(&watch, (uint64_t)LIMIT_S * NS_PER_S, &why), 0);
	cr_assert_eq(crew_init(&crew, &watch, STDERR_FILENO, &why), 0);
}

static void deinit(void)
{
	crew_deinit(&crew);
	watch_deinit(&watch);
}

TestSuite(crew, .init = init, .fini = deinit);

static int act(const void *context, struct worker_report *report)
{
	report->value[0] = *(const int *)context;
	worker_stop();
	report->value[0]++;
	return 0;
}

static int fail(const void *context, struct worker_report *report)
{
	(void)context;
	return worker_failed(report, -ENOSPC, "cannot write its file");
}

static int die(const void *context, struct worker_report *report)
{
	(void)context;
	(void)report;
	return kill(getpid(), SIGKILL);
}

static int hang(const void *context, struct worker_report *report)
{
	(void)context;
	(void)report;
	while (pause() < 0)
		;
	return 0;
}

Test(crew, a_worker_stops_before_and_after_its_action)
{
	struct worker *worker;
	int value = 41;

	cr_assert_eq(crew_hire(&crew, act, &value, &worker, &why), 0, "%s", why.text);
	cr_expect_eq(worker->report->value[0], 0);
	cr_assert_eq(crew_resume(&crew, worker, &why), 0, "%s", why.text);
	cr_expect_eq(worker->report->value[0], 41);
	cr_assert_eq(crew_resume(&crew, worker, &why), 0, "%s", why.text);
	cr_expect_eq(worker->report->value[0], 42);
	cr_assert_eq(crew_dismiss(&crew, worker, &why), 0, "%s", why.text);
	cr_expect_eq(waitpid(-1, NULL, WNOHANG), -1);
}

Test(crew, a_failure_comes_with_its_words)
{
	struct worker *worker;

	cr_assert_eq(crew_hire(&crew, fail, NULL, &worker, &why), 0);
	cr_assert_eq(crew_resume(&crew, worker, &why), -ENOSPC);
	cr_expect_str_eq(why.text, "a worker cannot write its file: No space left on device");
}

Test(crew, a_killed_worker_is_told_of)
{
	struct worker *worker;

	cr_assert_eq(crew_hire(&crew, die, NULL, &worker, &why), 0);
	cr_assert_lt(crew_resume(&crew, worker, &why), 0);
	cr_expect(strstr(why.text, "signal 9"), "%s", why.text);
}

Test(crew, a_signal_ends_the_waiting)
{
	struct worker *worker;

	cr_assert_eq(crew_hire(&crew, hang, NULL, &worker, &why), 0);
	kill(getpid(), SIGTERM);
	cr_expect_eq(crew_resume(&crew, worker, &why), -EINTR);
	cr_expect(strstr(why.text, "signal 15"), "%s", why.text);
}

Test(crew, time_ends_the_waiting)
{
	struct worker *worker;

	watch_deinit(&watch);
	cr_assert_eq(watch_init(&watch, 200 * NS_PER_MS, &why), 0);
	cr_assert_eq(crew_hire(&crew, hang, NULL, &worker, &why), 0);
	cr_expect_eq(crew_resume(&crew, worker, &why), -ETIME);
	cr_expect(strstr(why.text, "0.2 seconds"), "%s", why.text);
}

/* Stopped, running, and all of them when the maker is killed. */
Test(crew, workers_die_with_their_maker)
{
	int ends[2];
	pid_t pid, workers[2];

	cr_assert_eq(pipe(ends), 0);
	pid = fork();
	if (pid == 0) {
		struct worker *stopped, *running;

		crew_hire(&crew, hang, NULL, &stopped, &why);
		crew_hire(&crew, hang, NULL, &running, &why);
		kill(running->pid, SIGCONT);
		workers[0] = stopped->pid;
		workers[1] = running->pid;
		if (write(ends[1], workers, sizeof(workers)) != sizeof(workers))
			_exit(1);
		pause();
	}
	cr_assert_eq(read(ends[0], workers, sizeof(workers)), sizeof(workers));
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	for (int i = 0; i < 2; i++) {
		char path[64], state[256] = "";
		int tries = 0;

		snprintf(path, sizeof(path), "/proc/%d/stat", workers[i]);
		for (; tries < TRIES; tries++) {
			int fd = open(path, O_RDONLY);
			ssize_t n = fd < 0 ? 0 : read(fd, state, sizeof(state) - 1);

			close_keep_errno(fd);
			/* Nobody may reap it here: a zombie is dead enough. */
			if (n <= 0 || strstr(state, ") Z "))
				break;
			usleep(PAUSE_US);
		}
		cr_expect_lt(tries, TRIES, "worker %d lives: %s", i, state);
	}
}

static bool is_empty(const char *path)
{
	_cleanup_closedir_ DIR *dir = opendir(path);
	struct dirent *entry;
	int n = 0;

	while ((entry = readdir(dir)))
		n++;
	return n == 2;
}

Test(scratch, is_removed_with_what_is_in_it)
{
	char parent[] = "/tmp/blkbox-scratch-XXXXXX";
	struct scratch scratch;

	cr_assert_not_null(mkdtemp(parent));
	cr_assert_eq(scratch_create(&scratch, parent, NULL, &why), 0, "%s", why.text);
	cr_expect(!is_empty(parent));
	close(openat(scratch.fd, "file", O_CREAT | O_WRONLY, 0600));
	scratch_destroy(&scratch);
	cr_expect(is_empty(parent));
	rmdir(parent);
}

Test(scratch, is_removed_when_its_maker_is_killed)
{
	char parent[] = "/tmp/blkbox-scratch-XXXXXX";
	int tries = 0;
	pid_t pid;

	cr_assert_not_null(mkdtemp(parent));
	pid = fork();
	if (pid == 0) {
		struct scratch scratch;

		scratch_create(&scratch, parent, NULL, &why);
		close(openat(scratch.fd, "file", O_CREAT | O_WRONLY, 0600));
		kill(getpid(), SIGKILL);
	}
	waitpid(pid, NULL, 0);
	while (!is_empty(parent) && tries++ < TRIES)
		usleep(PAUSE_US);
	cr_expect(is_empty(parent));
	rmdir(parent);
}

Test(scratch, a_directory_that_cannot_be_had_is_named)
{
	struct scratch scratch;

	cr_expect_eq(scratch_create(&scratch, "/nonexistent/dir", NULL, &why), -ENOENT);
	cr_expect(strstr(why.text, "/nonexistent/dir"), "%s", why.text);
	cr_expect_eq(scratch_create(&scratch, "/dev/null", NULL, &why), -ENOTDIR);
	scratch_destroy(&scratch);
}
