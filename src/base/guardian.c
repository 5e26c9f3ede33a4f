/* SPDX-License-Identifier: MIT */
#include "guardian.h"

#include "cleanup.h"

#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>

static int by_number(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

/* An output that the guardian held open would never end for whoever reads it. */
static void close_all_but(int *keep, size_t n_keep)
{
	unsigned from = 0;

	qsort(keep, n_keep, sizeof(*keep), by_number);
	for (size_t i = 0; i < n_keep; i++) {
		if ((unsigned)keep[i] > from)
			close_range(from, (unsigned)keep[i] - 1, 0);
		from = (unsigned)keep[i] + 1;
	}
	close_range(from, ~0u, 0);
}

/* Whoever stops the recorder often stops everything of its name. */
static void ignore_signals(void)
{
	static const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE, SIGUSR1, SIGUSR2};

	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
		signal(signals[i], SIG_IGN);
}

/*
 * @recorder_fd: pidfd. It tells of the death; the socket alone would not, for a process that the
 * recorder started may hold the other end a moment longer.
 */
static void guard(int recorder_fd, int socket_fd, void (*restore)(void *context), void *context)
{
	struct pollfd polls[] = {
		{.fd = recorder_fd, .events = POLLIN},
		{.fd = socket_fd, .events = POLLIN},
	};
	pid_t self = getpid();
	char byte = 0;

	prctl(PR_SET_NAME, "blkbox-guard");
	ignore_signals();
	send(socket_fd, &self, sizeof(self), MSG_NOSIGNAL); /* ready */
	while (poll(polls, 2, -1) < 0)
		;
	/* A recorder that gave everything back itself has sent a byte. */
	if (recv(socket_fd, &byte, 1, MSG_DONTWAIT) == 1)
		_exit(0);
	/* A dying process closes its files one by one: it may have others open still, and runs. */
	while (poll(polls, 1, -1) < 0)
		;
	restore(context);
	_exit(0);
}

static int watch_this_process(void)
{
	int fd = (int)syscall(SYS_pidfd_open, getpid(), 0);

	return fd < 0 ? -errno : fd;
}

/* Forks twice: the guardian is nobody's child, and no SIGCHLD of it reaches the caller later. */
static int fork_guardian(int recorder_fd, int socket_fd, void (*restore)(void *context),
			 void *context, const int *keep, size_t n_keep)
{
	_cleanup_free_ int *kept = calloc(n_keep + 2, sizeof(*kept));
	int status;
	pid_t pid;

	if (!kept)
		return -ENOMEM;
	if (n_keep)
		memcpy(kept, keep, n_keep * sizeof(*keep));
	kept[n_keep] = recorder_fd;
	kept[n_keep + 1] = socket_fd;
	pid = fork();
	if (pid < 0)
		return -errno;
	if (pid > 0) {
		/* ECHILD: the caller's SIGCHLD handler was faster. */
		while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
			;
		return 0;
	}
	setsid();
	if (fork() != 0)
		_exit(0);
	close_all_but(kept, n_keep + 2);
	guard(recorder_fd, socket_fd, restore, context);
	_exit(0);
}

int guardian_start(struct guardian *guardian, void (*restore)(void *context), void *context,
		   const int *keep, size_t n_keep, struct why *why)
{
	_cleanup_close_ int recorder_fd = watch_this_process();
	int ends[2];
	pid_t pid;
	int r;

	if (recorder_fd < 0 || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0)
		return why_errno(why, -errno, "cannot start the guardian process");
	r = fork_guardian(recorder_fd, ends[1], restore, context, keep, n_keep);
	close_keep_errno(ends[1]);
	if (r >= 0 && recv(ends[0], &pid, sizeof(pid), MSG_WAITALL) != sizeof(pid))
		r = -EAGAIN;
	if (r < 0) {
		close_keep_errno(ends[0]);
		return why_errno(why, r, "cannot start the guardian process");
	}
	*guardian = (struct guardian){.fd = ends[0], .pid = pid};
	return 0;
}

bool guardian_is_gone(const struct guardian *guardian)
{
	struct pollfd end = {.fd = guardian->fd, .events = POLLIN};

	return guardian->fd >= 0 && poll(&end, 1, 0) > 0;
}

void guardian_release(struct guardian *guardian)
{
	enum {
		WAIT_MS = 2000
	};
	struct pollfd end = {.fd = guardian->fd, .events = POLLIN};
	char byte = 0;

	if (guardian->fd < 0)
		return;
	send(guardian->fd, &byte, 1, MSG_NOSIGNAL);
	/* One that was stopped takes the byte when it goes on. */
	poll(&end, 1, WAIT_MS);
	close_keep_errno(take_fd(&guardian->fd));
}

void guardian_leave(struct guardian *guardian)
{
	if (guardian->fd >= 0)
		close_keep_errno(take_fd(&guardian->fd));
}
