/* SPDX-License-Identifier: MIT */
/*
 * I/O that goes to the device at once, and reads that have no device to go to.
 */
#include "direct.h"

#include <fcntl.h>
#include <string.h>

static const char file_name[] = "file";

static int read_direct(const void *context, struct worker_report *report)
{
	const struct bench *bench = context;
	_cleanup_free_ char *buffer = aligned_alloc(BUFFER_ALIGNMENT, DIRECT_BYTES);
	_cleanup_close_ int fd = openat(WORKER_FD, file_name, O_RDONLY | O_DIRECT | O_CLOEXEC);
	size_t done = 0;

	if (fd < 0)
		return worker_failed_or_refused(report, -errno, "cannot open with O_DIRECT");
	if (!buffer)
		return worker_failed(report, -ENOMEM, "cannot read directly");
	/* Into pages that are not there, btrfs does not read directly, but from the cache. */
	memset(buffer, 0, DIRECT_BYTES);
	while (done < bench->payload_bytes) {
		ssize_t n = read(fd, buffer, DIRECT_BYTES);

		if (n <= 0)
			return worker_failed_or_refused(report, n < 0 ? -errno : -EBADMSG,
							"cannot read directly");
		if (memcmp(buffer, bench->payload + done, (size_t)n) != 0)
			return worker_failed(report, -EBADMSG, "cannot read back what was written");
		done += (size_t)n;
	}
	return 0;
}

static int write_direct(const void *context, struct worker_report *report)
{
	const struct bench *bench = context;
	_cleanup_close_ int fd = openat(WORKER_FD, file_name, O_WRONLY | O_DIRECT | O_CLOEXEC);
	size_t done = 0;

	if (fd < 0)
		return worker_failed_or_refused(report, -errno, "cannot open with O_DIRECT");
	while (done < bench->payload_bytes) {
		ssize_t n = write(fd, bench->payload + done, DIRECT_BYTES);

		if (n <= 0)
			return worker_failed_or_refused(report, n < 0 ? -errno : -EIO,
							"cannot write directly");
		done += (size_t)n;
	}
	return 0;
}

/* 1: it was measured; 0: skipped. */
static int measure_direct(const struct bench *bench, struct observation *observation,
			  worker_action action, struct member *member, struct why *why)
{
	int r = bench_make_file(bench, file_name, why);

	return r < 0 ? r : bench_measure(bench, observation, action, member, why);
}

void expect_direct_bytes(const struct bench *bench, struct observation *observation,
			 const struct io_counters *delta)
{
	uint64_t size = bench->payload_bytes, read = delta->value[IO_READ_BYTES];

	expect_device_bytes(bench, observation, "worker", delta, IO_READ_BYTES, EXPECT_AT_LEAST,
			    size);
	if (bench->file_system.kind == FS_DEVICE && read < size)
		expect_undecidable(
			observation,
			"%llu of %llu bytes were not read from a device: it seems that "
			"the file system answers from the cache in spite of O_DIRECT, as "
			"with compression (btrfs) or data=journal (ext4)",
			(unsigned long long)(size - read), (unsigned long long)size);
}

void direct_settle(struct observation *observation, uint64_t read_bytes)
{
	for (size_t i = 0; i < observation->n_checks; i++) {
		struct check *check = &observation->checks[i];

		if (check->state != VERDICT_UNDECIDABLE ||
		    check->counter != io_counter_name(IO_READ_BYTES) ||
		    read_bytes < (uint64_t)check->expected)
			continue;
		check->state = VERDICT_NOT_MET;
		snprintf(check->reason, sizeof(check->reason),
			 "%s of the %s is %lld, though the device read %llu bytes", check->counter,
			 check->subject, (long long)check->observed,
			 (unsigned long long)read_bytes);
	}
}

static int run_direct_read(const struct bench *bench, struct observation *observation,
			   struct why *why)
{
	uint64_t size = bench->payload_bytes;
	struct member member;
	int r = measure_direct(bench, observation, read_direct, &member, why);

	if (r <= 0)
		return r;
	expect_calls(observation, "worker", &member.delta,
		     (struct expected_calls){.rchar = size, .syscr = size / DIRECT_BYTES});
	expect_direct_bytes(bench, observation, &member.delta);
	expect_counter(observation, "worker", &member.delta, IO_WRITE_BYTES, EXPECT_EQUAL, 0);
	return 0;
}

static int run_direct_write(const struct bench *bench, struct observation *observation,
			    struct why *why)
{
	uint64_t size = bench->payload_bytes;
	struct member member;
	int r = measure_direct(bench, observation, write_direct, &member, why);

	if (r <= 0)
		return r;
	expect_calls(observation, "worker", &member.delta,
		     (struct expected_calls){.wchar = size, .syscw = size / DIRECT_BYTES});
	expect_device_bytes(bench, observation, "worker", &member.delta, IO_WRITE_BYTES,
			    EXPECT_AT_LEAST, size);
	return 0;
}

static int read_hole(const void *context, struct worker_report *report)
{
	_cleanup_close_ int fd = worker_open(report, file_name, O_RDONLY);

	return fd < 0 ? fd : worker_read(context, report, fd, '\0');
}

static int run_hole_read(const struct bench *bench, struct observation *observation,
			 struct why *why)
{
	uint64_t size = bench->payload_bytes;
	struct member member;
	int r = bench_make_hole(bench, file_name, why);

	if (r == 0)
		r = bench_measure(bench, observation, read_hole, &member, why);
	if (r <= 0)
		return r;
	expect_calls(observation, "worker", &member.delta,
		     (struct expected_calls){
			     .rchar = size,
			     .syscr = (size + READ_BYTES - 1) / READ_BYTES + 1,
		     });
	expect_device_bytes(bench, observation, "worker", &member.delta, IO_READ_BYTES,
			    EXPECT_EQUAL, 0);
	return 0;
}

static int write_and_sync(const void *context, struct worker_report *report)
{
	return worker_write_file(context, report, file_name, O_WRONLY, true);
}

static int run_fsync_write(const struct bench *bench, struct observation *observation,
			   struct why *why)
{
	uint64_t size = bench->payload_bytes;
	struct member member;
	int r = bench_make_empty(bench, file_name, why);

	if (r == 0)
		r = bench_measure(bench, observation, write_and_sync, &member, why);
	if (r <= 0)
		return r;
	expect_calls(observation, "worker", &member.delta,
		     (struct expected_calls){.wchar = size, .syscw = 1});
	expect_device_bytes(bench, observation, "worker", &member.delta, IO_WRITE_BYTES,
			    EXPECT_AT_LEAST, size);
	expect_counter(observation, "worker", &member.delta, IO_CANCELLED_WRITE_BYTES, EXPECT_EQUAL,
		       0);
	return 0;
}

const struct experiment direct_experiments[4] = {
	{"direct_read", "a direct read counts in rchar and in read_bytes", run_direct_read},
	{"direct_write", "a direct write counts in wchar and in write_bytes", run_direct_write},
	{"hole_read", "reading a hole counts in rchar; no device is read", run_hole_read},
	{"fsync_write",
	 "write_bytes counts when a page gets dirty, not when it is written back: "
	 "fsync adds no second time",
	 run_fsync_write},
};
