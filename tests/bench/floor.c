/* SPDX-License-Identifier: MIT */
/*
 * The least that a reader of trace pages can do: reads them, a thread for each file, and throws
 * them away.
 *
 *	floor FILE...	the trace_pipe_raw of each CPU; ends with SIGTERM
 */
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum {
	PAGE_BYTES = 4096
};

static void *read_on(void *path)
{
	char page[PAGE_BYTES];
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	struct pollfd poll_fd = {.fd = fd, .events = POLLIN};

	if (fd < 0) {
		perror(path);
		exit(1);
	}
	for (;;) {
		/* It waits until a share of the buffer is full; a timer empties what is less. */
		if (read(fd, page, sizeof(page)) <= 0)
			poll(&poll_fd, 1, 250);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		pthread_t thread;

		if (pthread_create(&thread, NULL, read_on, argv[i]) != 0)
			return 1;
	}
	puts("reading");
	fflush(stdout);
	pause();
	return 0;
}
