/* SPDX-License-Identifier: MIT */
#include "perfetto.h"

#include "grow.h"
#include "heap.h"
#include "ios.h"
#include "json.h"
#include "wire.h"

#include <inttypes.h>
#include <uthash.h>

/* Nobody looks at more; what a hand-made recording has beyond must only not take hours. */
enum {
	LANES_LOOKED_AT = 64
};

struct track_key {
	uint32_t tag, device, pid;
};

/* Slices of one track must not overlap: a process with I/Os in parallel has several lanes. */
struct track {
	struct track_key key;
	uint64_t *lane_ends_ns;
	uint32_t *lane_ids;
	uint32_t n_lanes;
	struct heap crowd; /* lanes from LANES_LOOKED_AT on, by their ends */
	UT_hash_handle hh;
};

struct perfetto_sink {
	struct sink sink;
	struct out out;
	struct json json;
	const struct scene *scene;
	const struct recording *recording;
	struct ios *ios;
	struct track *tracks;
	uint32_t lanes;		/* in all: their ids are numbered through */
	uint64_t without_slice; /* finished I/Os */
	bool *has_issues;	/* by places of devices: bio-based ones have no depth of a driver */
};

/* The process of a device: its number among the devices. 0 would be the idle task's. */
static uint32_t device_process(const struct perfetto_sink *p, uint32_t tag, uint32_t device)
{
	return (uint32_t)recording_device_place(p->recording, tag, device) + 1;
}

/* What every event starts with. One a line. */
static void begin(struct perfetto_sink *p, const char *phase, const char *name, uint32_t process)
{
	out_char(&p->out, '\n');
	json_object_begin(&p->json, NULL);
	json_string(&p->json, "ph", phase);
	if (name)
		json_string(&p->json, "name", name);
	json_u64(&p->json, "pid", process);
}

/* Microseconds, to the nanosecond. */
static void put_time(struct perfetto_sink *p, const char *name, uint64_t ns)
{
	json_double(&p->json, name, (double)ns / 1000, 3);
}

static uint64_t since_start(const struct perfetto_sink *p, uint64_t time_ns)
{
	return time_ns > p->scene->start_ns ? time_ns - p->scene->start_ns : 0;
}

static void put_name(struct perfetto_sink *p, const char *name)
{
	json_object_begin(&p->json, "args");
	json_string(&p->json, "name", name);
	json_object_end(&p->json);
	json_object_end(&p->json);
}

static void name_lane(struct perfetto_sink *p, const struct track *track, const char *comm)
{
	char name[64];

	snprintf(name, sizeof(name), track->n_lanes > 1 ? "%s %u (%u)" : "%s %u",
		 comm ? comm : "thread", track->key.pid, track->n_lanes);
	begin(p, "M", "thread_name", device_process(p, track->key.tag, track->key.device));
	json_u64(&p->json, "tid", track->lane_ids[track->n_lanes - 1]);
	put_name(p, name);
}

static bool ends_before(const void *context, uint32_t a, uint32_t b)
{
	const struct track *track = context;

	return track->lane_ends_ns[a] < track->lane_ends_ns[b];
}

static struct track *find_track(struct perfetto_sink *p, const struct track_io *io)
{
	struct track_key key = {io->tag, io->device, io->owner.pid};
	struct track *track;

	HASH_FIND(hh, p->tracks, &key, sizeof(key), track);
	if (track)
		return track;
	track = calloc(1, sizeof(*track));
	if (!track)
		return NULL;
	track->key = key;
	heap_init(&track->crowd, ends_before, track);
	HASH_ADD(hh, p->tracks, key, sizeof(track->key), track);
	return track;
}

static int add_lane(struct perfetto_sink *p, struct track *track, const char *comm)
{
	uint32_t n = track->n_lanes + 1;
	uint64_t *ends = grow_list(track->lane_ends_ns, track->n_lanes, sizeof(*ends));
	uint32_t *ids;

	if (!ends)
		return -ENOMEM;
	track->lane_ends_ns = ends;
	ids = grow_list(track->lane_ids, track->n_lanes, sizeof(*ids));
	if (!ids)
		return -ENOMEM;
	track->lane_ids = ids;
	ends[n - 1] = 0;
	ids[n - 1] = ++p->lanes;
	track->n_lanes = n;
	name_lane(p, track, comm);
	return n > LANES_LOOKED_AT ? heap_push(&track->crowd, n - 1) : 0;
}

/* A lane that was free when the I/O began, and is not from now on. I/Os come in order of their
 * ends. */
static int take_lane(struct perfetto_sink *p, struct track *track, uint64_t begin_ns,
		     uint64_t end_ns, const char *comm, uint32_t *ret)
{
	uint32_t lane = 0;

	while (lane < track->n_lanes && lane < LANES_LOOKED_AT &&
	       track->lane_ends_ns[lane] > begin_ns)
		lane++;
	if (lane == LANES_LOOKED_AT && track->crowd.n &&
	    track->lane_ends_ns[heap_top(&track->crowd)] <= begin_ns)
		lane = heap_top(&track->crowd);
	else if (lane == track->n_lanes || lane == LANES_LOOKED_AT) {
		int r = add_lane(p, track, comm);

		if (r < 0)
			return r;
		lane = track->n_lanes - 1;
	}
	track->lane_ends_ns[lane] = end_ns;
	if (lane >= LANES_LOOKED_AT)
		heap_top_changed(&track->crowd);
	*ret = lane;
	return 0;
}

static void put_details(struct perfetto_sink *p, const struct track_io *io, uint64_t latency_ns)
{
	json_object_begin(&p->json, "args");
	if (io->sector != UINT64_MAX)
		json_u64(&p->json, "sector", io->sector);
	json_u64(&p->json, "bytes", io->bytes);
	json_u64(&p->json, "latency_ns", latency_ns);
	if (io->times.queued_ns && io->times.issued_ns >= io->times.queued_ns)
		json_u64(&p->json, "queue_to_issue_ns", io->times.issued_ns - io->times.queued_ns);
	if (io->error)
		json_i64(&p->json, "error", io->error);
	if (io->requeues)
		json_u64(&p->json, "requeues", io->requeues);
	if (!io_is_measured(io))
		json_bool(&p->json, "uncertain", true);
	json_object_end(&p->json);
}

static int put_slice(struct perfetto_sink *p, const struct track_io *io, uint64_t begin_ns)
{
	const struct track_owner *owner = &io->owner;
	const char *comm =
		p->scene->comm(p->scene->context, io->tag, owner->pid, owner->cpu, owner->time_ns);
	uint64_t end_ns = io->times.completed_ns;
	uint64_t latency_ns = end_ns > begin_ns ? end_ns - begin_ns : 0;
	struct track *track = find_track(p, io);
	char name[64];
	uint32_t lane;

	if (!track || take_lane(p, track, begin_ns, end_ns, comm, &lane) < 0)
		return -ENOMEM;
	snprintf(name, sizeof(name), "%s %" PRIu64 " KiB", operation_name(io->operation),
		 io->bytes / 1024 + (io->bytes % 1024 != 0));
	begin(p, "X", name, device_process(p, io->tag, io->device));
	json_u64(&p->json, "tid", track->lane_ids[lane]);
	put_time(p, "ts", since_start(p, begin_ns));
	put_time(p, "dur", latency_ns);
	put_details(p, io, latency_ns);
	json_object_end(&p->json);
	return 0;
}

static int keep_request(void *context, const struct track_io *request)
{
	return put_slice(context, request, request->times.issued_ns);
}

/* Those without a request (of bio-based devices, or issues were not recorded) begin in the queue.
 */
static int keep_io(void *context, const struct track_io *io)
{
	struct perfetto_sink *p = context;

	if (io->times.issued_ns)
		return 0;
	if (io->times.queued_ns && (io->operation != OPERATION_FLUSH || io->bio_based))
		return put_slice(p, io, io->times.queued_ns);
	p->without_slice++;
	return 0;
}

static const struct ios_ops ios_ops = {.io = keep_io, .request = keep_request};

static void put_depth(struct perfetto_sink *p, const struct merge_item *item)
{
	begin(p, "C", "I/Os in the driver", device_process(p, item->tag, item->event.device));
	put_time(p, "ts", since_start(p, item->event.time_ns));
	json_object_begin(&p->json, "args");
	json_u64(&p->json, "depth", ios_depth(p->ios, item->tag, item->event.device));
	json_object_end(&p->json);
	json_object_end(&p->json);
}

static void put_note(struct perfetto_sink *p, const struct merge_item *item)
{
	const struct blkbox_event *event = &item->event;

	begin(p, "i", NULL, device_process(p, item->tag, event->device));
	json_bytes(&p->json, "name", event->pdu, wire_pdu_text(event));
	json_string(&p->json, "s", "p");
	put_time(p, "ts", since_start(p, event->time_ns));
	json_object_end(&p->json);
}

static int check(struct perfetto_sink *p, struct why *why)
{
	return p->out.error ? why_errno(why, p->out.error, "cannot write the trace") : 0;
}

/* A slice is an I/O's, which the filter judges whole; the depth is the device's, of all I/Os. */
static int perfetto_left_out(struct sink *sink, const struct merge_item *item, struct why *why)
{
	struct perfetto_sink *p = (struct perfetto_sink *)sink;
	const struct blkbox_event *event = &item->event;
	size_t place;

	if (blkbox_event_is_note(event))
		return check(p, why);
	if (ios_event(p->ios, item) < 0)
		return why_set(why, -ENOMEM, "no memory");
	place = recording_device_place(p->recording, item->tag, event->device);
	p->has_issues[place] |= event->action == BLKBOX_ISSUE;
	if (p->has_issues[place] &&
	    (event->action == BLKBOX_ISSUE || event->action == BLKBOX_COMPLETE ||
	     event->action == BLKBOX_REQUEUE) &&
	    (!p->scene->filter ||
	     filter_passes_moment(p->scene->filter, item->tag, event->device, event->time_ns)))
		put_depth(p, item);
	return check(p, why);
}

static int perfetto_event(struct sink *sink, const struct merge_item *item, struct why *why)
{
	struct perfetto_sink *p = (struct perfetto_sink *)sink;

	if (blkbox_event_is_note(&item->event) && item->event.action == BLKBOX_NOTE_MESSAGE)
		put_note(p, item);
	return perfetto_left_out(sink, item, why);
}

static void put_losses(struct perfetto_sink *p)
{
	const struct recording_loss *losses;
	size_t n = recording_losses(p->recording, &losses);

	for (size_t i = 0; i < n; i++) {
		char name[64];

		if (!scene_shows_loss(p->scene, &losses[i]))
			continue;
		snprintf(name, sizeof(name), "%llu events dropped",
			 (unsigned long long)losses[i].count);
		begin(p, "i", name, device_process(p, losses[i].tag, losses[i].device));
		json_string(&p->json, "s", "g");
		put_time(p, "ts", since_start(p, losses[i].from_ns));
		json_object_end(&p->json);
	}
}

/* What has no slice, and slices whose length is not to be trusted. */
static void put_unmatched(struct perfetto_sink *p)
{
	struct named_count counts[IOS_COUNTS];

	ios_name_counts(p->ios, counts);
	json_object_begin(&p->json, "otherData");
	for (size_t i = 0; i < IOS_COUNTS; i++)
		json_u64(&p->json, counts[i].name, counts[i].n);
	json_u64(&p->json, "ios_without_slice", p->without_slice);
	json_object_end(&p->json);
}

static int perfetto_finish(struct sink *sink, struct why *why)
{
	struct perfetto_sink *p = (struct perfetto_sink *)sink;

	if (ios_finish(p->ios) < 0)
		return why_set(why, -ENOMEM, "no memory");
	put_losses(p);
	json_array_end(&p->json);
	put_unmatched(p);
	json_object_end(&p->json);
	json_finish(&p->json);
	out_flush(&p->out);
	return check(p, why);
}

static void perfetto_destroy(struct sink *sink)
{
	struct perfetto_sink *p = (struct perfetto_sink *)sink;
	struct track *track, *next;

	HASH_ITER (hh, p->tracks, track, next) {
		HASH_DEL(p->tracks, track);
		free(track->lane_ends_ns);
		free(track->lane_ids);
		heap_deinit(&track->crowd);
		free(track);
	}
	ios_destroy(p->ios);
	free(p->has_issues);
	out_deinit(&p->out);
	free(p);
}

static const struct sink_ops perfetto_ops = {
	.event = perfetto_event,
	.left_out = perfetto_left_out,
	.finish = perfetto_finish,
	.destroy = perfetto_destroy,
};

int perfetto_sink_create(int fd, const struct scene *scene, const struct recording *recording,
			 struct sink **ret)
{
	struct perfetto_sink *p = calloc(1, sizeof(*p));
	const struct recording_device *devices;
	size_t n = recording_devices(recording, &devices);

	if (!p)
		return -ENOMEM;
	p->sink.ops = &perfetto_ops;
	/* One more: events of a device that the survey did not see would be there. */
	p->has_issues = calloc(n + 1, sizeof(*p->has_issues));
	p->scene = scene;
	p->recording = recording;
	if (!p->has_issues || out_init(&p->out, fd, OUT_BUFFER_BYTES) < 0 ||
	    ios_create(&ios_ops, p, recording, scene->filter, &p->ios) < 0) {
		perfetto_destroy(&p->sink);
		return -ENOMEM;
	}
	json_init(&p->json, &p->out, false);
	json_object_begin(&p->json, NULL);
	json_string(&p->json, "displayTimeUnit", "ns");
	json_array_begin(&p->json, "traceEvents");
	for (size_t i = 0; i < n; i++) {
		begin(p, "M", "process_name", (uint32_t)i + 1);
		put_name(p, devices[i].name);
	}
	*ret = &p->sink;
	return 0;
}
