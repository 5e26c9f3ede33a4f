/* SPDX-License-Identifier: MIT */
/**
 * @file
 * The sampler of `blkbox stall` at work: one thread samples at fixed times and waits for nothing
 * else; another one writes.
 */
#ifndef BLKBOX_PROC_STALL_H
#define BLKBOX_PROC_STALL_H

#include "csv_file.h"
#include "sampler.h"

struct stall_options {
	struct sampler_options sampler; /* but for the sink */
	struct csv_file_options file;	/* but for the header and the identity */
	uint64_t interval_ns;
	bool enable_delay; /* delay accounting, as long as this runs */
	int nice;	   /* of the sampler and the writer, relative; 0: as it is */
	int cpu;	   /* that both run on; -1: any */
};

/** As far as it is by now. */
struct stall_totals {
	uint64_t samples, rows, bytes;
	uint64_t missed;    /* ticks that had no sample */
	uint64_t late;	    /* samples over half an interval behind their time */
	uint64_t lost;	    /* rows that found the ring full */
	uint64_t unwritten; /* rows that the output did not take, at the end */
	uint64_t processes, denied;
	int output_error;   /* -errno as long as the output fails */
	bool locked;	    /* memory cannot be paged out */
	bool delay_enabled; /* by us */
};

struct stall;

/**
 * Opens the output, and turns delay accounting on if asked for: whatever ends this process, it is
 * turned off again. Options are copied, what they point to is borrowed.
 */
int stall_create(const struct stall_options *options, struct stall **ret, struct why *why);
void stall_destroy(struct stall *stall);
/** Destroys it, and removes the output: it was made for nothing. */
void stall_discard(struct stall *stall);
DEFINE_CLEANUP(struct stall, stall_destroy);

int stall_start(struct stall *stall, struct why *why);
/** Readable when there are alerts to be taken. */
int stall_alert_fd(const struct stall *stall);
/** Readable when nobody reads the output any more. */
int stall_dead_fd(const struct stall *stall);
/** Lines that tell who is blocked; the last one may be cut, its rest comes next. */
size_t stall_take_alerts(struct stall *stall, char *to, size_t size);
/** The output is opened anew by its name. */
void stall_reopen(struct stall *stall);
void stall_look(const struct stall *stall, struct stall_totals *ret);
/** Ends sampling, and writes what is left. */
void stall_stop(struct stall *stall, struct stall_totals *ret);

#endif
