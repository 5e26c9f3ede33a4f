/* SPDX-License-Identifier: MIT */
/*
 * Copies that the kernel makes: the bytes never come to the process, but are its all the same, or
 * are not.
 */
#include "bench.h"

#include <fcntl.h>
#include <string.h>
#include <sys/sendfile.h>

static const char source_name[] = "source", target_name[] = "target";

/* report->value */
enum {
	VALUE_CALLS, /* that moved bytes */
};

/* One call. Moves up to @n bytes. */
typedef ssize_t (*copy_call)(const int fds[4], size_t n);

static ssize_t copy_range(const int fds[4], size_t n)
{
	return copy_file_range(fds[0], NULL, fds[1], NULL, n, 0);
}

static ssize_t send_file(const int fds[4], size_t n)
{
	return sendfile(fds[1], fds[0], NULL, n);
}

/* By way of a pipe, as splice needs one. */
static ssize_t splice_twice(const int fds[4], size_t n)
{
	ssize_t in = splice(fds[0], NULL, fds[3], NULL, n, 0), out, done = 0;

	while (in > 0 && done < in) {
		out = splice(fds[2], NULL, fds[1], NULL, (size_t)(in - done), 0);
		if (out <= 0)
			return out;
		done += out;
	}
	return in;
}

static int copy(const struct bench *bench, struct worker_report *report, copy_call call,
		const char *name)
{
	_cleanup_close_ int source = worker_open(report, source_name, O_RDONLY);
	_cleanup_close_ int target = worker_open(report, target_name, O_WRONLY);
	int fds[4] = {source, target};

	if (source < 0 || target < 0)
		return source < 0 ? source : target;
	if (call == splice_twice && pipe2(fds + 2, O_CLOEXEC) < 0)
		return worker_failed_or_refused(report, -errno, "cannot make a pipe");
	for (size_t done = 0; done < bench->payload_bytes;) {
		ssize_t n = call(fds, bench->payload_bytes - done);

		if (n < 0)
			return worker_failed_or_refused(report, -errno, name);
		/* Nor an error, nor the end: a filter, or a file system, that does nothing. */
		if (n == 0)
			return worker_refused(report, -ENODATA, name);
		report->value[VALUE_CALLS]++;
		done += (size_t)n;
	}
	if (call == splice_twice) {
		close(fds[2]);
		close(fds[3]);
	}
	return 0;
}

static int copy_by_range(const void *context, struct worker_report *report)
{
	return copy(context, report, copy_range, "cannot copy_file_range");
}

static int copy_by_sendfile(const void *context, struct worker_report *report)
{
	return copy(context, report, send_file, "cannot sendfile");
}

static int copy_by_splice(const void *context, struct worker_report *report)
{
	return copy(context, report, splice_twice, "cannot splice");
}

/* @counted: the calls and bytes are the process's. 1: it was measured; 0: skipped. */
static int run_copy(const struct bench *bench, struct observation *observation,
		    worker_action action, bool counted, struct why *why)
{
	uint64_t size = counted ? bench->payload_bytes : 0, calls;
	struct member member;
	int r = bench_make_file(bench, source_name, why);

	if (r == 0)
		r = bench_make_empty(bench, target_name, why);
	if (r == 0)
		r = bench_measure(bench, observation, action, &member, why);
	if (r <= 0)
		return r;
	r = bench_check_file(bench, target_name, FILLING, why);
	if (r < 0)
		return r;
	calls = counted ? (uint64_t)member.worker->report->value[VALUE_CALLS] : 0;
	expect_calls(observation, "worker", &member.delta,
		     (struct expected_calls){
			     .rchar = size, .syscr = calls, .wchar = size, .syscw = calls});
	observe_number(observation, "calls", member.worker->report->value[VALUE_CALLS]);
	return 1;
}

static void expect_copied(const struct bench *bench, struct observation *observation)
{
	expect_device_bytes(bench, observation, "worker", &observation->total, IO_WRITE_BYTES,
			    EXPECT_AT_LEAST, bench->payload_bytes);
}

/* A file system on top of another (overlay) makes the same call once more below. */
static void explain_twice(const struct bench *bench, struct observation *observation)
{
	if (bench->file_system.kind != FS_UNKNOWN)
		return;
	for (size_t i = 0; i < observation->n_checks; i++) {
		struct check *check = &observation->checks[i];

		if (check->state != VERDICT_NOT_MET || check->observed != 2 * check->expected)
			continue;
		check->state = VERDICT_UNDECIDABLE;
		snprintf(check->reason, sizeof(check->reason),
			 "%s of the %s is %lld, twice %lld: it seems that the call counts once in "
			 "%s, and once more in the file system below",
			 check->counter, check->subject, (long long)check->observed,
			 (long long)check->expected, bench->file_system.name);
	}
}

static int run_copy_file_range(const struct bench *bench, struct observation *observation,
			       struct why *why)
{
	int r = run_copy(bench, observation, copy_by_range, true, why);

	if (r <= 0)
		return r;
	explain_twice(bench, observation);
	/* All is shared, or all is copied; which, mkfs decides. */
	if (bench->file_system.reflink &&
	    observation->total.value[IO_WRITE_BYTES] < bench->payload_bytes)
		expect_counter(observation, "worker", &observation->total, IO_WRITE_BYTES,
			       EXPECT_AT_MOST, bench->payload_bytes / 8);
	else
		expect_copied(bench, observation);
	return 0;
}

static int run_sendfile(const struct bench *bench, struct observation *observation, struct why *why)
{
	int r = run_copy(bench, observation, copy_by_sendfile, true, why);

	if (r <= 0)
		return r;
	expect_copied(bench, observation);
	return 0;
}

static int run_splice(const struct bench *bench, struct observation *observation, struct why *why)
{
	int r = run_copy(bench, observation, copy_by_splice, false, why);

	if (r <= 0)
		return r;
	expect_copied(bench, observation);
	return 0;
}

const struct experiment copy_experiments[3] = {
	{"copy_file_range",
	 "counts as a read and a write, though the process sees no byte; where "
	 "the file system shares the blocks, write_bytes stays small",
	 run_copy_file_range},
	{"sendfile", "counts as a read and a write, though the process sees no byte", run_sendfile},
	{"splice", "moves bytes that neither rchar nor wchar knows of; write_bytes does",
	 run_splice},
};
