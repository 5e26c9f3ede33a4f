/* SPDX-License-Identifier: MIT */
/**
 * @file
 * A log with random content, and what is known about it.
 */
#ifndef BLKBOX_TESTS_LOG_SAMPLE_H
#define BLKBOX_TESTS_LOG_SAMPLE_H

#include "log_reader.h"
#include "log_writer.h"

enum {
	SAMPLE_CHANNELS = 3,
	SAMPLE_BLOCKS_MAX = 512
};

/* State behind the nth block (0: behind the header). */
struct sample_cut {
	uint64_t file_bytes;
	uint64_t channel_bytes[SAMPLE_CHANNELS];
	uint32_t channel; /* of this block; LOG_NO_CHANNEL: it is no DATA */
};

struct sample {
	int fd;		/* memfd */
	uint8_t *bytes; /* of the file */
	size_t size;
	uint8_t *channel[SAMPLE_CHANNELS]; /* what was written */
	uint64_t channel_bytes[SAMPLE_CHANNELS];
	uint64_t events[SAMPLE_CHANNELS];
	uint64_t notes[SAMPLE_CHANNELS];
	struct sample_cut cuts[SAMPLE_BLOCKS_MAX];
	size_t n_cuts;
};

/* @spans: DATA blocks; @span_max: bytes of one, at most. */
void sample_make(struct sample *sample, unsigned seed, bool compress, size_t spans,
		 size_t span_max);
void sample_free(struct sample *sample);

/* A memfd with these bytes. */
int sample_file(const uint8_t *bytes, size_t size);

/* Reads all channels; every span must be what was written there. Returns the bytes of @channel. */
uint64_t sample_read(const struct sample *sample, struct log_reader *reader, uint32_t channel,
		     uint64_t *ret_missing);

#endif
