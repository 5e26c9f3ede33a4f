/* SPDX-License-Identifier: MIT */
#include "collector_parts.h"

#include "cleanup.h"
#include "clock.h"

#include <string.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>

enum {
	CLOCK_SAMPLE_TICKS = 20,	     /* the clocks drift slowly */
	SPAN_TARGET_BYTES = LOG_DATA_TARGET, /* small blocks compress badly */
};

int collector_create(struct reader_shared *shared, const struct span_sink *sink, size_t ring_bytes,
		     struct collector **ret)
{
	struct collector *collector = NULL;
	int r;

	if (posix_memalign((void **)&collector, RING_CACHE_LINE, sizeof(*collector)))
		return -ENOMEM;
	*collector = (struct collector){
		.shared = shared,
		.sink = sink,
		.sleep = {.fd = -1},
		.timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK),
		.event_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK),
	};
	intake_init(&collector->intake, shared, ring_bytes);
	r = collector->timer_fd < 0 || collector->event_fd < 0 ? -errno : 0;
	if (r >= 0)
		r = ring_sleep_init(&collector->sleep);
	if (r < 0) {
		collector_destroy(collector);
		return r;
	}
	shared->collector_sleep = &collector->sleep;
	shared->wake_bytes =
		ring_bytes / 2 < SPAN_TARGET_BYTES ? ring_bytes / 2 : SPAN_TARGET_BYTES;
	*ret = collector;
	return 0;
}

void collector_destroy(struct collector *collector)
{
	if (!collector)
		return;
	collector_kick(collector);
	collector_join(collector);
	intake_deinit(&collector->intake);
	ring_sleep_deinit(&collector->sleep);
	free(collector->names);
	close_keep_errno(collector->timer_fd);
	close_keep_errno(collector->event_fd);
	free(collector);
}

int collector_find_channels(struct collector *collector, struct why *why)
{
	bool sink_failed = false;

	return intake_find_channels(&collector->intake, collector->sink, &sink_failed, why);
}

static void end_recording(struct collector *collector, enum log_end_reason reason)
{
	int none = LOG_END_UNKNOWN;
	uint64_t one = 1;
	ssize_t ignored;

	/* The first reason stays. */
	atomic_compare_exchange_strong(&collector->end_reason, &none, (int)reason);
	ignored = write(collector->event_fd, &one, sizeof(one));
	(void)ignored;
}

static bool all_gone(const struct collector *collector)
{
	for (size_t i = 0; i < collector->intake.n_channels; i++) {
		if (!atomic_load_explicit(&collector->intake.channels[i]->gone,
					  memory_order_relaxed))
			return false;
	}
	return collector->intake.n_channels > 0;
}

/* Events of all devices in a channel that they share. */
static uint64_t count_shared(struct trace_source *source, const struct channel *channel)
{
	uint64_t events = 0;

	for (uint32_t i = 0; i < source->n_devices; i++) {
		struct log_total total;

		source->ops->count(source, channel->id.cpu, i, &total);
		events += total.events;
	}
	return events;
}

static void publish_progress(struct collector *collector)
{
	struct trace_source *source = collector->shared->source;
	const struct span_sink *sink = collector->sink;
	uint64_t events = 0, bytes = 0;

	for (size_t i = 0; i < collector->intake.n_channels; i++) {
		struct log_total total;

		sink->total(sink->context, (uint32_t)i, &total);
		events += source->ops->count ? count_shared(source, collector->intake.channels[i])
					     : total.events;
		bytes += total.bytes;
	}
	atomic_store_explicit(&collector->events, events, memory_order_relaxed);
	atomic_store_explicit(&collector->bytes, bytes, memory_order_relaxed);
}

/* Of CPUs that came online. Only a failure of the sink is returned; all else is a remark. */
static int look_for_channels(struct collector *collector, struct why *why)
{
	bool sink_failed = false;
	struct why found = {""};
	int r = intake_find_channels(&collector->intake, collector->sink, &sink_failed, &found);

	if (r < 0 && sink_failed) {
		*why = found;
		return r;
	}
	if (r < 0)
		collector_remark(collector, &found);
	return 0;
}

bool collector_look_around(struct collector *collector)
{
	struct trace_source *source = collector->shared->source;
	struct why found = {""};
	int r;

	if (atomic_load_explicit(&collector->end_reason, memory_order_relaxed))
		return false;
	r = source->ops->check(source, &found);
	if (r < 0) {
		collector_remark(collector, &found);
		if (r == -EBUSY)
			end_recording(collector, LOG_END_FOREIGN);
	}
	if (!all_gone(collector))
		return true;
	end_recording(collector, r == -EBUSY ? LOG_END_FOREIGN : LOG_END_DEVICE);
	return false;
}

/* What is looked at twice a second. A failure of the sink is returned; all else is a remark. */
static int tick(struct collector *collector, struct why *why)
{
	struct trace_source *source = collector->shared->source;
	const struct span_sink *sink = collector->sink;
	int r;

	source->ops->sample_drops(source, false);
	r = collector_write_drops(collector, why);
	if (r >= 0)
		r = collector_write_names(collector, false, why);
	if (r >= 0 && sink->clock && collector->ticks % CLOCK_SAMPLE_TICKS == 0)
		r = sink->clock(sink->context, why);
	if (r < 0)
		return r;
	collector->ticks++;
	publish_progress(collector);
	return collector_look_around(collector) ? look_for_channels(collector, why) : 0;
}

/* Takes what a ring holds; less than a block's worth only if @all. Returns 1 if bytes moved. */
static int take(struct collector *collector, struct channel *channel, bool all, struct why *why)
{
	const struct span_sink *sink = collector->sink;
	size_t filled = ring_filled(&channel->ring);
	unsigned percent = (unsigned)(filled * 100 / channel->ring.size);
	int moved = 0;

	if (percent > atomic_load_explicit(&collector->fill_percent, memory_order_relaxed))
		atomic_store_explicit(&collector->fill_percent, percent, memory_order_relaxed);
	while (filled && (all || filled >= collector->shared->wake_bytes)) {
		size_t size;
		const uint8_t *bytes = ring_peek(&channel->ring, &size);
		int r;

		/* What came meanwhile waits for the next round, so that all get a turn. */
		if (size > filled)
			size = filled;
		if (size > SPAN_TARGET_BYTES)
			size = SPAN_TARGET_BYTES;
		r = sink->data(sink->context, channel->id.channel, bytes, size, why);
		if (r < 0)
			return r;
		ring_release(&channel->ring, size);
		ring_wake(channel->reader_sleep);
		/* Bounded: what comes meanwhile waits for the next round, so that all get a turn.
		 */
		filled -= size;
		moved = 1;
	}
	return moved;
}

/* Everything older than this is in the rings. Asked before they are emptied. */
static uint64_t complete_until(const struct collector *collector)
{
	uint64_t oldest = UINT64_MAX;

	for (size_t i = 0; i < collector->intake.n_channels; i++) {
		struct channel *channel = collector->intake.channels[i];
		uint64_t until =
			atomic_load_explicit(&channel->complete_until_ns, memory_order_acquire);

		if (atomic_load_explicit(&channel->gone, memory_order_relaxed))
			continue;
		if (until < oldest)
			oldest = until;
	}
	return oldest == UINT64_MAX ? 0 : oldest;
}

static int take_all(struct collector *collector, bool all, struct why *why)
{
	const struct span_sink *sink = collector->sink;
	bool live = collector->shared->live;
	uint64_t until = live ? complete_until(collector) : 0;
	int moved = 0;

	for (size_t i = 0; i < collector->intake.n_channels; i++) {
		int r = take(collector, collector->intake.channels[i], all || live, why);

		if (r < 0)
			return r;
		moved |= r;
	}
	if (live && until && sink->complete_until) {
		/* First the names, so that they are there when the events are shown. */
		int r = collector_write_names(collector, false, why);

		if (r >= 0)
			r = sink->complete_until(sink->context, until, why);

		if (r < 0)
			return r;
	}
	return moved;
}

static bool has_block(const struct collector *collector)
{
	for (size_t i = 0; i < collector->intake.n_channels; i++) {
		if (ring_filled(&collector->intake.channels[i]->ring) >=
		    collector->shared->wake_bytes)
			return true;
	}
	return false;
}

static void wait_for_news(struct collector *collector)
{
	struct pollfd polls[] = {
		{.fd = collector->sleep.fd, .events = POLLIN},
		{.fd = collector->timer_fd, .events = POLLIN},
	};

	ring_sleep_prepare(&collector->sleep);
	/* The second look, after saying that we sleep. Ends of readers come by ring_wake_always().
	 */
	poll(polls, 2, has_block(collector) ? 0 : -1);
	ring_sleep_done(&collector->sleep);
}

/* Returns 1 if bytes moved. */
static int take_and_look(struct collector *collector, enum phase phase, bool rang, struct why *why)
{
	int r = take_all(collector, rang || phase == PHASE_STOPPED, why);
	int t = r >= 0 && rang && phase == PHASE_RECORDING ? tick(collector, why) : 0;

	return t < 0 ? t : r;
}

static int collect(struct collector *collector, struct why *why)
{
	bool looked_again = false;

	for (;;) {
		enum phase phase = collector_phase(collector);
		bool rang = collector_timer_rang(collector);
		bool last;
		int r;

		if (phase == PHASE_ABORTED)
			return 0;
		if (phase == PHASE_STOPPED && !looked_again) {
			/* A CPU may have come online since the last tick, and have logged. */
			looked_again = true;
			r = look_for_channels(collector, why);
			if (r < 0)
				return r;
		}
		/* Asked before the rings are emptied: after its end a reader adds nothing. */
		last = phase == PHASE_STOPPED && intake_ended(&collector->intake);
		r = take_and_look(collector, phase, rang, why);
		if (r < 0) {
			r = collector_hold(collector, r, why);
			if (r < 0)
				return r;
			continue;
		}
		collector_held_no_more(collector);
		if (last && !r)
			return 0;
		if (!r && !last)
			wait_for_news(collector);
	}
}

/* So that what the recorder does to a disk that it records can be told apart. */
static int write_own_threads(struct collector *collector, struct why *why)
{
	const struct span_sink *sink = collector->sink;
	char text[64];
	int n = snprintf(text, sizeof(text), LOG_META_OWN_THREADS "=%d,%d", (int)getpid(),
			 (int)gettid());

	return sink->meta ? sink->meta(sink->context, text, (size_t)n + 1, why) : 0;
}

static void *collector_main(void *argument)
{
	struct collector *collector = argument;
	int r = write_own_threads(collector, &collector->failure_why);

	if (r >= 0)
		r = collect(collector, &collector->failure_why);

	publish_progress(collector);
	if (r < 0) {
		collector->failure = r;
		/* Release: the failure is there before anybody sees the phase. */
		atomic_store_explicit(&collector->shared->phase, PHASE_ABORTED,
				      memory_order_release);
		collector_kick(collector);
		end_recording(collector, LOG_END_FAILURE);
	}
	return NULL;
}

int collector_start(struct collector *collector, struct why *why)
{
	long tick_ns =
		(collector->shared->live ? READER_LIVE_MS : COLLECTOR_TICK_MS) * (long)NS_PER_MS;
	struct itimerspec often = {
		.it_interval = {.tv_nsec = tick_ns},
		.it_value = {.tv_nsec = tick_ns},
	};
	int r;

	if (timerfd_settime(collector->timer_fd, 0, &often, NULL) < 0)
		return why_errno(why, -errno, "cannot set a timer");
	r = -pthread_create(&collector->thread, NULL, collector_main, collector);
	if (r < 0)
		return why_errno(why, r, "cannot start the collector thread");
	collector->running = true;
	pthread_setname_np(collector->thread, "blkbox-collect");
	return 0;
}

int collector_event_fd(const struct collector *collector)
{
	return collector->event_fd;
}

enum log_end_reason collector_end_reason(const struct collector *collector)
{
	return (enum log_end_reason)atomic_load(&collector->end_reason);
}

void collector_settle(struct collector *collector, int timeout_ms)
{
	intake_settle(&collector->intake, timeout_ms);
}

void collector_kick(struct collector *collector)
{
	intake_kick(&collector->intake);
	ring_wake_always(&collector->sleep);
}

void collector_join(struct collector *collector)
{
	if (collector->running)
		pthread_join(collector->thread, NULL);
	collector->running = false;
	intake_join(&collector->intake);
}

int collector_failure(const struct collector *collector, struct why *why)
{
	if (collector->failure < 0 && why)
		*why = collector->failure_why;
	return collector->failure;
}

const struct remarks *collector_remarks(const struct collector *collector)
{
	return &collector->remarks;
}

void collector_discount(struct collector *collector)
{
	struct trace_source *source = collector->shared->source;

	for (size_t i = 0; source->ops->uncount && i < collector->intake.n_channels; i++) {
		struct channel *channel = collector->intake.channels[i];
		const uint8_t *bytes;
		size_t size;

		while ((bytes = ring_peek(&channel->ring, &size)) && size) {
			source->ops->uncount(source, channel->id.cpu, bytes, size);
			ring_release(&channel->ring, size);
		}
	}
}

void collector_progress(const struct collector *collector, struct progress *ret)
{
	struct collector *c = (struct collector *)collector;

	ret->events = atomic_load_explicit(&c->events, memory_order_relaxed);
	ret->bytes = atomic_load_explicit(&c->bytes, memory_order_relaxed);
	ret->dropped = atomic_load_explicit(&c->dropped, memory_order_relaxed);
	ret->fill_percent = atomic_exchange_explicit(&c->fill_percent, 0, memory_order_relaxed);
}

size_t collector_channels(const struct collector *collector, struct channel *const **ret)
{
	*ret = collector->intake.channels;
	return collector->intake.n_channels;
}
