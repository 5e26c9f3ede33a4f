/* SPDX-License-Identifier: MIT */
/**
 * @file
 * From a running recording straight to a sink of events: decoded, merged, in order of time, with
 * the delay that it takes until every CPU's buffer was looked at.
 */
#ifndef BLKBOX_CLI_LIVE_SINK_H
#define BLKBOX_CLI_LIVE_SINK_H

#include "filter.h"
#include "scene.h"
#include "sink.h"
#include "span_sink.h"

struct live_sink;

int live_sink_create(struct live_sink **ret);
void live_sink_destroy(struct live_sink *live);
DEFINE_CLEANUP(struct live_sink, live_sink_destroy);

/** Where the events go; adopted. Before the recording starts. */
void live_sink_adopt_output(struct live_sink *live, struct sink *output);

/** Only these events are given out; borrowed, and resolved when the devices are known. */
void live_sink_set_filter(struct live_sink *live, struct filter *filter);
/** What text sinks ask about the recording, as far as it is known. @live must outlive it. */
void live_sink_scene(struct live_sink *live, struct scene *ret);

/** Borrowed, as long as the live sink lives. The recording must read live. */
const struct span_sink *live_sink_span_sink(struct live_sink *live);

/** Name of a traced device, for sinks that ask: a blktrace_device_name. @context: live sink */
const char *live_sink_device_name(void *context, uint32_t tag, uint32_t device);

#endif
