/* SPDX-License-Identifier: MIT */
/**
 * @file
 * What the memory management of the machine does: counters that tell why somebody stalls.
 */
#ifndef BLKBOX_PROC_MACHINE_H
#define BLKBOX_PROC_MACHINE_H

#include "proc_file.h"

#include <stdbool.h>

/** Any may be FIGURE_UNKNOWN. */
enum machine_figure {
	/* They grow. */
	MACHINE_COMPACT_STALL,
	MACHINE_ALLOCSTALL, /* of all zones */
	MACHINE_MAJOR_FAULTS,
	MACHINE_IO_SOME_US, /* pressure stall information: some task waited; all did */
	MACHINE_IO_FULL_US,
	MACHINE_MEMORY_SOME_US,
	MACHINE_MEMORY_FULL_US,
	N_MACHINE_GROWING,
	/* As they are now. */
	MACHINE_DIRTY_KB = N_MACHINE_GROWING,
	MACHINE_WRITEBACK_KB,
	MACHINE_FREE_KB,
	MACHINE_AVAILABLE_KB,
	N_MACHINE_FIGURES
};

struct machine_sample {
	uint64_t value[N_MACHINE_FIGURES];
};

struct machine {
	int vmstat_fd, meminfo_fd, io_fd, memory_fd;
};

void machine_init(struct machine *machine);
void machine_close(struct machine *machine, struct proc_files *files);
/** @memory_pressure: of it, too: it costs one more file. */
void machine_read(struct machine *machine, struct proc_files *files, bool memory_pressure,
		  struct machine_sample *ret);

#endif
