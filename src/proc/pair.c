/* SPDX-License-Identifier: MIT */
#include "pair.h"

#include <string.h>

int pair_act(const struct bench *bench, struct observation *observation, worker_action write,
	     worker_action take_away, struct pair *pair, struct why *why)
{
	int r = bench_hire(bench, observation, "writer", write, &pair->writer, why);

	if (r == 0)
		r = bench_begin(bench, observation, why);
	if (r == 0)
		r = bench_act(bench, &pair->writer, why);
	if (r == 0)
		r = bench_hire(bench, observation, pair->remover_role, take_away, &pair->remover,
			       why);
	if (r == 0)
		r = bench_act(bench, &pair->remover, why);
	return r;
}

int pair_writer_later(const struct bench *bench, const struct pair *pair, struct io_counters *ret,
		      struct why *why)
{
	int r = io_counters_read(bench->proc_fd, pair->writer.worker->pid, 0, ret, why);

	if (r < 0)
		return r;
	if (memcmp(ret, &pair->writer.after, sizeof(*ret)) != 0)
		return why_set(why, -EIO, "the counters of a stopped process changed");
	return 0;
}

int pair_dismiss(const struct bench *bench, struct pair *pair, struct why *why)
{
	int r = crew_dismiss(bench->crew, pair->remover.worker, why);

	return r < 0 ? r : crew_dismiss(bench->crew, pair->writer.worker, why);
}

void pair_publish(struct observation *observation, const struct pair *pair)
{
	observe_measure(observation, "writer", &pair->writer.before, &pair->writer.after,
			&pair->writer.delta);
	observe_measure(observation, pair->remover_role, &pair->remover.before,
			&pair->remover.after, &pair->remover.delta);
	observe_total(observation, &pair->writer.delta);
	observe_total(observation, &pair->remover.delta);
}

void pair_expect(const struct bench *bench, struct observation *observation,
		 const struct pair *pair, bool synced)
{
	const struct io_counters *writer = &pair->writer.delta, *remover = &pair->remover.delta;
	uint64_t cancelled = remover->value[IO_CANCELLED_WRITE_BYTES];
	uint64_t size = bench->payload_bytes;

	expect_calls(observation, "writer", writer,
		     (struct expected_calls){.wchar = size, .syscw = 1});
	expect_device_bytes(bench, observation, "writer", writer, IO_WRITE_BYTES, EXPECT_AT_LEAST,
			    size);
	expect_counter(observation, "writer", writer, IO_CANCELLED_WRITE_BYTES, EXPECT_EQUAL, 0);
	expect_calls(observation, pair->remover_role, remover, (struct expected_calls){0});
	if (synced) {
		expect_counter(observation, pair->remover_role, remover, IO_CANCELLED_WRITE_BYTES,
			       EXPECT_EQUAL, 0);
		return;
	}
	expect_device_bytes(bench, observation, pair->remover_role, remover,
			    IO_CANCELLED_WRITE_BYTES, EXPECT_AT_LEAST, size);
	if (bench->file_system.kind == FS_DEVICE && cancelled < size)
		expect_undecidable(
			observation,
			"%llu of %llu bytes were not cancelled: either they were written "
			"back before, or it is not counted (--device-truth tells)",
			(unsigned long long)(size - cancelled), (unsigned long long)size);
}

void pair_settle(struct observation *observation, uint64_t written_bytes)
{
	for (size_t i = 0; i < observation->n_checks; i++) {
		struct check *check = &observation->checks[i];

		if (check->state != VERDICT_UNDECIDABLE ||
		    check->counter != io_counter_name(IO_CANCELLED_WRITE_BYTES) ||
		    written_bytes >= (uint64_t)(check->expected - check->observed))
			continue;
		check->state = VERDICT_NOT_MET;
		snprintf(check->reason, sizeof(check->reason),
			 "%lld bytes were cancelled, and the device wrote no more than %llu: that "
			 "the others were thrown away is not counted here",
			 (long long)check->observed, (unsigned long long)written_bytes);
	}
}
