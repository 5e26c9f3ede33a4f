/* SPDX-License-Identifier: MIT */
/*
 * A write through io_uring, with nothing but its system calls.
 */
#include "bench.h"

#include <fcntl.h>
#include <linux/io_uring.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>

static const char file_name[] = "file";

/* One ring of one entry. */
struct uring {
	int fd;
	struct io_uring_params params;
	char *submission;
	char *completion;
	struct io_uring_sqe *entries;
};

static void *map_part(const struct uring *uring, size_t size, off_t part)
{
	return mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, uring->fd, part);
}

/* What is mapped goes with the worker. */
static int uring_open(struct uring *uring)
{
	const struct io_uring_params *params = &uring->params;

	memset(uring, 0, sizeof(*uring));
	uring->fd = (int)syscall(SYS_io_uring_setup, 1, &uring->params);
	if (uring->fd < 0)
		return -errno;
	uring->submission =
		map_part(uring, params->sq_off.array + params->sq_entries * sizeof(uint32_t),
			 IORING_OFF_SQ_RING);
	uring->completion =
		map_part(uring,
			 params->cq_off.cqes + params->cq_entries * sizeof(struct io_uring_cqe),
			 IORING_OFF_CQ_RING);
	uring->entries =
		map_part(uring, params->sq_entries * sizeof(struct io_uring_sqe), IORING_OFF_SQES);
	if (uring->submission == MAP_FAILED || uring->completion == MAP_FAILED ||
	    (void *)uring->entries == MAP_FAILED)
		return -errno;
	return 0;
}

/* Writes @n bytes at @offset and waits. Returns what the kernel says of it. */
static int uring_write(struct uring *uring, int fd, const void *bytes, size_t n, uint64_t offset)
{
	const struct io_uring_params *params = &uring->params;
	uint32_t *tail = (uint32_t *)(uring->submission + params->sq_off.tail);
	uint32_t *array = (uint32_t *)(uring->submission + params->sq_off.array);
	uint32_t *head = (uint32_t *)(uring->completion + params->cq_off.head);
	uint32_t *mask = (uint32_t *)(uring->completion + params->cq_off.ring_mask);
	struct io_uring_cqe *done =
		(struct io_uring_cqe *)(uring->completion + params->cq_off.cqes);
	int result;

	uring->entries[0] = (struct io_uring_sqe){
		.opcode = IORING_OP_WRITE,
		.fd = fd,
		.addr = (uint64_t)(uintptr_t)bytes,
		.len = (uint32_t)n,
		.off = offset,
	};
	array[0] = 0;
	/* The kernel's acquire sees the entry, and ours its result: the call is in between. */
	__atomic_store_n(tail, *tail + 1, __ATOMIC_RELEASE);
	if (syscall(SYS_io_uring_enter, uring->fd, 1, 1, IORING_ENTER_GETEVENTS, NULL, 0) != 1)
		return -errno;
	result = done[*head & *mask].res;
	__atomic_store_n(head, *head + 1, __ATOMIC_RELEASE);
	return result;
}

static int write_by_uring(const void *context, struct worker_report *report)
{
	const struct bench *bench = context;
	_cleanup_close_ int fd = worker_open(report, file_name, O_WRONLY);
	struct uring uring;
	size_t done = 0;
	int r;

	if (fd < 0)
		return fd;
	r = uring_open(&uring);
	if (r < 0)
		return worker_refused(report, r, "the kernel allows no io_uring");
	while (done < bench->payload_bytes) {
		r = uring_write(&uring, fd, bench->payload + done, bench->payload_bytes - done,
				done);
		if (r <= 0)
			return worker_failed_or_refused(report, r < 0 ? r : -EIO,
							"cannot write by io_uring");
		done += (size_t)r;
	}
	close(uring.fd);
	return 0;
}

static int run_uring_write(const struct bench *bench, struct observation *observation,
			   struct why *why)
{
	struct member member;
	int r = bench_make_empty(bench, file_name, why);

	if (r == 0)
		r = bench_measure(bench, observation, write_by_uring, &member, why);
	if (r <= 0)
		return r;
	r = bench_check_file(bench, file_name, FILLING, why);
	if (r < 0)
		return r;
	expect_calls(observation, "worker", &member.delta, (struct expected_calls){0});
	expect_device_bytes(bench, observation, "worker", &member.delta, IO_WRITE_BYTES,
			    EXPECT_AT_LEAST, bench->payload_bytes);
	return 0;
}

const struct experiment uring_experiments[1] = {
	{"io_uring_write", "wchar and syscw know nothing of io_uring; write_bytes does",
	 run_uring_write},
};
