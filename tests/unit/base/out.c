/* SPDX-License-Identifier: MIT */
#include "out.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>

Test(out, writes_what_it_was_given_across_many_buffers)
{
	int fd = memfd_create("out", 0);
	char expected[32], got[32];
	struct out out;

	cr_assert_eq(out_init(&out, fd, OUT_ROOM_MAX), 0);
	for (int i = 0; i < 100000; i++) {
		out_u64(&out, (uint64_t)i);
		out_char(&out, ' ');
	}
	out_i64(&out, INT64_MIN);
	out_printf(&out, "|%05d|", 42);
	cr_assert_eq(out_flush(&out), 0);
	cr_assert_eq(pread(fd, got, 20, 0), 20);
	cr_assert_eq(memcmp(got, "0 1 2 3 4 5 6 7 8 9 ", 20), 0);
	snprintf(expected, sizeof(expected), "%lld|00042|", (long long)INT64_MIN);
	cr_assert_eq(pread(fd, got, strlen(expected),
			   (off_t)(out.written_bytes - strlen(expected))),
		     strlen(expected));
	cr_assert_eq(memcmp(got, expected, strlen(expected)), 0);
	out_deinit(&out);
	close(fd);
}

Test(out, the_first_failure_sticks)
{
	int fd = open("/dev/full", O_WRONLY);
	struct out out;

	cr_assert_eq(out_init(&out, fd, OUT_ROOM_MAX), 0);
	out_text(&out, "x");
	cr_assert_eq(out_flush(&out), -ENOSPC);
	cr_assert_eq(out_flush(&out), -ENOSPC);
	out_deinit(&out);
	close(fd);
}

static void *read_slowly(void *fd)
{
	static char bytes[4096];
	size_t got = 0;
	ssize_t n;

	usleep(20000);
	while ((n = read(*(int *)fd, bytes, sizeof(bytes))) > 0)
		got += (size_t)n;
	return (void *)got;
}

/* A terminal or a pipe that another program left non-blocking. */
Test(out, waits_for_a_reader_that_is_slower)
{
	static char bytes[OUT_ROOM_MAX];
	pthread_t reader;
	struct out out;
	void *got;
	int fds[2];

	cr_assert_eq(pipe2(fds, 0), 0);
	cr_assert_eq(fcntl(fds[1], F_SETFL, O_NONBLOCK), 0);
	cr_assert_eq(pthread_create(&reader, NULL, read_slowly, &fds[0]), 0);
	cr_assert_eq(out_init(&out, fds[1], OUT_ROOM_MAX), 0);
	for (int i = 0; i < 10; i++)
		out_bytes(&out, bytes, sizeof(bytes));
	cr_assert_eq(out_flush(&out), 0);
	out_deinit(&out);
	close(fds[1]);
	cr_assert_eq(pthread_join(reader, &got), 0);
	cr_assert_eq((size_t)got, 10 * sizeof(bytes));
	close(fds[0]);
}

Test(out_of_nowhere, bytes_are_counted)
{
	struct out out;

	cr_assert_eq(out_init(&out, -1, OUT_ROOM_MAX), 0);
	for (int i = 0; i < 100000; i++)
		out_text(&out, "four");
	cr_assert_eq(out_flush(&out), 0);
	cr_assert_eq(out.written_bytes, 400000);
	out_deinit(&out);
}
