/* SPDX-License-Identifier: MIT */
/**
 * @file
 * The counters behind text_stats. Only src/output/text_stats.c and text_summary.c include it.
 */
#ifndef BLKBOX_OUTPUT_TEXT_STATS_PRIVATE_H
#define BLKBOX_OUTPUT_TEXT_STATS_PRIVATE_H

#include "index.h"
#include "names.h"
#include "sequence.h"
#include "text_stats.h"

#include <uthash.h>

/* What is counted, for reads [0] and writes [1] each. */
enum io_stage {
	IO_QUEUED,
	IO_ISSUED,
	IO_REQUEUED,
	IO_COMPLETED,
	IO_MERGED,
	IO_STAGES
};

struct io_counts {
	uint64_t n[IO_STAGES][2];
	int64_t bytes[IO_STAGES][2];
	uint64_t pc_n[IO_STAGES][2]; /* passthrough */
	int64_t pc_bytes[IO_STAGES][2];
	uint64_t unplugs;
	uint64_t timer_unplugs;
};

struct cpu_stats {
	uint32_t cpu;
	struct io_counts counts;
};

struct device_stats {
	uint32_t tag;
	uint32_t device;
	struct cpu_stats *cpus; /* as they came */
	size_t n_cpus;
	uint64_t depth[2], max_depth[2];
	uint64_t events;
	uint64_t gaps, missing; /* of sequence numbers, added up at the end */
	uint64_t first_ns, last_ns;
};

struct process_key {
	uint32_t tag;
	uint32_t pid;		     /* by name: 0 */
	uint32_t cpu;		     /* of thread 0, which each CPU has; else 0 */
	char comm[NAMES_COMM_BYTES]; /* by pid: empty */
};

enum wait_stage {
	WAIT_ALLOCATION,
	WAIT_DISPATCH,
	WAIT_COMPLETION,
	WAIT_STAGES
};

struct process_stats {
	struct process_key key;
	uint32_t pid; /* the first one */
	bool more_than_one;
	char comm[NAMES_COMM_BYTES + 1];
	struct io_counts counts;
	uint64_t longest_ns[WAIT_STAGES][2];
	UT_hash_handle hh;
};

struct text_stats {
	struct text_stats_options options;
	const struct scene *scene;
	struct device_stats *devices;
	size_t n_devices;
	struct index device_places; /* by tag and dev_t */
	struct index cpu_places;    /* by place of the device, and CPU */
	struct process_stats *processes;
	struct sequence *sequence;
};

#endif
