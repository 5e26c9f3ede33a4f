/* SPDX-License-Identifier: MIT */
#include "stall_join.h"

#include "clock.h"

#include <string.h>

/* Both clocks of one boot drift against each other by less; a reboot takes longer. */
#define SAME_BOOT_NS (UINT64_C(100) * NS_PER_MS)

struct join {
	struct recording *recording;
	struct stall_requests **spans; /* by start */
	size_t n;
	uint64_t longest_ns;
};

static void place(const struct recording *recording, const struct stall_event *stall,
		  struct stall_requests *ret)
{
	const struct recording_info *info = recording_info(recording);
	int64_t shift_ns = 0;

	*ret = (struct stall_requests){0};
	if (stall->has_wall && info->has_real) {
		int64_t offset_ns = info->real_offset_ns;

		shift_ns = stall->wall_offset_ns - offset_ns;
		/* Of one boot: the monotonic clock is the better one. */
		if ((uint64_t)llabs(shift_ns) < SAME_BOOT_NS)
			shift_ns = 0;
		ret->by_wall = shift_ns != 0;
	}
	ret->start_ns = stall->start_ns + (uint64_t)shift_ns;
	ret->end_ns = stall->end_ns + (uint64_t)shift_ns;
	ret->is_covered = info->events && ret->start_ns <= info->last_ns &&
			  ret->end_ns >= info->start_ns && ret->end_ns >= ret->start_ns;
}

static int by_start(const void *a, const void *b)
{
	const struct stall_requests *x = *(struct stall_requests *const *)a;
	const struct stall_requests *y = *(struct stall_requests *const *)b;

	return x->start_ns < y->start_ns ? -1 : x->start_ns > y->start_ns;
}

static void add_owner(struct stall_requests *span, const struct stall_request *request)
{
	struct stall_owner *owner;
	size_t i = 0;

	while (i < span->n_owners &&
	       (span->owners[i].kind != request->owner ||
		(request->owner != OWNER_WRITEBACK && span->owners[i].pid != request->pid)))
		i++;
	if (i == STALL_OWNERS_MAX)
		return;
	owner = &span->owners[i];
	if (i == span->n_owners) {
		span->n_owners++;
		*owner = (struct stall_owner){.kind = request->owner, .pid = request->pid};
		memcpy(owner->comm, request->comm, sizeof(owner->comm));
	}
	owner->requests++;
	owner->bytes += request->bytes;
	if (request->latency_ns > owner->max_latency_ns)
		owner->max_latency_ns = request->latency_ns;
}

static void add_slowest(struct stall_requests *span, const struct stall_request *request)
{
	size_t i = span->n_slowest;

	for (; i > 0 && span->slowest[i - 1].latency_ns < request->latency_ns; i--) {
		if (i < STALL_LIST_MAX)
			span->slowest[i] = span->slowest[i - 1];
	}
	if (i == STALL_LIST_MAX)
		return;
	span->slowest[i] = *request;
	span->n_slowest += span->n_slowest < STALL_LIST_MAX;
}

static void add(struct stall_requests *span, const struct stall_request *request)
{
	span->n++;
	span->bytes += request->bytes;
	if (request->latency_ns > span->max_latency_ns)
		span->max_latency_ns = request->latency_ns;
	add_owner(span, request);
	add_slowest(span, request);
}

static void fill(const struct join *join, const struct track_io *io, struct stall_request *ret)
{
	const char *comm = recording_comm(join->recording, io->tag, io->owner.pid, io->owner.cpu,
					  io->owner.time_ns);

	ret->owner = owner_kind(io, comm);
	ret->pid = io->owner.pid;
	snprintf(ret->comm, sizeof(ret->comm), "%.*s", NAMES_COMM_BYTES, comm ? comm : "");
}

/* A request or bio that is over, or (@completed_ns 0) was in flight up to @end_ns. */
static void take(struct join *join, const struct track_io *io, uint64_t end_ns,
		 uint64_t completed_ns)
{
	struct stall_request request = {
		.tag = io->tag,
		.device = io->device,
		.operation = io->operation,
		.sector = io->sector,
		.bytes = io->bytes,
		.queued_ns = io->times.queued_ns,
		.issued_ns = io->times.issued_ns,
		.completed_ns = completed_ns,
		.touched = io->touched,
	};
	uint64_t from_ns = request.queued_ns ? request.queued_ns : request.issued_ns;
	bool is_filled = false;
	size_t low = 0, high = join->n;

	if (!from_ns || end_ns <= from_ns)
		return;
	request.latency_ns = end_ns - from_ns;
	/* Behind the last span that begins before its end. */
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (join->spans[middle]->start_ns < end_ns)
			low = middle + 1;
		else
			high = middle;
	}
	while (low-- > 0 && join->spans[low]->start_ns + join->longest_ns > from_ns) {
		if (join->spans[low]->end_ns <= from_ns)
			continue;
		if (!is_filled)
			fill(join, io, &request);
		is_filled = true;
		add(join->spans[low], &request);
	}
}

static int request_done(void *context, const struct track_io *request)
{
	take(context, request, request->times.completed_ns, request->times.completed_ns);
	return 0;
}

/* Those with an issue come as requests. */
static int io_done(void *context, const struct track_io *io)
{
	if (!io->times.issued_ns && (io->operation != OPERATION_FLUSH || io->bio_based))
		take(context, io, io->times.completed_ns, io->times.completed_ns);
	return 0;
}

static int request_ended(void *context, const struct track_io *request, enum track_end end)
{
	struct join *join = context;

	if (end == TRACK_END_IN_FLIGHT)
		take(join, request, recording_info(join->recording)->last_ns, 0);
	return 0;
}

static const struct track_ops ops = {
	.request = request_done,
	.io = io_done,
	.request_ended = request_ended,
};

static int by_bytes(const void *a, const void *b)
{
	const struct stall_owner *x = a, *y = b;

	return x->bytes > y->bytes ? -1 : x->bytes < y->bytes;
}

static int follow(struct join *join, struct why *why)
{
	_cleanup_(cleanup_track_destroy) struct track *track = NULL;
	const struct recording_loss *losses;
	size_t n_losses = recording_losses(join->recording, &losses);
	struct merge_item item;
	int r = track_create(&ops, join, &track);

	if (r == 0)
		r = track_set_losses(track, losses, n_losses);
	if (r < 0)
		return why_set(why, r, "no memory");
	while ((r = recording_next(join->recording, &item, why)) > 0) {
		if (track_event(track, &item) < 0)
			return why_set(why, -ENOMEM, "no memory");
	}
	if (r == 0 && track_finish(track) < 0)
		r = why_set(why, -ENOMEM, "no memory");
	return r;
}

int stall_join(struct recording *recording, const struct stall_event *stalls, size_t n,
	       struct stall_requests *ret, struct why *why)
{
	_cleanup_free_ struct stall_requests **spans =
		calloc(n ? n : 1, sizeof(struct stall_requests *));
	struct join join = {.recording = recording, .spans = spans};
	int r;

	if (!spans)
		return why_set(why, -ENOMEM, "no memory");
	for (size_t i = 0; i < n; i++) {
		uint64_t length_ns = stalls[i].end_ns - stalls[i].start_ns;

		place(recording, &stalls[i], &ret[i]);
		if (!ret[i].is_covered)
			continue;
		spans[join.n++] = &ret[i];
		if (length_ns > join.longest_ns)
			join.longest_ns = length_ns;
	}
	if (!join.n)
		return 0;
	qsort(spans, join.n, sizeof(struct stall_requests *), by_start);
	r = follow(&join, why);
	for (size_t i = 0; i < n; i++)
		qsort(ret[i].owners, ret[i].n_owners, sizeof(ret[i].owners[0]), by_bytes);
	return r;
}
