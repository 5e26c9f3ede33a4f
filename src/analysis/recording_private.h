/* SPDX-License-Identifier: MIT */
/**
 * @file
 * The inside of a recording. Only src/analysis/recording*.c and clock_align.c include it.
 */
#ifndef BLKBOX_ANALYSIS_RECORDING_PRIVATE_H
#define BLKBOX_ANALYSIS_RECORDING_PRIVATE_H

#include "read_ahead.h"
#include "recording.h"
#include "survey.h"

/* One input. */
struct part {
	struct input *input;
	struct survey *surveys; /* one for each channel */
	size_t n_surveys;
	struct names *names;
	struct anchor *anchors; /* of the whole input, in order of time */
	size_t n_anchors;
	int64_t shift_ns; /* from its clock to the recording's */
};

struct recording {
	struct part *parts;
	size_t n_parts;
	struct read_ahead *ahead; /* NULL = at the start */
	struct recording_info info;
	struct recording_device *devices;
	struct index device_places; /* by tag and dev_t */
	size_t n_devices;
	struct recording_loss *losses;
	size_t n_losses;
};

/** Fills info, devices and losses from the surveys and the logs. */
int recording_summarise(struct recording *recording);

#endif
