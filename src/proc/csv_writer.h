/* SPDX-License-Identifier: MIT */
/**
 * @file
 * The thread that writes rows to their file, at the lowest I/O priority. While the file cannot be
 * written, they wait in the ring, and it is tried again and again.
 */
#ifndef BLKBOX_PROC_CSV_WRITER_H
#define BLKBOX_PROC_CSV_WRITER_H

#include "csv_file.h"
#include "row_ring.h"
#include "stall_rows.h"

#include <pthread.h>

struct csv_writer {
	struct csv_file file;
	struct row_ring *rows; /* borrowed */
	bool all_columns;
	pthread_t thread;
	bool running;
	int dead_fd; /* eventfd: readable when nobody reads the output any more */
	char *buffer;
	size_t n; /* bytes in it */
	/* Since when the output fails, of the clock for notes. */
	int failing; /* -errno; 0 */
	uint64_t failing_since_ns;
	_Atomic uint64_t bytes; /* written */
	_Atomic int error;	/* -errno as long as the output fails; 0 */
	atomic_bool stop;
	atomic_bool reopen;
};

/** Opens the output. @rows: borrowed. Errors as csv_file_open(). */
int csv_writer_init(struct csv_writer *writer, const struct csv_file_options *options,
		    struct row_ring *rows, bool all_columns, struct why *why);
/** Ends the thread, if it runs. */
void csv_writer_deinit(struct csv_writer *writer);
/** 0 or -errno */
int csv_writer_start(struct csv_writer *writer);
/** Opens the output anew; soon. */
void csv_writer_reopen(struct csv_writer *writer);
/** Writes what is there, tries a failing output once more, and ends. Returns how many rows could
 * not be written. */
uint64_t csv_writer_stop(struct csv_writer *writer);

#endif
