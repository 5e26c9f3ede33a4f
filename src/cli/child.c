/* SPDX-License-Identifier: MIT */
#include "child.h"

#include "inherited.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>

enum {
	STATUS_NOT_EXECUTABLE = 126,
	STATUS_NOT_FOUND = 127,
	STATUS_SIGNAL = 128
};

static void tell(int exec_fd, int error)
{
	ssize_t ignored = write(exec_fd, &error, sizeof(error));

	(void)ignored;
}

/* @user: NULL: whoever we are. */
static void run(char *const *argv, const struct user *user, int go_fd, int exec_fd)
{
	sigset_t none;
	char byte;
	int error, r;

	/* End of file instead of a byte: there is nothing to trace after all. */
	if (read(go_fd, &byte, 1) != 1)
		_exit(STATUS_SIGNAL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	signal(SIGPIPE, SIG_DFL);
	signal(SIGXFSZ, SIG_DFL);
	inherited_restore();
	r = user ? user_become(user) : 0;
	if (r < 0) {
		tell(exec_fd, -r);
		_exit(STATUS_NOT_EXECUTABLE);
	}
	execvp(argv[0], argv);
	error = errno;
	tell(exec_fd, error);
	_exit(error == ENOENT ? STATUS_NOT_FOUND : STATUS_NOT_EXECUTABLE);
}

int child_start(struct child *child, const struct child_options *options, struct why *why)
{
	char *const *argv = options->argv;
	_cleanup_(user_deinit) struct user user = {0};
	int go[2], exec[2], through_sudo;
	pid_t pid;

	/* Before the fork: it may read files, and load code. */
	through_sudo = options->as_root ? 0 : user_find_invoker(&user, why);
	if (through_sudo < 0)
		return through_sudo;
	if (pipe2(go, O_CLOEXEC) < 0)
		return why_errno(why, -errno, "cannot start %s", argv[0]);
	if (pipe2(exec, O_CLOEXEC) < 0) {
		close_keep_errno(go[0]);
		close_keep_errno(go[1]);
		return why_errno(why, -errno, "cannot start %s", argv[0]);
	}
	pid = fork();
	if (pid == 0) {
		close(go[1]);
		close(exec[0]);
		if (options->to_stderr)
			dup2(STDERR_FILENO, STDOUT_FILENO);
		run(argv, through_sudo ? &user : NULL, go[0], exec[1]);
	}
	close_keep_errno(go[0]);
	close_keep_errno(exec[1]);
	child->go_fd = go[1];
	child->exec_fd = exec[0];
	if (pid < 0)
		return why_errno(why, -errno, "cannot start %s", argv[0]);
	child->pid = pid;
	child->pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	if (child->pidfd < 0)
		return why_errno(why, -errno, "cannot watch %s", argv[0]);
	return 0;
}

int child_go(struct child *child, const char *name, struct why *why)
{
	int error = 0;
	ssize_t n;

	if (write(child->go_fd, "", 1) != 1)
		return why_errno(why, -errno, "cannot run %s", name);
	n = read(child->exec_fd, &error, sizeof(error));
	if (n == sizeof(error))
		return why_errno(why, -error, "cannot run %s", name);
	child->going = true;
	return 0;
}

int child_wait(struct child *child)
{
	int status;

	while (waitpid(child->pid, &status, 0) < 0) {
		if (errno != EINTR)
			return STATUS_SIGNAL;
	}
	child->pid = 0;
	return WIFSIGNALED(status) ? STATUS_SIGNAL + WTERMSIG(status) : WEXITSTATUS(status);
}

void child_deinit(struct child *child)
{
	/* Before its go: end of file on the pipe makes it exit. */
	close_keep_errno(take_fd(&child->go_fd));
	close_keep_errno(take_fd(&child->exec_fd));
	if (child->pid && !child->going)
		child_wait(child);
	close_keep_errno(take_fd(&child->pidfd));
}
