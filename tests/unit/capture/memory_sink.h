/* SPDX-License-Identifier: MIT */
/**
 * @file
 * A sink that keeps what a session hands over, and fails where a test tells it to.
 */
#ifndef BLKBOX_TEST_MEMORY_SINK_H
#define BLKBOX_TEST_MEMORY_SINK_H

#include "span_sink.h"

#include <stdbool.h>

enum {
	MEMORY_SINK_CHANNELS = 64
};

struct memory_channel {
	struct log_channel id;
	uint8_t *bytes;
	size_t size;
};

struct memory_sink {
	struct span_sink ops;
	struct memory_channel channels[MEMORY_SINK_CHANNELS];
	size_t n_channels;
	struct log_drops *drops;
	size_t n_drops;
	bool has_meta;
	size_t n_devices;
	bool finished;
	enum log_end_reason reason;
	/* What a test may set. */
	int data_error; /* -errno of every data() */
	bool may_pass;	/* and so it does when @data_error is 0 again */
	unsigned data_delay_us;
};

void memory_sink_init(struct memory_sink *sink);
void memory_sink_deinit(struct memory_sink *sink);

/** The channel of a device and CPU; NULL if it was never announced. */
const struct memory_channel *memory_sink_channel(const struct memory_sink *sink,
						 uint32_t device_index, uint32_t cpu);

#endif
