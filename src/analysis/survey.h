/* SPDX-License-Identifier: MIT */
/**
 * @file
 * A first walk over one channel: what the second one must know before it starts (names that are
 * told late, clock anchors, how far out of order the channel is) and what messages tell of it.
 */
#ifndef BLKBOX_ANALYSIS_SURVEY_H
#define BLKBOX_ANALYSIS_SURVEY_H

#include "decoder.h"
#include "index.h"
#include "log_format.h"
#include "names.h"
#include "sequence.h"

#include <stdbool.h>

enum {
	SURVEY_NUMBERS_MAX = LOG_CHANNELS_MAX /* devices, and CPUs, of a channel */
};

/** A moment on both clocks. */
struct anchor {
	uint64_t mono_ns;
	uint64_t real_ns;
};

/** A device that has events in a channel. */
struct survey_device {
	uint32_t device;  /* dev_t */
	uint8_t protocol; /* of its first record */
	uint64_t events;
	uint64_t notes;
};

enum {
	/** Interrupts and clocks that drift put events of a CPU out of order by microseconds. */
	SURVEY_STEP_BACK_MAX_NS = 1000000000
};

struct survey_cpu {
	uint32_t cpu;
	uint64_t newest_ns;
	uint64_t disorder_ns; /* the most that an event is older than one before it on this CPU */
	/* The same without notes whose times may be another clock's. */
	uint64_t newest_event_ns;
	uint64_t step_back_ns;
	uint64_t step_back_to_ns; /* the time of the event behind the greatest step */
};

struct survey {
	struct decoder_health health;
	struct names *names;	   /* that were told */
	struct sequence *sequence; /* in the order of the channel */
	uint64_t first_event_ns;   /* the least, without notes; UINT64_MAX if there is none */
	uint64_t last_event_ns;	   /* the greatest of those */
	uint64_t first_ns;	   /* the least of all records; UINT64_MAX if there is none */
	uint64_t last_ns;
	uint64_t newest_ns;
	uint64_t disorder_ns;	  /* as above, in the whole channel */
	uint64_t unknown_actions; /* events whose action has no letters */
	bool ties_disordered;	  /* records of one time that are not in the order of CPUs */
	uint32_t newest_cpu;
	struct index cpu_places; /* by number; for survey.c */
	struct index device_places;
	struct survey_cpu *cpus;
	size_t n_cpus;
	struct survey_device *devices;
	size_t n_devices;
	struct anchor *anchors;
	size_t n_anchors;
};

/**
 * Walks @decoder to its end. -E2BIG: more than SURVEY_NUMBERS_MAX devices or CPUs.
 * On failure @survey still has to be deinitialised.
 */
int survey_channel(struct survey *survey, struct decoder *decoder, struct why *why);
void survey_deinit(struct survey *survey);

#endif
