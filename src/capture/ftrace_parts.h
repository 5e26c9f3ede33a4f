/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Private to the ftrace source's own files.
 */
#ifndef BLKBOX_CAPTURE_FTRACE_PARTS_H
#define BLKBOX_CAPTURE_FTRACE_PARTS_H

#include "ftrace_record.h"
#include "name_book.h"
#include "trace_source.h"
#include "tracing_state.h"

#include <stdatomic.h>

enum {
	FTRACE_PIDS_SEEN = 256 /* a power of two */
};

/* What was read of a traced device, on one CPU. */
struct ftrace_device_count {
	_Atomic uint64_t events;
	_Atomic uint64_t notes;
	_Atomic uint64_t bytes;
};

/* One CPU's buffer. Its reader thread writes, others look. */
struct ftrace_cpu {
	unsigned cpu;
	_Atomic uint64_t entries; /* of any kind */
	_Atomic uint64_t newest_ns;
	struct ftrace_device_count *counts; /* one for each device */
	/* Threads that the name book has for sure: by the low bits of their number. */
	uint32_t pids_seen[FTRACE_PIDS_SEEN];
};

/* One CPU's counters, as the kernel shows them. */
struct ftrace_stats {
	uint64_t unread;
	uint64_t read;
	uint64_t lost;
};

struct ftrace_source {
	struct trace_source source;
	struct trace_source_ops ops; /* with this machine's page size */
	struct tracing_state state;
	bool saved; /* @state is to be put back */
	struct ftrace_facts facts;
	struct name_book names;
	/*
	 * Protects @cpus, @state once the threads run, and that looks at the losses come in the
	 * order of their values.
	 */
	pthread_mutex_t lock;
	struct ftrace_cpu **cpus; /* by number; NULL: none yet */
	size_t cpus_room;	  /* CPUs that there can ever be */
	atomic_bool *enabled;	  /* by device: its trace is ours and runs */
	atomic_bool recording;	  /* between start and stop: the machine's state is ours */
	atomic_bool all_gone;	  /* every device is */
	_Atomic int note_failure; /* -ENOMEM: names are missing */
};

/** Makes the machine's buffer ready; no device is traced yet. */
int ftrace_prepare(struct ftrace_source *ftrace, struct why *why);
/** Starts another guardian if somebody ended ours. */
void ftrace_keep_guarded(struct ftrace_source *ftrace);
/** Traces device @i, with all filters. */
int ftrace_enable_device(struct ftrace_source *ftrace, size_t i, struct why *why);
/** Watches all that steers the recording for writes of others: our own must be over. */
void ftrace_watch_others(struct ftrace_source *ftrace);

int ftrace_cpu_create(unsigned cpu, size_t n_devices, struct ftrace_cpu **ret);
void ftrace_cpu_destroy(struct ftrace_cpu *cpu);
/** Counts what is in a page that was just read. The CPU's reader thread. */
void ftrace_cpu_count(struct ftrace_source *ftrace, struct ftrace_cpu *cpu, const uint8_t *page);
/** Takes what is in a page out of the counts. After the reader's end. */
void ftrace_cpu_uncount(struct ftrace_source *ftrace, struct ftrace_cpu *cpu, const uint8_t *page);
int ftrace_stats_read(const struct sysroot *root, const char *tracefs, unsigned cpu,
		      struct ftrace_stats *ret);
int ftrace_cpu_stats(const struct ftrace_source *ftrace, unsigned cpu, struct ftrace_stats *ret);

#endif
