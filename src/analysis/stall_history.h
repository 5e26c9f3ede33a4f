/* SPDX-License-Identifier: MIT */
/**
 * @file
 * The last ticks of samples: processes, disks, kernel. Only src/analysis/stall_*.c include it.
 */
#ifndef BLKBOX_ANALYSIS_STALL_FINDER_HISTORY_H
#define BLKBOX_ANALYSIS_STALL_FINDER_HISTORY_H

#include "stall_finder.h"

#include <string.h>
#include <uthash.h>

/** Time in which a process was blocked. */
struct stall_episode {
	bool is_open;
	bool threads_add_up;
	uint64_t start_ns, end_ns;
	double blkio_ms, longest_ms;
	uint64_t first_d_ns, last_d_ns;
	uint32_t samples;
	uint64_t tick;	   /* number of the last one that told of it */
	uint64_t floor_ns; /* what was before has been told in another piece */
};

struct stall_key {
	uint64_t start_ms; /* of the process; 0 = not known */
	uint32_t pid;
	char name[STALL_NAME_BYTES];
};

/** A process of which there are rows, or whose episode is open. */
struct stall_process {
	struct stall_key key;
	bool is_other;
	uint32_t rows; /* that are kept */
	struct stall_episode episode;
	uint64_t d_tick;      /* number of the last tick in state D; 0 = none */
	uint64_t d_before_ns; /* of the tick before the first one of that run */
	uint32_t tid;	      /* what was last told of where it waits */
	char thread[STALL_NAME_BYTES];
	char wchan[STALL_NAME_BYTES];
	/* For adding up the rows of a span. */
	uint64_t in_sum; /* number of the sum that it has a place in */
	size_t place;
	UT_hash_handle hh;
};

/** A process's row. Floats are exact up to 16 GiB in a tick. */
struct stall_sample {
	uint64_t mono_ns;
	struct stall_process *process;
	float calls_kb, device_kb, read_kb, blkio_ms;
	bool is_d;
};

struct stall_disk_sample {
	uint64_t mono_ns;
	uint32_t disk; /* into stall_history.disks */
	float write_kb, read_kb, busy_ms, in_flight, ms;
};

struct stall_tick {
	uint64_t mono_ns;
	int64_t wall_offset_ns;
	bool has_wall, has_system;
	float ms; /* since the tick before; NaN = the first */
	float disk_write_kb, disk_busy_ms;
	float compact, allocstall, majfault, dirty_kb, writeback_kb, memavail_kb, missed;
	float psi_ms[4];
};

struct stall_note {
	uint64_t mono_ns;
	char text[STALL_NOTE_BYTES];
};

/** A list whose oldest items go away. */
struct stall_queue {
	char *items;
	size_t item_bytes, first, n, room; /* the items are [first, first + n) */
};

enum {
	STALL_DISKS_MAX = 64,
	STALL_NOTES_MAX = 256,
};

struct stall_history {
	struct stall_process *processes;
	struct stall_queue samples, ticks, disk_samples, notes;
	char disks[STALL_DISKS_MAX][STALL_NAME_BYTES];
	size_t n_disks;
	uint64_t lost_before_ns; /* rows before were given up, as there were too many */
	uint64_t sums;
};

void stall_history_init(struct stall_history *history);
void stall_history_deinit(struct stall_history *history);

/** -ENOMEM: it is not there. */
int stall_queue_push(struct stall_queue *queue, const void *item);

static inline void *stall_queue_at(const struct stall_queue *queue, size_t i)
{
	return queue->items + (queue->first + i) * queue->item_bytes;
}

/** The first of @queue whose time (its first member) is not before @ns. */
size_t stall_queue_find(const struct stall_queue *queue, uint64_t ns);

/** The process of a row, made if need be. NULL: no memory. */
struct stall_process *stall_history_process(struct stall_history *history,
					    const struct stall_row *row);
/** Forgets it, if no row and no open episode is its. */
void stall_history_release(struct stall_history *history, struct stall_process *process);
int stall_history_sample(struct stall_history *history, struct stall_process *process,
			 const struct stall_row *row);
/** @ms: since the tick before */
int stall_history_disk(struct stall_history *history, const struct stall_row *row, float ms);
int stall_history_note(struct stall_history *history, const struct stall_row *row);
/** What a row of the kernel's own figures tells. */
void stall_tick_system(struct stall_tick *tick, const struct stall_row *row);
/** Forgets what is older. */
void stall_history_forget(struct stall_history *history, uint64_t before_ns);

/** A number of @row, NaN if it is not known. */
static inline float stall_number(const struct stall_row *row, enum stall_number number)
{
	return stall_row_has(row, number) ? (float)row->numbers[number] : NAN;
}

/** Adds what is known: NaN + 3 is 3. */
static inline void stall_add(double *sum, double value)
{
	if (!isnan(value))
		*sum = isnan(*sum) ? value : *sum + value;
}

/** Fills in everything that @stall's span and the lead-in tell, but the times and the victims. */
int stall_figures(struct stall_history *history, uint64_t window_ns, struct stall_event *stall);
/** Victims of a moment: whoever was blocked at all. */
int stall_moment_victims(struct stall_history *history, struct stall_event *stall);
/** Puts @victim among those of @stall. */
void stall_add_victim(struct stall_event *stall, const struct stall_victim *victim);
/** Who wrote much is no victim in the first place: sorts them behind. */
void stall_rank_victims(struct stall_event *stall);

#endif
