/* SPDX-License-Identifier: MIT */
#include "track_run.h"

static int queued(void *context, struct track_io *io)
{
	struct run *run = context;

	run->n_queued++;
	run->queued_bytes += io->bytes;
	return 0;
}

static int issued(void *context, const struct track_io *request, bool again)
{
	struct run *run = context;

	run->issued_bytes += again ? 0 : request->bytes;
	return 0;
}

static int merged(void *context, const struct track_io *piece)
{
	struct run *run = context;

	(void)piece;
	run->n_merged++;
	return 0;
}

static int requeued(void *context, const struct track_io *request)
{
	struct run *run = context;

	run->n_requeued++;
	run->requeued_done_bytes += request->done_bytes;
	return 0;
}

static int piece(void *context, struct track_io *one)
{
	struct run *run = context;

	cr_assert_lt(run->n_pieces, RUN_MAX);
	run->pieces[run->n_pieces++] = *one;
	return 0;
}

static int request(void *context, const struct track_io *one)
{
	struct run *run = context;

	cr_assert_lt(run->n_requests, RUN_MAX);
	run->requests[run->n_requests++] = *one;
	return 0;
}

static int io(void *context, const struct track_io *one)
{
	struct run *run = context;

	cr_assert_lt(run->n_ios, RUN_MAX);
	run->ios[run->n_ios++] = *one;
	return 0;
}

static int ended(void *context, const struct track_io *one, enum track_end end)
{
	struct run *run = context;

	cr_assert_lt(run->n_ended, RUN_MAX);
	run->ends[run->n_ended] = end;
	run->ended[run->n_ended++] = *one;
	return 0;
}

static int request_ended(void *context, const struct track_io *one, enum track_end end)
{
	struct run *run = context;

	(void)one;
	(void)end;
	run->n_requests_ended++;
	return 0;
}

static int stray(void *context, const struct merge_item *item, enum track_stray kind)
{
	struct run *run = context;

	(void)item;
	run->n_strays[kind]++;
	return 0;
}

static const struct track_ops ops = {
	.queued = queued,
	.issued = issued,
	.merged = merged,
	.requeued = requeued,
	.piece = piece,
	.request = request,
	.io = io,
	.ended = ended,
	.request_ended = request_ended,
	.stray = stray,
};

void run_paths(struct run *run, char *const *paths, size_t n)
{
	static const struct stats_options options = {.slowest = 10, .failed = 3};
	struct track *track = NULL;
	struct merge_item item;

	cr_assert_eq(recording_open(paths, n, &run->recording, NULL), 0);
	cr_assert_eq(stats_create(&options, run->recording, &run->stats), 0);
	cr_assert_eq(track_create(&ops, run, &track), 0);
	cr_assert_eq(track_set_losses(track, run->losses, run->n_losses), 0);
	while (recording_next(run->recording, &item, NULL) == 1) {
		cr_assert_eq(track_event(track, &item), 0);
		cr_assert_eq(stats_event(run->stats, &item), 0);
	}
	cr_assert_eq(track_finish(track), 0);
	cr_assert_eq(stats_finish(run->stats), 0);
	track_destroy(track);
	run->result = stats_result(run->stats);
}

void run_set(struct run *run)
{
	char *path = (char *)test_path("in");

	run_paths(run, &path, 1);
}

void run_trace(struct run *run)
{
	trace_file(&run->t, "in");
	run_set(run);
}

void run_free(struct run *run)
{
	stats_destroy(run->stats);
	recording_close(run->recording);
	trace_free(&run->t);
	test_dir_remove();
}

const struct stats_group *run_operation(const struct run *run, enum operation operation)
{
	cr_assert_geq(run->result->n_devices, 1);
	cr_assert_not_null(run->result->devices[0].operations[operation]);
	return run->result->devices[0].operations[operation];
}

uint64_t run_n(const struct stats_group *group, enum stats_stage stage)
{
	return group->stages[stage] ? group->stages[stage]->n : 0;
}
