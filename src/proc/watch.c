/* SPDX-License-Identifier: MIT */
#include "watch.h"

#include "clock.h"

#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>
#include <sys/wait.h>

static const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGCHLD};

int watch_init(struct watch *watch, uint64_t limit_ns, struct why *why)
{
	struct itimerspec timer = {
		.it_value = {.tv_sec = (time_t)(limit_ns / NS_PER_S),
			     .tv_nsec = (long)(limit_ns % NS_PER_S)},
	};
	sigset_t set;

	*watch = (struct watch){.signal_fd = -1, .timer_fd = -1, .limit_ns = limit_ns};
	/* Ignored, children would end without leaving a status. */
	signal(SIGCHLD, SIG_DFL);
	sigemptyset(&set);
	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++) {
		struct sigaction action;

		/* nohup: a logout shall not end us. */
		if (sigaction(signals[i], NULL, &action) < 0 || action.sa_handler != SIG_IGN)
			sigaddset(&set, signals[i]);
	}
	sigprocmask(SIG_BLOCK, &set, NULL);
	watch->signal_fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	watch->timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	if (watch->signal_fd < 0 || watch->timer_fd < 0 ||
	    timerfd_settime(watch->timer_fd, 0, &timer, NULL) < 0)
		return why_errno(why, -errno, "cannot wait for signals and time");
	return 0;
}

void watch_deinit(struct watch *watch)
{
	close_keep_errno(take_fd(&watch->signal_fd));
	close_keep_errno(take_fd(&watch->timer_fd));
}

/* @timeout_ms: -1 = until something happens. 1: perhaps a child has changed. */
static int look(const struct watch *watch, int timeout_ms, struct why *why)
{
	struct pollfd polls[] = {
		{.fd = watch->signal_fd, .events = POLLIN},
		{.fd = watch->timer_fd, .events = POLLIN},
	};
	struct signalfd_siginfo info;

	if (poll(polls, 2, timeout_ms) < 0)
		return errno == EINTR ? 1 : why_errno(why, -errno, "cannot wait");
	while (polls[0].revents &&
	       read(watch->signal_fd, &info, sizeof(info)) == (ssize_t)sizeof(info)) {
		if (info.ssi_signo != SIGCHLD)
			return why_set(why, -EINTR, "ended by signal %u (%s); nothing is kept",
				       info.ssi_signo, strsignal((int)info.ssi_signo));
	}
	if (polls[1].revents)
		return why_set(why, -ETIME,
			       "not done within %.4g seconds; --timeout gives it more time",
			       (double)watch->limit_ns / NS_PER_S);
	return 1;
}

int watch_check(const struct watch *watch, struct why *why)
{
	int r = look(watch, 0, why);

	return r < 0 ? r : 0;
}

int watch_child(const struct watch *watch, pid_t pid, int flags, int *ret_status, struct why *why)
{
	for (;;) {
		pid_t changed = waitpid(pid, ret_status, flags | WNOHANG);
		int r;

		if (changed == pid)
			return 0;
		if (changed < 0 && errno != EINTR)
			return why_errno(why, -errno, "cannot wait for process %d", pid);
		r = look(watch, -1, why);
		if (r < 0)
			return r;
	}
}
