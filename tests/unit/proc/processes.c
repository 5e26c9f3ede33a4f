/* SPDX-License-Identifier: MIT */
/* Processes of this very machine: who is looked at while nothing seems to happen. */
#include "processes.h"

#include "clock.h"
#include "figure.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>

enum {
	WRITTEN = 10000,
	TICK_MS = 100,
	SLEEPER_TICKS = 20, /* until it counts as a sleeper for sure */
	LATE_TICKS = 4,	    /* until it is looked at, whatever happens */
};

static struct proc_files files;
static struct processes processes;
static const struct delay_switch delay = {.state = DELAY_OFF, .on_ticks = FIGURE_UNKNOWN};
static uint64_t now_ns = 1000 * (uint64_t)NS_PER_S;
static pid_t child;
static int order[2];
static int proc_fd;

/* Writes to nowhere, when it is told to. */
static void be_child(void)
{
	static const char data[WRITTEN];
	int nowhere = open("/dev/null", O_WRONLY);
	char byte;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	while (read(order[0], &byte, 1) == 1)
		byte = (char)write(nowhere, data, sizeof(data));
	_exit(0);
}

static void tick(bool quiet)
{
	now_ns += TICK_MS * NS_PER_MS;
	cr_assert_eq(processes_read(&processes, &delay, now_ns, quiet), 0);
}

static struct thread_group *find(void)
{
	struct thread_group *process = NULL;

	while ((process = processes_next(&processes, process)) && process->pid != child)
		;
	cr_assert_not_null(process);
	return process;
}

static void init(void)
{
	struct why why = {""};

	proc_fd = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	proc_files_init(&files, proc_fd);
	cr_assert_eq(processes_init(&processes, &files, &why), 0, "%s", why.text);
	cr_assert_eq(pipe2(order, O_CLOEXEC), 0);
	child = fork();
	if (!child)
		be_child();
	usleep(100000);
	tick(true);
	/* As the sampler does when it has given it no label. */
	find()->renamed = false;
	for (int i = 0; i < SLEEPER_TICKS; i++)
		tick(true);
}

static void deinit(void)
{
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	processes_deinit(&processes);
	close(proc_fd);
}

TestSuite(processes, .init = init, .fini = deinit);

static void let_it_write(void)
{
	cr_assert_eq(write(order[1], "!", 1), 1);
	usleep(100000);
}

static uint64_t written(void)
{
	return find()->delta[IO_WCHAR];
}

Test(processes, who_sleeps_is_seen_a_few_ticks_late_at_most)
{
	uint64_t sum = 0;

	cr_assert(find()->rests);
	let_it_write();
	for (int i = 0; i < LATE_TICKS; i++) {
		tick(true);
		sum += written();
	}
	cr_assert_eq(sum, WRITTEN);
}

Test(processes, who_sleeps_is_seen_at_once_when_disks_move)
{
	let_it_write();
	tick(false);
	cr_assert_eq(written(), WRITTEN);
}

Test(processes, who_is_watched_is_seen_at_once)
{
	find()->label = "child";
	let_it_write();
	tick(true);
	cr_assert_eq(written(), WRITTEN);
}

Test(processes, what_was_seen_is_not_told_twice)
{
	let_it_write();
	tick(false);
	tick(true);
	cr_assert_eq(written(), 0);
	tick(true);
	cr_assert_eq(written(), 0);
}

Test(processes, one_that_was_made_since_is_found)
{
	pid_t first = child;

	child = fork();
	if (!child)
		be_child();
	usleep(100000);
	tick(true);
	cr_assert_eq(find()->pid, child);
	kill(first, SIGKILL);
	waitpid(first, NULL, 0);
}

Test(processes, one_that_has_ended_goes)
{
	struct thread_group *process = NULL;

	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	tick(true);
	while ((process = processes_next(&processes, process)))
		cr_assert_neq(process->pid, child);
}
