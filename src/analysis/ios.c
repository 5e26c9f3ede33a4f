/* SPDX-License-Identifier: MIT */
#include "ios.h"

#include "track.h"

struct ios {
	struct track *track;
	struct io *done; /* where the next one goes; NULL = none is expected */
	bool has_done;
	uint64_t lost_issues;
	uint64_t lost_completions;
	uint64_t inverted;
	uint64_t in_flight;
};

static int take(struct ios *ios, const struct track_io *from)
{
	ios->inverted += from->inverted;
	ios->has_done = true;
	*ios->done = (struct io){
		.tag = from->tag,
		.device = from->device,
		.sector = from->sector == UINT64_MAX ? 0 : from->sector,
		.bytes = (uint32_t)from->bytes,
		.categories = from->categories,
		.operation = from->operation,
		.pid = from->owner.pid,
		.cpu = from->owner.cpu,
		.cgroup_id = from->owner.cgroup_id,
		.queued_ns = from->times.queued_ns,
		.issued_ns = from->times.issued_ns,
		.completed_ns = from->times.completed_ns,
		.error = from->error,
		.requeues = from->requeues,
	};
	return 0;
}

static int issued(void *context, const struct track_io *request, bool again)
{
	struct ios *ios = context;

	(void)again;
	ios->in_flight += request->operation != OPERATION_PASSTHROUGH;
	return 0;
}

static int requeued(void *context, const struct track_io *request)
{
	struct ios *ios = context;

	ios->in_flight -= request->operation != OPERATION_PASSTHROUGH;
	return 0;
}

static int request(void *context, const struct track_io *request)
{
	struct ios *ios = context;

	if (request->operation == OPERATION_PASSTHROUGH)
		return 0;
	ios->in_flight--;
	return take(context, request);
}

/* Those with an issue come as requests. */
static int io(void *context, const struct track_io *io)
{
	if (io->times.issued_ns || (io->operation == OPERATION_FLUSH && !io->bio_based))
		return 0;
	return take(context, io);
}

static int request_ended(void *context, const struct track_io *request, enum track_end end)
{
	struct ios *ios = context;

	if (request->operation == OPERATION_PASSTHROUGH)
		return 0;
	ios->in_flight--;
	ios->lost_issues += end != TRACK_END_IN_FLIGHT;
	return 0;
}

static int stray(void *context, const struct merge_item *item, enum track_stray stray)
{
	struct ios *ios = context;

	if (!(item->event.categories & BLKBOX_CAT_PC))
		ios->lost_completions += stray != TRACK_STRAY_FLUSH;
	return 0;
}

static const struct track_ops ops = {
	.issued = issued,
	.requeued = requeued,
	.request = request,
	.io = io,
	.request_ended = request_ended,
	.stray = stray,
};

int ios_create(struct ios **ret)
{
	struct ios *ios = calloc(1, sizeof(*ios));

	if (!ios)
		return -ENOMEM;
	if (track_create(&ops, ios, &ios->track) < 0) {
		free(ios);
		return -ENOMEM;
	}
	*ret = ios;
	return 0;
}

void ios_destroy(struct ios *ios)
{
	if (!ios)
		return;
	track_destroy(ios->track);
	free(ios);
}

int ios_event(struct ios *ios, const struct merge_item *item, struct io *ret)
{
	int r;

	ios->done = ret;
	ios->has_done = false;
	r = track_event(ios->track, item);
	return r < 0 ? r : ios->has_done;
}

uint64_t ios_depth(const struct ios *ios, uint32_t tag, uint32_t device)
{
	return track_depth(ios->track, tag, device).issued;
}

void ios_unmatched(struct ios *ios, uint64_t *ret_issues, uint64_t *ret_completions)
{
	track_settle(ios->track);
	*ret_issues = ios->lost_issues;
	*ret_completions = ios->lost_completions;
}

uint64_t ios_in_flight(const struct ios *ios)
{
	return ios->in_flight;
}

uint64_t ios_inverted(const struct ios *ios)
{
	return ios->inverted;
}
