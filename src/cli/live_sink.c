/* SPDX-License-Identifier: MIT */
#include "live_sink.h"

#include "cleanup.h"
#include "clock.h"
#include "decoder.h"
#include "names.h"
#include "source_ftrace.h"
#include "wire.h"

#include <string.h>

enum {
	STEP_NS = 1000000
};

/* A channel on its way to the merge. */
struct live_channel {
	struct source *queue;	       /* owned by the decoder */
	const struct decoder *decoder; /* owned by the merge */
	uint64_t bytes;
};

struct live_sink {
	struct span_sink ops;
	struct sink *output;
	struct merge *merge;
	struct live_channel *channels;
	size_t n_channels;
	struct log_device *devices;
	size_t n_devices;
	bool has_facts; /* for channels of ring-buffer pages */
	struct ftrace_facts facts;
	struct names *names;
	struct filter *filter; /* NULL: everything */
	struct recording_info info;
};

static int live_meta(void *context, const char *text, size_t size, struct why *why)
{
	struct live_sink *live = context;

	(void)why; /* of a source without pages there are none */
	if (ftrace_facts_parse(text, size, &live->facts) == 0)
		live->has_facts = true;
	return 0;
}

/* The recording starts now: that is time 0 of a filter's seconds. */
static int resolve_filter(struct live_sink *live, struct why *why)
{
	_cleanup_free_ struct recording_device *devices =
		calloc(live->n_devices + 1, sizeof(*devices));

	if (!devices)
		return why_errno(why, -ENOMEM, "cannot filter the events");
	for (size_t i = 0; i < live->n_devices; i++) {
		devices[i].device = live->devices[i].device;
		memcpy(devices[i].name, live->devices[i].name, sizeof(devices[i].name));
	}
	live->info.start_ns = clock_mono_ns();
	return filter_resolve_on(live->filter, &live->info, devices, live->n_devices, why);
}

static int live_devices(void *context, const struct log_device *devices, size_t n, struct why *why)
{
	struct live_sink *live = context;

	live->devices = calloc(n, sizeof(*devices));
	if (!live->devices)
		return why_errno(why, -ENOMEM, "cannot decode the events");
	memcpy(live->devices, devices, n * sizeof(*devices));
	live->n_devices = n;
	return live->filter ? resolve_filter(live, why) : 0;
}

/* Only the devices that were asked for: the buffer of pages is the whole machine's. */
static int wrap_pages(const struct live_sink *live, struct source *queue, struct source **ret)
{
	_cleanup_free_ uint32_t *devices = calloc(live->n_devices + 1, sizeof(*devices));

	if (!devices || !live->has_facts) {
		source_destroy(queue);
		return devices ? -EBADMSG : -ENOMEM;
	}
	for (size_t i = 0; i < live->n_devices; i++)
		devices[i] = live->devices[i].device;
	return source_ftrace_adopt_create(queue, &live->facts, devices, live->n_devices, ret);
}

static int add_channel(struct live_sink *live, const struct log_channel *id)
{
	const struct merge_channel options = {.only_cpu = MERGE_ALL_CPUS};
	struct live_channel *more =
		reallocarray(live->channels, live->n_channels + 1, sizeof(*more));
	struct live_channel *channel;
	struct decoder *decoder;
	struct source *records;
	int r;

	if (!more)
		return -ENOMEM;
	live->channels = more;
	channel = &more[live->n_channels];
	*channel = (struct live_channel){0};
	r = source_queue_create(&channel->queue);
	records = channel->queue;
	if (r >= 0 && id->kind == LOG_FTRACE_PAGES)
		r = wrap_pages(live, channel->queue, &records);
	if (r >= 0)
		r = decoder_adopt_create(records, &decoder);
	if (r < 0)
		return r;
	channel->decoder = decoder;
	r = merge_adopt(live->merge, decoder, &options);
	if (r < 0)
		return r;
	live->n_channels++;
	return 0;
}

static int live_channels(void *context, const struct log_channel *channels, size_t n,
			 struct why *why)
{
	struct live_sink *live = context;

	for (size_t i = 0; i < n; i++) {
		int r = add_channel(live, &channels[i]);

		if (r < 0)
			return why_errno(why, r, "cannot decode the events");
	}
	return 0;
}

static int live_data(void *context, uint32_t channel, const void *bytes, size_t size,
		     struct why *why)
{
	struct live_sink *live = context;
	int r = source_queue_append(live->channels[channel].queue, bytes, size);

	live->channels[channel].bytes += size;
	return r < 0 ? why_errno(why, r, "cannot decode the events") : 0;
}

static int learn_name(struct live_sink *live, const struct blkbox_event *event)
{
	char comm[NAMES_COMM_BYTES + 1];

	if (!blkbox_event_is_note(event) || event->action != BLKBOX_NOTE_PROCESS)
		return 0;
	wire_pdu_comm(event, comm);
	return names_add(live->names, event->pid, event->cpu, event->time_ns, comm);
}

static const char *find_name(void *context, uint32_t tag, uint32_t pid, uint32_t cpu,
			     uint64_t time_ns)
{
	const struct live_sink *live = context;

	(void)tag;
	return names_find(live->names, pid, cpu, time_ns);
}

static int give_event(struct live_sink *live, const struct merge_item *item, struct why *why)
{
	const struct blkbox_event *event = &item->event;

	if (learn_name(live, event) < 0)
		return why_errno(why, -ENOMEM, "cannot keep process names");
	if (live->filter &&
	    !filter_passes(live->filter, item,
			   find_name(live, 0, event->pid, event->cpu, event->time_ns)))
		return sink_left_out(live->output, item, why);
	return sink_event(live->output, item, why);
}

/* Names of threads that no event told. */
static int live_names(void *context, const struct log_name *names, size_t n, struct why *why)
{
	struct live_sink *live = context;

	for (size_t i = 0; i < n; i++) {
		char comm[sizeof(names[i].comm) + 1] = "";

		memcpy(comm, names[i].comm, sizeof(names[i].comm));
		if (names_add(live->names, names[i].pid, 0, names[i].time_ns, comm) < 0)
			return why_errno(why, -ENOMEM, "cannot keep process names");
	}
	return 0;
}

/* Gives out what is older than @limit_ns. */
static int give_out(struct live_sink *live, uint64_t limit_ns, struct why *why)
{
	struct merge_item item;
	int r;

	merge_resume(live->merge);
	while ((r = merge_next(live->merge, limit_ns, &item, why)) > 0) {
		r = give_event(live, &item, why);
		if (r < 0)
			return r;
	}
	return r < 0 ? r : sink_flush(live->output, why);
}

/* Somebody may set the clock; what is less than that is the reading's own unrest. */
static void follow_clock(struct live_sink *live)
{
	int64_t now_ns = (int64_t)(clock_real_ns() - clock_mono_ns());

	if (llabs(now_ns - live->info.real_offset_ns) > STEP_NS)
		live->info.real_offset_ns = now_ns;
}

static int64_t real_offset_ns(void *context, uint32_t tag, uint64_t time_ns)
{
	(void)tag;
	(void)time_ns;
	return ((const struct live_sink *)context)->info.real_offset_ns;
}

static int live_complete_until(void *context, uint64_t time_ns, struct why *why)
{
	follow_clock(context);
	return give_out(context, time_ns, why);
}

static int live_finish(void *context, enum log_end_reason reason, struct why *why)
{
	struct live_sink *live = context;
	int r;

	(void)reason;
	for (size_t i = 0; i < live->n_channels; i++)
		source_queue_end(live->channels[i].queue);
	r = give_out(live, UINT64_MAX, why);
	return r < 0 ? r : sink_finish(live->output, why);
}

static void live_total(void *context, uint32_t channel, struct log_total *ret)
{
	const struct live_sink *live = context;

	*ret = (struct log_total){.channel = channel};
	if (channel >= live->n_channels)
		return;
	ret->bytes = live->channels[channel].bytes;
	ret->events = decoder_health(live->channels[channel].decoder)->events;
	ret->notes = decoder_health(live->channels[channel].decoder)->notes;
}

int live_sink_create(struct live_sink **ret)
{
	struct live_sink *live = calloc(1, sizeof(*live));
	int r;

	if (!live)
		return -ENOMEM;
	live->ops = (struct span_sink){
		.context = live,
		.meta = live_meta,
		.devices = live_devices,
		.channels = live_channels,
		.data = live_data,
		.names = live_names,
		.complete_until = live_complete_until,
		.finish = live_finish,
		.total = live_total,
	};
	live->info.has_real = true;
	live->info.real_offset_ns = (int64_t)(clock_real_ns() - clock_mono_ns());
	r = merge_create(&live->merge);
	if (r >= 0)
		r = names_create(&live->names);
	if (r < 0) {
		live_sink_destroy(live);
		return r;
	}
	*ret = live;
	return 0;
}

void live_sink_destroy(struct live_sink *live)
{
	if (!live)
		return;
	sink_destroy(live->output);
	if (live->merge)
		merge_destroy(live->merge);
	if (live->names)
		names_destroy(live->names);
	free(live->channels);
	free(live->devices);
	free(live);
}

void live_sink_adopt_output(struct live_sink *live, struct sink *output)
{
	live->output = output;
}

const struct span_sink *live_sink_span_sink(struct live_sink *live)
{
	return &live->ops;
}

void live_sink_set_filter(struct live_sink *live, struct filter *filter)
{
	live->filter = filter;
}

void live_sink_scene(struct live_sink *live, struct scene *ret)
{
	*ret = (struct scene){
		.start_ns = SCENE_FROM_FIRST,
		.has_real = live->info.has_real,
		.real_offset_ns = real_offset_ns,
		.comm = find_name,
		.device_name = live_sink_device_name,
		.context = live,
	};
}

const char *live_sink_device_name(void *context, uint32_t tag, uint32_t device)
{
	const struct live_sink *live = context;

	(void)tag;
	for (size_t i = 0; i < live->n_devices; i++) {
		if (live->devices[i].device == device)
			return live->devices[i].name;
	}
	return NULL;
}
