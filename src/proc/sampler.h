/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Samples who waits for disks, and who keeps them busy: rows, one moment after the other. It waits
 * for nobody and opens nothing but files of /proc and /sys.
 */
#ifndef BLKBOX_PROC_SAMPLER_H
#define BLKBOX_PROC_SAMPLER_H

#include "processes.h"
#include "stall_rows.h"
#include "swapin.h"
#include "watch_list.h"

/** Where rows and messages go: at once, and never waiting. */
struct sampler_sink {
	void (*row)(void *context, const struct stall_tick *tick, const char *row, size_t n);
	/** A line for a person, now. */
	void (*alert)(void *context, const char *text);
	void *context;
};

struct sampler_options {
	int proc_fd, sys_fd; /* stand for /proc and /sys; borrowed */
	struct watch_list watch;
	const char *const *disks; /* NULL: those with a device of their own */
	size_t n_disks;
	bool all_columns;
	uint64_t alert_ns; /* 0: none */
	/** As swapin_read(), which @swapin is for; NULL: nobody tells. */
	int (*read_swapin)(struct swapin *swapin, pid_t pid, uint64_t *ret_ns);
	struct swapin *swapin; /* borrowed */
	const char *no_swapin; /* if nobody tells: why; borrowed */
	struct sampler_sink sink;
};

struct sampler {
	struct sampler_options options;
	struct proc_files files;
	struct machine machine;
	struct machine_sample machine_before;
	struct disks disks;
	struct processes processes;
	struct delay_switch delay;
	struct stall_tick tick;
	uint64_t boot_ns;	/* of the tick */
	uint64_t interval_ns;	/* since the one before */
	uint64_t delay_seen_ns; /* when the switch was looked at */
	uint64_t samples;
	uint64_t rows;
	bool no_memory; /* told */
	bool told_cut;
	uint64_t child_told_ns;	  /* when there was a note of a child's counters; 0: never */
	uint64_t children_untold; /* since then */
	struct csv_row row;
};

/** The clocks of a sample. */
struct sampler_moment {
	uint64_t mono_ns, real_ns;
	uint64_t boot_ns; /* as mono_ns, but counts on while the machine sleeps */
};

struct sampler_moment sampler_now(void);

/** @options: copied; what it points to is borrowed. -ENOMEM, or why /proc cannot be read. */
int sampler_init(struct sampler *sampler, const struct sampler_options *options, struct why *why);
void sampler_deinit(struct sampler *sampler);

/**
 * A sample. The first one is what the others are compared with, and gives no rows but notes.
 * @missed: ticks that should have been since the last one
 */
void sampler_tick(struct sampler *sampler, const struct sampler_moment *moment, uint64_t missed);
/** Last notes. */
void sampler_finish(struct sampler *sampler, const struct sampler_moment *moment);
/** A note of somebody else. */
void sampler_note(struct sampler *sampler, const char *format, ...) _printf_(2, 3);

#endif
