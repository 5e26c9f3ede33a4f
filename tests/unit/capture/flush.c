/* SPDX-License-Identifier: MIT */
/* The real call: on a loop device where root may make one, else on what has nothing to flush. */
#include "flush.h"

#include "fake_tree.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/loop.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum {
	PATIENCE_MS = 20000,
	DISK_BYTES = 1 << 20
};

static bool ends_in_time(int pidfd)
{
	struct pollfd fd = {.fd = pidfd, .events = POLLIN};

	return poll(&fd, 1, PATIENCE_MS) == 1 && fd.revents & POLLIN;
}

/* A loop device over @file; skips the test where there is none to be had. */
static int make_loop(const char *file, char path[64])
{
	int control = open("/dev/loop-control", O_RDWR | O_CLOEXEC);
	int number = control < 0 ? -1 : ioctl(control, LOOP_CTL_GET_FREE);
	int backing = open(file, O_CREAT | O_RDWR | O_CLOEXEC, 0600);
	int loop = -1;

	cr_assert_eq(ftruncate(backing, DISK_BYTES), 0);
	snprintf(path, 64, "/dev/loop%d", number);
	if (number >= 0)
		loop = open(path, O_RDWR | O_CLOEXEC);
	if (loop < 0 || ioctl(loop, LOOP_SET_FD, backing) < 0)
		cr_skip_test("no loop device to be had");
	close(backing);
	close(control);
	return loop;
}

Test(flush, what_was_dirty_is_on_the_device_when_the_pidfd_is_readable)
{
	static char page[4096], got[4096];
	char file[PATH_MAX], path[64];
	struct fake_tree tree;
	const char *paths[] = {path};
	int loop, backing, pidfd;

	fake_tree_init(&tree);
	snprintf(file, sizeof(file), "%s/disk", tree.path);
	loop = make_loop(file, path);
	memset(page, 'x', sizeof(page));
	cr_expect_eq(pwrite(loop, page, sizeof(page), 8192), (ssize_t)sizeof(page));
	pidfd = flush_devices(paths, 1);
	cr_expect_geq(pidfd, 0);
	cr_expect(ends_in_time(pidfd));
	close(pidfd);
	backing = open(file, O_RDONLY | O_CLOEXEC);
	cr_expect_eq(pread(backing, got, sizeof(got), 8192), (ssize_t)sizeof(got));
	cr_expect_arr_eq(got, page, sizeof(page), "the device's page was not written out");
	close(backing);
	ioctl(loop, LOOP_CLR_FD, 0);
	close(loop);
	fake_tree_deinit(&tree);
}

Test(flush, a_device_that_cannot_be_opened_holds_nobody_up)
{
	const char *paths[] = {"/nowhere", "/dev/null", "/nowhere/either"};
	int pidfd = flush_devices(paths, 3);

	cr_assert_geq(pidfd, 0);
	cr_assert(ends_in_time(pidfd));
	close(pidfd);
}

Test(flush, the_child_keeps_none_of_our_files)
{
	enum {
		MANY = 200000
	}; /* so that it is at work for a while */
	const char **paths = calloc(MANY, sizeof(*paths));
	struct pollfd polls[2];
	int ends[2];

	for (size_t i = 0; i < MANY; i++)
		paths[i] = "/dev/null";
	cr_assert_eq(pipe(ends), 0);
	polls[1] = (struct pollfd){.fd = flush_devices(paths, MANY), .events = POLLIN};
	cr_assert_geq(polls[1].fd, 0);
	close(ends[1]);
	/* Hung up: nobody has the writing end any more. */
	polls[0] = (struct pollfd){.fd = ends[0], .events = POLLIN};
	cr_assert_eq(poll(polls, 2, PATIENCE_MS), 1);
	cr_assert(polls[0].revents & POLLHUP);
	cr_assert_eq(polls[1].revents, 0, "only because the child was over");
	cr_assert(ends_in_time(polls[1].fd));
	close(polls[1].fd);
	close(ends[0]);
	free(paths);
}
