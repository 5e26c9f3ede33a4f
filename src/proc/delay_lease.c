/* SPDX-License-Identifier: MIT */
#include "delay_lease.h"

#include "delay_switch.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

/* For root alone: whoever can open it can lock it. */
int delay_lease_open(int run_fd)
{
	return openat(run_fd, "blkbox-delayacct", O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
}

static void lock_changes(int fd)
{
	while (fd >= 0 && flock(fd, LOCK_EX) < 0 && errno == EINTR)
		;
}

static void unlock_changes(int fd)
{
	if (fd >= 0)
		flock(fd, LOCK_UN);
}

static void set_use(int fd, short type)
{
	struct flock lock = {.l_type = type, .l_whence = SEEK_SET, .l_len = 1};

	if (fd >= 0)
		fcntl(fd, F_OFD_SETLK, &lock);
}

static bool others_use_it(int fd)
{
	struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_len = 1};

	return fd >= 0 && fcntl(fd, F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
}

static bool is_marked(int fd)
{
	struct stat stat;

	return fd >= 0 && fstat(fd, &stat) == 0 && stat.st_size > 0;
}

static void mark(int fd, bool on)
{
	/* If the mark cannot be made, the next one takes it for somebody else's and leaves it. */
	bool done = fd < 0 || (on ? pwrite(fd, "1", 1, 0) == 1 : ftruncate(fd, 0) == 0);

	(void)done;
}

int delay_lease_take(int fd, int proc_fd, bool *ret_ours, struct why *why)
{
	struct delay_switch delay;
	int r = 0;

	lock_changes(fd);
	delay_switch_init(&delay, proc_fd, 0);
	if (delay.state != DELAY_ON || is_marked(fd)) {
		set_use(fd, F_RDLCK);
		*ret_ours = true;
	}
	if (delay.state != DELAY_ON) {
		/* First: if we die in between, the next one of us turns it off. */
		mark(fd, true);
		r = delay_switch_turn(proc_fd, true, why);
	}
	if (r < 0) {
		*ret_ours = false;
		set_use(fd, F_UNLCK);
		if (!others_use_it(fd))
			mark(fd, false);
	}
	unlock_changes(fd);
	return r;
}

int delay_lease_give(int fd, int proc_fd)
{
	int r = 0;

	lock_changes(fd);
	if (!others_use_it(fd)) {
		r = delay_switch_turn(proc_fd, false, NULL);
		if (r == 0)
			mark(fd, false);
	}
	if (r == 0)
		set_use(fd, F_UNLCK);
	unlock_changes(fd);
	return r;
}
