/* SPDX-License-Identifier: MIT */
#include "flush.h"

#include "cleanup.h"

#include <fcntl.h>
#include <linux/fs.h>
#include <sched.h>
#include <stdint.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

/* Only async-signal-safe calls: the parent has threads. */
static void flush_and_exit(const char *const *paths, size_t n)
{
	int error = 0;

	/* Our copies of the trace files and of the output must not outlive the recording. */
	close_range(0, ~0u, 0);
	for (size_t i = 0; i < n; i++) {
		int fd = open(paths[i], O_RDONLY | O_NONBLOCK | O_CLOEXEC);

		if (fd < 0 || ioctl(fd, BLKFLSBUF, 0) < 0)
			error = errno;
		if (fd >= 0)
			close(fd);
	}
	_exit(error & 0xff);
}

int flush_devices(const char *const *paths, size_t n)
{
	int pidfd = -1;
	/* No exit signal: the caller's SIGCHLD handling is for its own children. */
	struct clone_args {
		uint64_t flags, pidfd, child_tid, parent_tid, exit_signal, stack, stack_size, tls;
	} args = {.flags = CLONE_PIDFD, .pidfd = (uint64_t)(uintptr_t)&pidfd};
	long pid = syscall(SYS_clone3, &args, sizeof(args));

	if (pid < 0)
		return -errno;
	if (pid == 0)
		flush_and_exit(paths, n);
	return pidfd;
}

int flush_result(int pidfd)
{
	siginfo_t info = {0};

	/* Takes the child's remains away, too. */
	while (waitid(P_PIDFD, (id_t)pidfd, &info, WEXITED | __WALL) < 0) {
		if (errno != EINTR)
			return -errno;
	}
	return info.si_code == CLD_EXITED ? -info.si_status : -EINTR;
}
