/* SPDX-License-Identifier: MIT */
/*
 * A cgroup's io.stat beside the sum of its tasks.
 */
#include "bench.h"
#include "cgroup.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

static const char direct_name[] = "direct", buffered_name[] = "buffered";

static int write_direct(const void *context, struct worker_report *report)
{
	return worker_write_file(context, report, direct_name, O_WRONLY | O_DIRECT, false);
}

/* A file's writeback is booked on the cgroup that made it dirty first: it is made here, too. */
static int write_buffered(const void *context, struct worker_report *report)
{
	return worker_write_file(context, report, buffered_name, O_CREAT | O_EXCL | O_WRONLY, true);
}

/* Both write in the cgroup. */
static int measure(const struct bench *bench, struct observation *observation,
		   struct member *direct, struct member *buffered, struct cgroup_io *ret,
		   struct why *why)
{
	struct cgroup_io before = {0}, after = {0};
	int r = bench_make_file(bench, direct_name, why);

	if (r == 0)
		r = bench_hire(bench, observation, "direct writer", write_direct, direct, why);
	if (r == 0)
		r = cgroup_add(bench->cgroup, direct->worker->pid, why);
	if (r == 0)
		r = bench_hire(bench, observation, "buffered writer", write_buffered, buffered,
			       why);
	if (r == 0)
		r = cgroup_add(bench->cgroup, buffered->worker->pid, why);
	if (r == 0)
		r = bench_begin(bench, observation, why);
	if (r == 0)
		r = cgroup_io_read(bench->cgroup, &before, why);
	if (r == 0)
		r = bench_act(bench, direct, why);
	if (r == 0)
		r = bench_act(bench, buffered, why);
	if (r == 0)
		r = cgroup_io_read(bench->cgroup, &after, why);
	if (r == 0)
		r = crew_dismiss(bench->crew, direct->worker, why);
	if (r == 0)
		r = crew_dismiss(bench->crew, buffered->worker, why);
	ret->read_bytes = after.read_bytes - before.read_bytes;
	ret->write_bytes = after.write_bytes - before.write_bytes;
	return r;
}

static void publish(const struct bench *bench, struct observation *observation,
		    const struct member *direct, const struct member *buffered,
		    const struct cgroup_io *io)
{
	bool has_memory = cgroup_has(bench->cgroup, "memory");
	uint64_t size = bench->payload_bytes;

	observe_measure(observation, "direct_writer", &direct->before, &direct->after,
			&direct->delta);
	observe_measure(observation, "buffered_writer", &buffered->before, &buffered->after,
			&buffered->delta);
	observe_total(observation, &direct->delta);
	observe_total(observation, &buffered->delta);
	observe_number(observation, "tasks_write_bytes",
		       (int64_t)observation->total.value[IO_WRITE_BYTES]);
	observe_number(observation, "cgroup_write_bytes", (int64_t)io->write_bytes);
	observe_number(observation, "cgroup_read_bytes", (int64_t)io->read_bytes);
	observe_bool(observation, "cgroup_has_memory_controller", has_memory);
	expect_counter(observation, "tasks together", &observation->total, IO_WRITE_BYTES,
		       EXPECT_AT_LEAST, 2 * size);
	expect_figure(observation, "cgroup", "io.stat wbytes", EXPECT_AT_LEAST, (int64_t)size,
		      (int64_t)io->write_bytes);
	expect_figure(observation, "cgroup with writeback", "io.stat wbytes", EXPECT_AT_LEAST,
		      (int64_t)(2 * size), (int64_t)io->write_bytes);
	if (io->write_bytes >= 2 * size)
		return;
	if (!has_memory)
		expect_undecidable(observation, "the cgroup has no memory controller, without "
						"which writeback is its parent's");
	else if (!bench->file_system.books_writeback)
		expect_undecidable(observation,
				   "%s does not book all of its writeback on the cgroup that made "
				   "the pages dirty",
				   bench->file_system.name);
}

static int run_cgroup(const struct bench *bench, struct observation *observation, struct why *why)
{
	struct member direct, buffered;
	struct cgroup_io io;
	int r;

	if (!bench->cgroup) {
		observation_skip(observation, "%s", bench->cgroup_reason);
		return 0;
	}
	if (bench->file_system.kind != FS_DEVICE) {
		observation_skip(observation,
				 "on %s, no device is known that io.stat could tell of",
				 bench->file_system.name);
		return 0;
	}
	if (mkdir(bench->cgroup, 0700) < 0) {
		observation_skip(observation, "no cgroup can be made: %s", strerror(errno));
		return 0;
	}
	r = measure(bench, observation, &direct, &buffered, &io, why);
	if (r == 0)
		publish(bench, observation, &direct, &buffered, &io);
	/* With workers in it after a failure, it goes when they do. */
	if (r == 0)
		cgroup_remove(bench->cgroup);
	return r;
}

const struct experiment cgroup_experiments[1] = {
	{"cgroup_io",
	 "a cgroup's io.stat counts what its tasks have written to devices, metadata "
	 "included; what they made dirty counts there when it is written back",
	 run_cgroup},
};
