/* SPDX-License-Identifier: MIT */
/* What each thing that track tells adds to the figures. */
#include "filter_io.h"
#include "stats_private.h"

#include <string.h>

static bool passes(const struct stats *stats, const struct track_io *io)
{
	return !stats->options.filter ||
	       filter_passes_io(stats->options.filter, stats->recording, io);
}

/* None in @ret->all: filtered out. */
static int find_counts(struct stats *stats, const struct track_io *io, struct counts *ret)
{
	*ret = (struct counts){0};
	return passes(stats, io) ? counts_of(stats, io, ret) : 0;
}

/* The same, and it is faster the next time. */
static int mark_counts(struct stats *stats, struct track_io *io, struct counts *ret)
{
	*ret = (struct counts){0};
	if (!passes(stats, io))
		return 0;
	return kind_mark(stats, io) < 0 ? -ENOMEM : counts_of(stats, io, ret);
}

/* Requests count in their device and operation only. NULL in @ret: filtered out. */
static int find_operation(struct stats *stats, const struct track_io *io, struct stats_group **ret)
{
	*ret = NULL;
	if (!passes(stats, io))
		return 0;
	*ret = operation_group(stats, io);
	return *ret ? 0 : -ENOMEM;
}

static bool has_place(const struct track_io *io)
{
	return io->bytes && io->sector != UINT64_MAX;
}

static int q2q(const struct stats *stats, struct stats_group *group, uint64_t now_ns,
	       const struct stats_device *device)
{
	uint64_t last_ns = group->last_queue_ns;

	group->last_queue_ns = now_ns;
	if (!last_ns || !is_trusted(stats, device, last_ns))
		return 0;
	return group_sample(group, STAGE_Q2Q, last_ns, now_ns);
}

static int queued(void *context, struct track_io *io)
{
	struct stats *stats = context;
	struct stats_device *device = device_of(stats, io->tag, io->device);
	struct counts counts;
	int r = mark_counts(stats, io, &counts);

	if (!counts.n)
		return r;
	for (size_t i = 0; i < counts.n; i++) {
		counts.all[i]->queued++;
		counts.all[i]->queued_bytes += io->bytes;
	}
	series_queued(&device->series, io->times.queued_ns);
	r = q2q(stats, counts.own, io->times.queued_ns, device);
	if (r == 0)
		r = q2q(stats, &device->all, io->times.queued_ns, device);
	if (r == 0 && has_place(io))
		r = seek_add(&device->queue_seek, io->sector, io->bytes);
	return r;
}

static int issued(void *context, const struct track_io *request, bool again)
{
	struct stats *stats = context;
	struct stats_device *device = device_of(stats, request->tag, request->device);
	struct stats_group *group;
	int r = find_operation(stats, request, &group);

	if (!group || again)
		return r;
	group->issued++;
	group->issued_bytes += request->bytes;
	return has_place(request) ? seek_add(&device->issue_seek, request->sector, request->bytes)
				  : 0;
}

static int merged(void *context, const struct track_io *piece)
{
	struct counts counts;
	int r = find_counts(context, piece, &counts);

	for (size_t i = 0; i < counts.n; i++) {
		counts.all[i]->merges[piece->merge]++;
		counts.all[i]->merged_bytes += piece->merge == TRACK_REQUEST ? 0 : piece->bytes;
	}
	return r;
}

static int split(void *context, const struct track_io *io)
{
	struct counts counts;
	int r = find_counts(context, io, &counts);

	for (size_t i = 0; i < counts.n; i++)
		counts.all[i]->splits++;
	return r;
}

static int requeued(void *context, const struct track_io *request)
{
	struct stats_group *group;
	int r = find_operation(context, request, &group);

	if (group)
		group->requeues++;
	return r;
}

/* Its times are those of a life that nothing bent. */
static bool is_measured(const struct stats *stats, const struct track_io *io)
{
	return !io->error && !io->inverted && (!io->touched || stats->options.with_losses);
}

static int add_stages(struct stats_group *group, const struct track_times *t, uint64_t data_ns)
{
	int r = group_sample(group, STAGE_Q2A, t->remapped_from_ns, t->remapped_ns);

	if (r == 0)
		r = group_sample(group, STAGE_Q2G, t->queued_ns, t->getrq_ns);
	if (r == 0)
		r = group_sample(group, STAGE_Q2M, t->queued_ns, t->merged_ns);
	if (r == 0)
		r = group_sample(group, STAGE_M2D, t->merged_ns, t->first_issued_ns);
	if (r == 0)
		r = group_sample(group, STAGE_G2I, t->getrq_ns, t->inserted_ns);
	if (r == 0)
		r = group_sample(group, STAGE_I2D, t->inserted_ns, t->first_issued_ns);
	if (r == 0 && !t->inserted_ns && !t->merged_ns)
		r = group_sample(group, STAGE_G2D, t->getrq_ns, t->first_issued_ns);
	return r < 0 ? r : group_sample(group, STAGE_FIRST_D2C, t->first_issued_ns, data_ns);
}

static int piece(void *context, struct track_io *piece)
{
	struct stats *stats = context;
	const struct track_times *t = &piece->times;
	/* The device's part ends with the data; a flush behind it is the block layer's. */
	uint64_t data_ns = t->data_completed_ns ? t->data_completed_ns : t->completed_ns;
	struct counts counts;
	int r;

	if (!is_measured(stats, piece))
		return 0;
	r = mark_counts(stats, piece, &counts);
	if (!counts.n)
		return r;
	for (size_t i = 0; i < counts.n && r == 0; i++) {
		r = group_sample(counts.all[i], STAGE_Q2D, t->queued_ns, t->issued_ns);
		if (r == 0)
			r = group_sample(counts.all[i], STAGE_D2C, t->issued_ns, data_ns);
		if (t->issued_ns)
			counts.all[i]->log2_us[1][stats_log2_row(data_ns - t->issued_ns)]++;
	}
	if (r == 0)
		r = add_stages(counts.own, t, data_ns);
	if (r == 0 && t->issued_ns && piece->operation != OPERATION_PASSTHROUGH)
		series_latency(&device_of(stats, piece->tag, piece->device)->series, 1, data_ns,
			       data_ns - t->issued_ns);
	return r;
}

static int request(void *context, const struct track_io *request)
{
	struct stats *stats = context;
	struct stats_group *group;
	int r = find_operation(stats, request, &group);

	if (!group)
		return r;
	group->requests++;
	group->request_bytes += request->bytes;
	if (!is_measured(stats, request))
		return 0;
	return group_sample(group, STAGE_REQUEST_D2C, request->times.issued_ns,
			    request->times.completed_ns);
}

/* From moment to moment; the sum is the whole. */
static void add_share(struct stats_group *group, const struct track_times *t)
{
	uint64_t *share = group->share_ns;
	uint64_t data_ns = t->data_completed_ns ? t->data_completed_ns : t->completed_ns;

	group->share_ios++;
	share[SHARE_FLUSH] += t->completed_ns - data_ns;
	if (!t->issued_ns) {
		share[SHARE_Q2C] += data_ns - t->queued_ns;
		return;
	}
	if (t->merged_ns) {
		share[SHARE_Q2M] += t->merged_ns - t->queued_ns;
		share[SHARE_M2D] += t->first_issued_ns - t->merged_ns;
	} else if (t->getrq_ns && t->inserted_ns) {
		share[SHARE_Q2G] += t->getrq_ns - t->queued_ns;
		share[SHARE_G2I] += t->inserted_ns - t->getrq_ns;
		share[SHARE_I2D] += t->first_issued_ns - t->inserted_ns;
	} else if (t->getrq_ns) {
		share[SHARE_Q2G] += t->getrq_ns - t->queued_ns;
		share[SHARE_G2D] += t->first_issued_ns - t->getrq_ns;
	} else {
		share[SHARE_Q2D] += t->first_issued_ns - t->queued_ns;
	}
	share[SHARE_REQUEUE] += t->issued_ns - t->first_issued_ns;
	share[SHARE_D2C] += data_ns - t->issued_ns;
}

/* Devices that were traced together can be in inputs of their own. */
static const struct stats_device *device_above(const struct stats *stats, const struct track_io *io,
					       unsigned level)
{
	const struct stats_device *found = NULL;

	for (size_t i = 0; i < stats->result.n_devices; i++) {
		const struct stats_device *device = &stats->result.devices[i];

		if (device->device == io->levels[level].device &&
		    (!found || device->tag == io->tag))
			found = device;
	}
	return found;
}

static struct stats_io told(const struct stats *stats, const struct track_io *io, uint64_t end_ns)
{
	uint64_t begin_ns = track_io_begin_ns(io) ? track_io_begin_ns(io) : end_ns;
	struct stats_io told = {.io = *io, .latency_ns = end_ns > begin_ns ? end_ns - begin_ns : 0};
	const char *comm;

	told.owner = owner_of(stats, io, &comm);
	if (comm)
		memcpy(told.comm, comm, strnlen(comm, NAMES_COMM_BYTES));
	return told;
}

const struct stats_device *told_above(const struct stats *stats, const struct track_io *io)
{
	for (unsigned i = 0; io->times.remapped_from_ns && i < io->n_levels; i++) {
		const struct stats_device *device = device_above(stats, io, i);
		struct track_io above = *io;

		if (!device)
			continue;
		above.tag = device->tag;
		above.device = device->device;
		above.sector = io->levels[i].sector;
		above.times.queued_ns = io->times.remapped_from_ns;
		return passes(stats, &above) ? device : NULL;
	}
	return NULL;
}

static void add_slow(struct stats *stats, const struct track_io *io, uint64_t latency_ns)
{
	struct stats_ios *ios = told_above(stats, io) ? &stats->parts : &stats->result.slowest;
	struct stats_io item;

	if (ios->n == ios->room && (!ios->n || latency_ns <= ios->items[ios->n - 1].latency_ns))
		return;
	item = told(stats, io, io->times.completed_ns);
	stats_ios_add_longest(ios, &item);
}

/* Discards and zeroes have a size, but no data goes to the device. */
static bool moves_data(const struct track_io *io)
{
	return io->operation == OPERATION_READ || io->operation == OPERATION_WRITE ||
	       io->operation == OPERATION_ZONE_APPEND;
}

static void count_io(struct stats_group *group, const struct track_io *io)
{
	uint64_t begin_ns = track_io_begin_ns(io) ? track_io_begin_ns(io) : io->times.completed_ns;

	if (io->error) {
		group->errors++;
		group->error_bytes += io->bytes;
	} else {
		group->ios++;
		group->bytes += io->bytes;
		group->data_bytes += moves_data(io) ? io->bytes : 0;
	}
	group->no_queue += !io->times.queued_ns;
	group->no_issue += !io->times.issued_ns && !io->bio_based && io->bytes;
	group->touched += io->touched;
	group->inverted += io->inverted;
	if (!group->last_ns || begin_ns < group->first_ns)
		group->first_ns = begin_ns;
	if (io->times.completed_ns > group->last_ns)
		group->last_ns = io->times.completed_ns;
}

static int measure_io(struct stats *stats, const struct track_io *io, const struct counts *counts)
{
	const struct track_times *t = &io->times;
	uint64_t begin_ns = track_io_begin_ns(io);
	int r = 0;

	for (size_t i = 0; i < counts->n && r == 0 && t->queued_ns; i++) {
		struct stats_group *group = counts->all[i];

		r = group_sample(group, STAGE_Q2C, t->queued_ns, t->completed_ns);
		group->log2_us[0][stats_log2_row(t->completed_ns - t->queued_ns)]++;
		if (io->pieces)
			add_share(group, t);
	}
	if (r < 0 || io->operation == OPERATION_PASSTHROUGH)
		return r;
	if (t->queued_ns)
		series_latency(&device_of(stats, io->tag, io->device)->series, 0, t->completed_ns,
			       t->completed_ns - t->queued_ns);
	if (begin_ns)
		add_slow(stats, io, t->completed_ns - begin_ns);
	return 0;
}

static int io(void *context, const struct track_io *io)
{
	struct stats *stats = context;
	struct stats_device *device = device_of(stats, io->tag, io->device);
	struct counts counts;
	int r = find_counts(stats, io, &counts);

	if (!counts.n)
		return r;
	for (size_t i = 0; i < counts.n; i++)
		count_io(counts.all[i], io);
	device->bio_based |= io->bio_based;
	if (io->error && stats->result.failed.n < stats->result.failed.room) {
		const struct stats_io item = told(stats, io, io->times.completed_ns);

		stats_ios_add_first(&stats->result.failed, &item);
	}
	if (io->operation != OPERATION_PASSTHROUGH)
		series_io(&device->series, io);
	return is_measured(stats, io) ? measure_io(stats, io, &counts) : 0;
}

static int ended(void *context, const struct track_io *io, enum track_end end)
{
	struct stats *stats = context;
	struct counts counts;
	int r = find_counts(stats, io, &counts);

	for (size_t i = 0; i < counts.n; i++) {
		counts.all[i]->ended[end]++;
		counts.all[i]->ended_bytes[end] += io->bytes - io->done_bytes;
		counts.all[i]->partial += io->done_bytes != 0;
		counts.all[i]->no_queue += !io->times.queued_ns;
	}
	if (counts.n && end != TRACK_END_LOSS) {
		struct stats_io item = told(stats, io, stats->now_ns);

		item.end = end;
		stats_ios_add_longest(&stats->result.unfinished, &item);
	}
	return r;
}

static int request_ended(void *context, const struct track_io *request, enum track_end end)
{
	struct stats_group *group;
	int r = find_operation(context, request, &group);

	if (group)
		group->ended_requests[end]++;
	return r;
}

static int stray(void *context, const struct merge_item *item, enum track_stray stray)
{
	struct stats *stats = context;
	const struct track_io io = filter_io_of(item);
	struct stats_group *group;

	if (!filter_passes_stray(stats->options.filter, &io))
		return 0;
	group = operation_group(stats, &io);
	if (!group)
		return -ENOMEM;
	group->strays[stray]++;
	return 0;
}

const struct track_ops stats_track_ops = {
	.queued = queued,
	.issued = issued,
	.merged = merged,
	.split = split,
	.requeued = requeued,
	.piece = piece,
	.request = request,
	.io = io,
	.ended = ended,
	.request_ended = request_ended,
	.stray = stray,
};
