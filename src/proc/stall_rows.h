/* SPDX-License-Identifier: MIT */
/**
 * @file
 * The rows of `blkbox stall`: their columns, and how figures become fields.
 */
#ifndef BLKBOX_PROC_STALL_ROWS_H
#define BLKBOX_PROC_STALL_ROWS_H

#include "csv.h"
#include "disks.h"
#include "io_counters.h"
#include "machine.h"
#include "thread_group.h"

/** Of one moment. */
struct stall_tick {
	uint64_t mono_ns;
	uint64_t real_ns;
	bool all_columns;
	uint64_t disk_write_sectors; /* of the watched disks together; FIGURE_UNKNOWN */
	uint64_t disk_busy_ms;
	uint64_t missed; /* ticks before this one */
};

/** What one or several processes have done since the last tick. */
struct stall_figures {
	uint64_t delta[N_IO_COUNTERS];
	uint64_t blkio_ms;
	uint64_t swapin_ms;
};

/** The columns' names, a row. */
const char *stall_header(bool all_columns);

/** Of processes that are written about: who wrote or waited, for swapped-out pages, too. */
bool stall_has_signal(const struct stall_figures *figures);
void stall_figures_of(const struct thread_group *process, struct stall_figures *ret);
/** Adds what is known. */
void stall_figures_add(struct stall_figures *sum, const struct stall_figures *figures);
#define STALL_FIGURES_NONE                                                                         \
	(struct stall_figures)                                                                     \
	{                                                                                          \
		.delta = {[0 ... N_IO_COUNTERS - 1] = FIGURE_UNKNOWN}, .blkio_ms = FIGURE_UNKNOWN, \
		.swapin_ms = FIGURE_UNKNOWN                                                        \
	}

/** @proc_fd: stands for /proc */
void stall_process_row(struct csv_row *row, const struct stall_tick *tick, int proc_fd,
		       const struct thread_group *process, const char *label, char state,
		       const struct stall_figures *figures);
/** All that have no row of their own. */
void stall_other_row(struct csv_row *row, const struct stall_tick *tick,
		     const struct stall_figures *figures);
void stall_disk_row(struct csv_row *row, const struct stall_tick *tick, const struct disk *disk);
void stall_machine_row(struct csv_row *row, const struct stall_tick *tick,
		       const struct machine_sample *now, const struct machine_sample *before);
/** "NOTE: TEXT" */
void stall_note_row(struct csv_row *row, const struct stall_tick *tick, const char *text);

/** Where in the kernel a thread waits; false: not to be had. */
bool stall_wait_channel(int proc_fd, pid_t pid, pid_t tid, char *ret, size_t size);

#endif
