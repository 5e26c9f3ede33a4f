/* SPDX-License-Identifier: MIT */
/*
 * Writes that never come near a disk.
 */
#include "bench.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>

enum {
	PIPE_PIECE_BYTES = 16 << 10, /* what every pipe has room for */
};

/* The kernel's own tmpfs: there, whatever is mounted, and gone with its last user. */
static int write_tmpfs(const void *context, struct worker_report *report)
{
	_cleanup_close_ int fd = memfd_create("blkbox-taskio", MFD_CLOEXEC);

	if (fd < 0)
		return worker_refused(report, -errno, "there is no tmpfs");
	return worker_write(context, report, fd);
}

static int run_tmpfs_write(const struct bench *bench, struct observation *observation,
			   struct why *why)
{
	struct member member;
	int r = bench_measure(bench, observation, write_tmpfs, &member, why);

	if (r <= 0)
		return r;
	expect_calls(observation, "worker", &member.delta,
		     (struct expected_calls){.wchar = bench->payload_bytes, .syscw = 1});
	expect_counter(observation, "worker", &member.delta, IO_WRITE_BYTES, EXPECT_EQUAL, 0);
	return 0;
}

/* Both ends are the worker's: what it writes, it reads back. */
static int write_pipe(const void *context, struct worker_report *report)
{
	const struct bench *bench = context;
	char piece[PIPE_PIECE_BYTES];
	int ends[2];

	if (pipe2(ends, O_CLOEXEC) < 0)
		return worker_failed_or_refused(report, -errno, "cannot make a pipe");
	for (size_t done = 0; done < bench->payload_bytes; done += sizeof(piece)) {
		if (write(ends[1], bench->payload + done, sizeof(piece)) != sizeof(piece) ||
		    read(ends[0], piece, sizeof(piece)) != sizeof(piece))
			return worker_failed(report, -EIO, "cannot write through a pipe");
	}
	close(ends[0]);
	close(ends[1]);
	return 0;
}

static int run_pipe_write(const struct bench *bench, struct observation *observation,
			  struct why *why)
{
	uint64_t size = bench->payload_bytes, calls = size / PIPE_PIECE_BYTES;
	struct member member;
	int r = bench_measure(bench, observation, write_pipe, &member, why);

	if (r <= 0)
		return r;
	expect_calls(observation, "worker", &member.delta,
		     (struct expected_calls){
			     .rchar = size, .syscr = calls, .wchar = size, .syscw = calls});
	expect_counter(observation, "worker", &member.delta, IO_READ_BYTES, EXPECT_EQUAL, 0);
	expect_counter(observation, "worker", &member.delta, IO_WRITE_BYTES, EXPECT_EQUAL, 0);
	return 0;
}

const struct experiment memory_experiments[2] = {
	{"tmpfs_write", "a write to tmpfs counts in wchar, and not in write_bytes",
	 run_tmpfs_write},
	{"pipe_write", "bytes through a pipe count in wchar and rchar, though no file is touched",
	 run_pipe_write},
};
