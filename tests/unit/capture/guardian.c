/* SPDX-License-Identifier: MIT */
#include "guardian.h"

#include "cleanup.h"
#include "fake_kernel.h"
#include "memory_sink.h"
#include "session.h"
#include "state.h"

#include <criterion/criterion.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>

enum {
	WAIT_MS = 10000
};

static int restored_fd;

static void tell(void *context)
{
	ssize_t n = write(restored_fd, context, 1);

	(void)n;
}

/* The first byte out of the pipe; 0 at its end, which comes when nobody can write any more. */
static char first_byte(int fd)
{
	struct pollfd polls = {.fd = fd, .events = POLLIN};
	char byte = 0;

	cr_assert_eq(poll(&polls, 1, WAIT_MS), 1, "nobody has let go of the pipe");
	return read(fd, &byte, 1) == 1 ? byte : 0;
}

/* Runs @recorder in a process of its own; its guardian writes 'r' when it restores. */
static char outcome(void (*recorder)(struct guardian *guardian))
{
	int ends[2];
	pid_t pid;

	cr_assert_eq(pipe(ends), 0);
	pid = fork();
	if (pid == 0) {
		struct guardian guardian;
		char what[] = "r";

		close(ends[0]);
		restored_fd = ends[1];
		if (guardian_start(&guardian, tell, what, &restored_fd, 1, NULL) < 0)
			_exit(1);
		recorder(&guardian);
		_exit(0);
	}
	close(ends[1]);
	cr_assert_eq(waitpid(pid, NULL, 0), pid);
	return first_byte(ends[0]);
}

static void release(struct guardian *guardian)
{
	guardian_release(guardian);
}

static void end_without_a_word(struct guardian *guardian)
{
	(void)guardian;
}

static void get_killed(struct guardian *guardian)
{
	(void)guardian;
	kill(getpid(), SIGKILL);
}

static void get_killed_with_the_group(struct guardian *guardian)
{
	(void)guardian;
	setpgid(0, 0);
	kill(0, SIGKILL);
}

Test(guardian, sent_away_it_does_nothing)
{
	cr_assert_eq(outcome(release), 0);
}

Test(guardian, a_recorder_that_dies_is_cleaned_up_behind)
{
	cr_assert_eq(outcome(get_killed), 'r');
	cr_assert_eq(outcome(get_killed_with_the_group), 'r');
	cr_assert_eq(outcome(end_without_a_word), 'r');
}

Test(guardian, it_holds_nothing_open_but_what_it_needs)
{
	struct guardian guardian;
	int ends[2];

	cr_assert_eq(pipe(ends), 0);
	cr_assert_eq(guardian_start(&guardian, tell, NULL, NULL, 0, NULL), 0);
	close(ends[1]);
	cr_assert_eq(first_byte(ends[0]), 0);
	guardian_release(&guardian);
	cr_assert_eq(guardian.fd, -1);
	guardian_release(&guardian);
}

/* A recording that is killed, on a made-up kernel: its files tell what the guardian did. */
Test(guardian, a_killed_recording_leaves_no_trace, .timeout = 60)
{
	struct fake_tree tree;
	/* Shared: the guardian must see the trace that is made after its fork. */
	struct fake_kernel *kernel = mmap(NULL, sizeof(*kernel), PROT_READ | PROT_WRITE,
					  MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct memory_sink sink;
	char sda[] = "sda", *devices[] = {sda};
	struct session_options options = {
		.devices = devices,
		.n_devices = 1,
		.source = SOURCE_RELAY,
		.root = &tree.root,
		.kernel = &kernel->ops,
	};
	bool left = true;
	pid_t pid;

	fake_tree_init(&tree);
	fake_kernel_init(kernel, &tree);
	fake_tree_disk(&tree, "sda", 8, 0, 1 << 20);
	memory_sink_init(&sink);
	pid = fork();
	if (pid == 0) {
		struct session *session;

		if (session_open(&options, &session, NULL) < 0 ||
		    session_start(session, &sink.ops, NULL) < 0 ||
		    !sysroot_exists(&tree.root, FAKE_DEBUGFS "/block/sda/dropped"))
			_exit(1);
		kill(getpid(), SIGKILL);
	}
	int status;

	cr_assert_eq(waitpid(pid, &status, 0), pid);
	cr_assert(WIFSIGNALED(status), "the recording did not start");
	for (int i = 0; left && i < WAIT_MS / 10; i++) {
		left = sysroot_exists(&tree.root, FAKE_DEBUGFS "/block/sda/dropped") ||
		       sysroot_exists(&tree.root, "/run/blkbox/8:0");
		poll(NULL, 0, 10);
	}
	cr_assert_not(left);
	fake_kernel_deinit(kernel);
	munmap(kernel, sizeof(*kernel));
	fake_tree_deinit(&tree);
}
