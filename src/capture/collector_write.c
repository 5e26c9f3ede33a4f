/* SPDX-License-Identifier: MIT */
/*
 * What the collector writes beside the kernel's bytes, and what it does while the output takes
 * nothing.
 */
#include "collector_parts.h"

#include "cleanup.h"
#include "number.h"

#include <poll.h>
#include <string.h>

void collector_remark(struct collector *collector, const struct why *why)
{
	if (collector->remarks.n < COLLECTOR_REMARKS_MAX)
		collector->remarks.text[collector->remarks.n++] = *why;
}

static void remark_error(struct collector *collector, int error, const char *text)
{
	struct why why;

	why_errno(&why, error, "%s", text);
	collector_remark(collector, &why);
}

int collector_write_drops(struct collector *collector, struct why *why)
{
	struct trace_source *source = collector->shared->source;
	const struct span_sink *sink = collector->sink;
	_cleanup_free_ struct log_drops *drops = NULL;
	size_t n = drop_tracker_take(&source->drops, &drops);
	uint64_t lost = atomic_load_explicit(&collector->dropped, memory_order_relaxed);
	int r = n && sink->drops ? sink->drops(sink->context, drops, n, why) : 0;

	if (r < 0) {
		drop_tracker_put_back(&source->drops, n);
		return r;
	}
	for (size_t i = 0; i < n; i++) {
		if (!(drops[i].flags & LOG_DROPS_AT_STOP))
			lost += drops[i].count;
	}
	atomic_store_explicit(&collector->dropped, lost, memory_order_relaxed);
	return 0;
}

/* Behind those that are there already. */
static int learn_names(struct collector *collector, bool at_end)
{
	struct trace_source *source = collector->shared->source;
	_cleanup_free_ struct log_name *names = NULL;
	ssize_t n = source->ops->collect_names(source, at_end, &names);
	struct log_name *all;

	if (n <= 0)
		return (int)n;
	all = reallocarray(collector->names, collector->n_names + (size_t)n, sizeof(*all));
	if (!all)
		return -ENOMEM;
	memcpy(all + collector->n_names, names, (size_t)n * sizeof(*all));
	collector->names = all;
	collector->n_names += (size_t)n;
	return 0;
}

int collector_write_names(struct collector *collector, bool at_end, struct why *why)
{
	const struct span_sink *sink = collector->sink;
	int r;

	if (!collector->shared->source->ops->collect_names || !sink->names)
		return 0;
	r = learn_names(collector, at_end);
	/* A recording without names is worth more than none. */
	if (r < 0 && !collector->names_failed)
		remark_error(collector, r, "cannot find out the names of processes");
	collector->names_failed |= r < 0;
	if (!collector->n_names)
		return 0;
	r = sink->names(sink->context, collector->names, collector->n_names, why);
	if (r >= 0)
		collector->n_names = 0;
	return r;
}

bool collector_timer_rang(const struct collector *collector)
{
	uint64_t times;

	return read(collector->timer_fd, &times, sizeof(times)) == sizeof(times);
}

/* The kernel loses events next, if it does not already. */
static bool is_full(const struct collector *collector)
{
	size_t unit = collector->shared->source->ops->read_unit;

	for (size_t i = 0; i < collector->intake.n_channels; i++) {
		const struct ring *ring = &collector->intake.channels[i]->ring;

		if (ring_filled(ring) + unit > ring->size)
			return true;
	}
	return false;
}

static void wait_a_tick(struct collector *collector)
{
	struct pollfd polls[] = {
		{.fd = collector->sleep.fd, .events = POLLIN},
		{.fd = collector->timer_fd, .events = POLLIN},
	};

	/* Not ring_sleep_prepare(): what comes into the rings is no news now. */
	poll(polls, 2, -1);
	ring_sleep_done(&collector->sleep);
	if (!collector_timer_rang(collector))
		return;
	collector->shared->source->ops->sample_drops(collector->shared->source, false);
	collector_look_around(collector);
}

int collector_hold(struct collector *collector, int failure, struct why *why)
{
	const struct span_sink *sink = collector->sink;
	struct news *news = collector->shared->source->news;
	size_t ring_bytes = collector->intake.ring_bytes;

	if (!sink->retry || !sink->retry(sink->context))
		return failure;
	if (collector->held && is_full(collector))
		return why_prefix(
			why, failure,
			"the memory that keeps events while the output takes none (%s for "
			"each channel) is full",
			size_format(ring_bytes).text);
	if (collector_phase(collector) != PHASE_RECORDING)
		return failure;
	if (!collector->held)
		news_add(
			news,
			"%s; recording goes on in memory, up to %s for each CPU, and the output is "
			"tried again twice a second",
			why->text, size_format(ring_bytes).text);
	collector->held = true;
	wait_a_tick(collector);
	return 0;
}

void collector_held_no_more(struct collector *collector)
{
	if (!collector->held)
		return;
	collector->held = false;
	news_add(collector->shared->source->news,
		 "the output takes events again; what was kept in memory is written");
}
