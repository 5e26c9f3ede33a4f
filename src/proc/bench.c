/* SPDX-License-Identifier: MIT */
#include "bench.h"

#include "clock.h"
#include "out.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

int bench_begin(const struct bench *bench, struct observation *observation, struct why *why)
{
	int r = watch_check(bench->crew->watch, why);

	if (r < 0)
		return r;
	if (bench->write_back && syncfs(bench->dir_fd) < 0)
		return why_errno(why, -errno, "cannot write back %s", bench->dir);
	observation->from_ns = clock_mono_ns();
	return 0;
}

int bench_end(const struct bench *bench, struct observation *observation, struct why *why)
{
	if (bench->write_back && syncfs(bench->dir_fd) < 0)
		return why_errno(why, -errno, "cannot write back %s", bench->dir);
	observation->to_ns = clock_mono_ns();
	return 0;
}

int bench_hire(const struct bench *bench, struct observation *observation, const char *role,
	       worker_action action, struct member *ret, struct why *why)
{
	int r = crew_hire(bench->crew, action, bench, &ret->worker, why);

	if (r < 0)
		return r;
	observe_task(observation, ret->worker->pid, role);
	return io_counters_read(bench->proc_fd, ret->worker->pid, 0, &ret->before, why);
}

int bench_act(const struct bench *bench, struct member *member, struct why *why)
{
	int r = crew_resume(bench->crew, member->worker, why);

	if (r == 0)
		r = io_counters_read(bench->proc_fd, member->worker->pid, 0, &member->after, why);
	if (r == 0)
		r = io_counters_subtract(&member->after, &member->before, &member->delta, why);
	return r;
}

bool bench_is_refused(const struct bench *bench, struct observation *observation,
		      const struct member *member)
{
	const struct worker_report *report = member->worker->report;

	if (report->refused)
		observation_skip(observation, "%s (%s): %s", report->what, bench->file_system.name,
				 report->refused == -ENODATA ? "the call moves no byte"
							     : strerror(-report->refused));
	return report->refused;
}

int bench_measure(const struct bench *bench, struct observation *observation, worker_action action,
		  struct member *ret, struct why *why)
{
	int r = bench_hire(bench, observation, "worker", action, ret, why);

	if (r == 0)
		r = bench_begin(bench, observation, why);
	if (r == 0)
		r = bench_act(bench, ret, why);
	if (r == 0)
		r = crew_dismiss(bench->crew, ret->worker, why);
	if (r == 0)
		r = bench_end(bench, observation, why);
	if (r < 0)
		return r;
	if (bench_is_refused(bench, observation, ret))
		return 0;
	observe_measure(observation, NULL, &ret->before, &ret->after, &ret->delta);
	observe_total(observation, &ret->delta);
	return 1;
}

/* Creates it; fills, or stretches it; writes it back. */
static int make(const struct bench *bench, const char *name, bool fill, size_t size,
		struct why *why)
{
	_cleanup_close_ int fd =
		openat(bench->dir_fd, name, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);
	int r = watch_check(bench->crew->watch, why);

	if (r < 0)
		return r;
	if (fd < 0)
		r = -errno;
	else if (fill)
		r = write_all(fd, bench->payload, size, NULL);
	else if (ftruncate(fd, (off_t)size) < 0)
		r = -errno;
	if (r == 0 && size && fsync(fd) < 0)
		r = -errno;
	return r < 0 ? why_errno(why, r, "cannot make the file %s in %s", name, bench->dir) : 0;
}

int bench_make_file(const struct bench *bench, const char *name, struct why *why)
{
	return make(bench, name, true, bench->payload_bytes, why);
}

int bench_make_hole(const struct bench *bench, const char *name, struct why *why)
{
	return make(bench, name, false, bench->payload_bytes, why);
}

int bench_make_empty(const struct bench *bench, const char *name, struct why *why)
{
	return make(bench, name, false, 0, why);
}

bool bench_is_cached(const struct bench *bench, const char *name)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE), n = (bench->payload_bytes + page - 1) / page;
	_cleanup_close_ int fd = openat(bench->dir_fd, name, O_RDWR | O_CLOEXEC);
	_cleanup_free_ unsigned char *resident = calloc(n, 1);
	void *map = MAP_FAILED;
	bool cached;

	if (fd >= 0 && resident)
		map = mmap(NULL, bench->payload_bytes, PROT_READ, MAP_SHARED, fd, 0);
	if (map == MAP_FAILED)
		return false;
	cached = mincore(map, bench->payload_bytes, resident) == 0;
	for (size_t i = 0; i < n; i++)
		cached = cached && resident[i] & 1;
	munmap(map, bench->payload_bytes);
	return cached;
}

/* 0; -EBADMSG: there is something else in it. */
static int compare(int fd, size_t size, char filling)
{
	char piece[READ_BYTES];
	size_t done = 0;
	ssize_t n;

	while ((n = read(fd, piece, sizeof(piece))) != 0) {
		if (n < 0)
			return -errno;
		for (ssize_t i = 0; i < n; i++) {
			if (piece[i] != filling)
				return -EBADMSG;
		}
		done += (size_t)n;
	}
	return done == size ? 0 : -EBADMSG;
}

int bench_check_file(const struct bench *bench, const char *name, char filling, struct why *why)
{
	_cleanup_close_ int fd = openat(bench->dir_fd, name, O_RDONLY | O_CLOEXEC);
	int r = fd < 0 ? -errno : compare(fd, bench->payload_bytes, filling);

	return r < 0 ? why_errno(why, r, "the file %s in %s is not as it was written", name,
				 bench->dir)
		     : 0;
}

void expect_device_bytes(const struct bench *bench, struct observation *observation,
			 const char *subject, const struct io_counters *delta,
			 enum io_counter counter, enum relation relation, uint64_t expected)
{
	const struct file_system *fs = &bench->file_system;

	if (fs->kind == FS_MEMORY) {
		expect_counter(observation, subject, delta, counter, EXPECT_EQUAL, 0);
		return;
	}
	expect_counter(observation, subject, delta, counter, relation, expected);
	if (fs->kind == FS_UNKNOWN &&
	    observation->checks[observation->n_checks - 1].state != VERDICT_MET)
		expect_undecidable(observation,
				   "%s of the %s depends on what is below the file system (%s)",
				   io_counter_name(counter), subject, fs->name);
}

void expect_calls(struct observation *observation, const char *subject,
		  const struct io_counters *delta, struct expected_calls expected)
{
	expect_counter(observation, subject, delta, IO_RCHAR, EXPECT_EQUAL, expected.rchar);
	expect_counter(observation, subject, delta, IO_SYSCR, EXPECT_EQUAL, expected.syscr);
	expect_counter(observation, subject, delta, IO_WCHAR, EXPECT_EQUAL, expected.wchar);
	expect_counter(observation, subject, delta, IO_SYSCW, EXPECT_EQUAL, expected.syscw);
}

int worker_open(struct worker_report *report, const char *name, int flags)
{
	int fd = openat(WORKER_FD, name, flags | O_CLOEXEC, 0600);

	return fd < 0 ? worker_failed(report, -errno, "cannot open its file") : fd;
}

int worker_read(const struct bench *bench, struct worker_report *report, int fd, char filling)
{
	int r = compare(fd, bench->payload_bytes, filling);

	return r < 0 ? worker_failed(report, r, "cannot read back what was written") : 0;
}

int worker_write(const struct bench *bench, struct worker_report *report, int fd)
{
	int r = write_all(fd, bench->payload, bench->payload_bytes, NULL);

	return r < 0 ? worker_failed(report, r, "cannot write its file") : 0;
}

int worker_write_file(const struct bench *bench, struct worker_report *report, const char *name,
		      int flags, bool sync)
{
	_cleanup_close_ int fd = worker_open(report, name, flags);
	int r = fd < 0 ? fd : worker_write(bench, report, fd);

	if (r == 0 && sync && fsync(fd) < 0)
		return worker_failed(report, -errno, "cannot write back its file");
	return r;
}
