/* SPDX-License-Identifier: MIT */
/**
 * @file
 * What was recorded: figures by device and CPU, times, losses. A whole log tells them itself; of
 * everything else all records are read and counted.
 */
#ifndef BLKBOX_ANALYSIS_OVERVIEW_H
#define BLKBOX_ANALYSIS_OVERVIEW_H

#include "decoder.h"
#include "index.h"
#include "input.h"
#include "source_ftrace.h"

struct overview_cpu {
	uint32_t cpu; /* LOG_NO_CPU = not told */
	uint64_t events;
	uint64_t notes;
	uint64_t bytes;	    /* of records, as the kernel gave them */
	uint64_t newest_ns; /* for overview.c */
};

struct overview_device {
	char name[LOG_NAME_BYTES]; /* "8,0" if nothing names it */
	uint32_t device;	   /* dev_t */
	uint32_t protocol;
	bool partition;
	uint32_t disk;
	uint64_t start_sector;
	uint64_t sectors; /* 0 = unknown */
	uint64_t events;
	uint64_t notes;
	uint64_t bytes;
	uint64_t dropped;
	struct overview_cpu *cpus; /* in order */
	size_t n_cpus;
};

struct overview {
	uint64_t events; /* without notes */
	uint64_t notes;
	uint64_t bytes;
	uint64_t dropped;
	uint64_t dropped_at_stop; /* counted by the kernel while stopping: no loss */
	uint64_t start_ns;	  /* CLOCK_MONOTONIC; of a foreign input its first event */
	uint64_t end_ns;
	bool has_real;
	int64_t real_offset_ns; /* wall clock (UTC) = monotonic time + this */
	uint64_t note_ns;	/* of a foreign input: time of the note that tells it */
	struct overview_device *devices;
	size_t n_devices;
	struct index device_places; /* by dev_t; for overview.c, like the next */
	struct index cpu_places;    /* by place of the device, and CPU */
	struct log_drops *losses;   /* device_index: into @devices, or LOG_NO_CHANNEL */
	size_t n_losses;
	bool counted; /* by reading all records: @records and the next four are told then */
	struct decoder_health records;
	struct sequence *sequence; /* for overview.c */
	uint64_t sequence_gaps, sequence_missing;
	uint64_t step_back_ns; /* the most that times of a CPU step back */
	uint32_t step_back_cpu;
	/* Of a recording through ftrace: what was in the pages of the machine's trace buffer. */
	struct ftrace_counts pages;
	uint64_t missing_entries; /* that the kernel handed out, or too many: they differ by so many
				   */
};

/** -ENOMEM, or an error of reading. On failure there is nothing to deinitialise. */
int overview_init(struct overview *overview, struct input *input, struct why *why);
void overview_deinit(struct overview *overview);

/** True if nothing is cut off, damaged or dropped, as far as the overview shows. */
bool overview_complete(const struct overview *overview, const struct input *input);

#endif
