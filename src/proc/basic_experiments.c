/* SPDX-License-Identifier: MIT */
/*
 * What a cached read, a mapped write and the truncation of somebody else's data are booked as.
 */
#include "pair.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

enum {
	MAPPED_FILLING = 'M'
};

static const char file_name[] = "file";

static int read_file(const void *context, struct worker_report *report)
{
	_cleanup_close_ int fd = worker_open(report, file_name, O_RDONLY);

	return fd < 0 ? fd : worker_read(context, report, fd, FILLING);
}

static int run_cached_read(const struct bench *bench, struct observation *observation,
			   struct why *why)
{
	uint64_t calls = (bench->payload_bytes + READ_BYTES - 1) / READ_BYTES;
	struct member member;
	bool cached = false;
	int r = bench_make_file(bench, file_name, why);

	if (r == 0) {
		cached = bench_is_cached(bench, file_name);
		r = bench_measure(bench, observation, read_file, &member, why);
	}
	if (r <= 0)
		return r;
	/* The last call is the one that finds the end. */
	expect_calls(observation, "worker", &member.delta,
		     (struct expected_calls){.rchar = bench->payload_bytes, .syscr = calls + 1});
	expect_counter(observation, "worker", &member.delta, IO_READ_BYTES, EXPECT_EQUAL, 0);
	if (member.delta.value[IO_READ_BYTES] && !cached)
		expect_undecidable(observation, "the file had left the page cache already");
	expect_counter(observation, "worker", &member.delta, IO_WRITE_BYTES, EXPECT_EQUAL, 0);
	return 0;
}

static int write_mapping(const void *context, struct worker_report *report)
{
	const struct bench *bench = context;
	_cleanup_close_ int fd = worker_open(report, file_name, O_RDWR);
	void *map;

	if (fd < 0)
		return fd;
	map = mmap(NULL, bench->payload_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (map == MAP_FAILED)
		return worker_failed(report, -errno, "cannot map its file");
	memset(map, MAPPED_FILLING, bench->payload_bytes);
	munmap(map, bench->payload_bytes);
	return 0;
}

static int run_mapped_write(const struct bench *bench, struct observation *observation,
			    struct why *why)
{
	struct member member;
	int r = bench_make_hole(bench, file_name, why);

	if (r == 0)
		r = bench_measure(bench, observation, write_mapping, &member, why);
	if (r > 0)
		r = bench_check_file(bench, file_name, MAPPED_FILLING, why);
	if (r < 0)
		return r;
	expect_calls(observation, "worker", &member.delta, (struct expected_calls){0});
	expect_device_bytes(bench, observation, "worker", &member.delta, IO_WRITE_BYTES,
			    EXPECT_AT_LEAST, bench->payload_bytes);
	return 0;
}

static int write_dirty(const void *context, struct worker_report *report)
{
	return worker_write_file(context, report, file_name, O_RDWR, false);
}

static int write_synced(const void *context, struct worker_report *report)
{
	return worker_write_file(context, report, file_name, O_RDWR, true);
}

static int truncate_file(const void *context, struct worker_report *report)
{
	_cleanup_close_ int fd = worker_open(report, file_name, O_RDWR);

	(void)context;
	if (fd < 0)
		return fd;
	return ftruncate(fd, 0) < 0 ? worker_failed(report, -errno, "cannot truncate its file") : 0;
}

static int check_is_empty(const struct bench *bench, struct why *why)
{
	struct stat st;

	if (fstatat(bench->dir_fd, file_name, &st, 0) < 0)
		return why_errno(why, -errno, "cannot look at a file in %s", bench->dir);
	if (st.st_size != 0)
		return why_set(why, -EIO,
			       "a file in %s was truncated and has %lld bytes all the same",
			       bench->dir, (long long)st.st_size);
	return 0;
}

static int run_truncate(const struct bench *bench, struct observation *observation, bool synced,
			struct why *why)
{
	struct pair pair = {.remover_role = "truncator"};
	struct io_counters later;
	int r = bench_make_empty(bench, file_name, why);

	if (r == 0)
		r = pair_act(bench, observation, synced ? write_synced : write_dirty, truncate_file,
			     &pair, why);
	if (r == 0)
		r = pair_writer_later(bench, &pair, &later, why);
	if (r == 0)
		r = check_is_empty(bench, why);
	if (r == 0)
		r = pair_dismiss(bench, &pair, why);
	if (r < 0)
		return r;
	observe_bool(observation, "writer_fsync_before_truncate", synced);
	pair_publish(observation, &pair);
	observe_counters(observation, "writer_after_truncate", &later);
	observe_number(observation, "truncator_write_minus_cancelled_bytes",
		       (int64_t)pair.remover.delta.value[IO_WRITE_BYTES] -
			       (int64_t)pair.remover.delta.value[IO_CANCELLED_WRITE_BYTES]);
	observe_number(observation, "final_file_size_bytes", 0);
	pair_expect(bench, observation, &pair, synced);
	return 0;
}

static int run_dirty_truncate(const struct bench *bench, struct observation *observation,
			      struct why *why)
{
	return run_truncate(bench, observation, false, why);
}

static int run_synced_truncate(const struct bench *bench, struct observation *observation,
			       struct why *why)
{
	return run_truncate(bench, observation, true, why);
}

const struct experiment basic_experiments[4] = {
	{"cached_read", "reading what is cached counts in rchar, and not in read_bytes",
	 run_cached_read},
	{"mapped_write",
	 "writing to a mapping has no wchar; each page that it makes dirty is in "
	 "write_bytes",
	 run_mapped_write},
	{"dirty_truncate",
	 "write_bytes is the writer's, though nothing is ever written; "
	 "cancelled_write_bytes is the truncator's",
	 run_dirty_truncate},
	{"synced_truncate", "what is on the disk already is cancelled for nobody",
	 run_synced_truncate},
};
