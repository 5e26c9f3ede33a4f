/* SPDX-License-Identifier: MIT */
/**
 * @file
 * One row of the samples of `blkbox stall` (or of the script that its columns come from).
 */
#ifndef BLKBOX_FORMAT_STALL_ROW_H
#define BLKBOX_FORMAT_STALL_ROW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	STALL_NAME_BYTES = 64,	  /* of a process, thread, disk, kernel function: the rest is cut */
	STALL_NOTE_BYTES = 256,	  /* of a note */
	STALL_COLUMNS_MAX = 128,  /* of a header */
	STALL_RECORD_MAX = 16384, /* bytes of a row */
};

/** Columns that hold a number. Of deltas: since the tick before. */
enum stall_number {
	STALL_WCHAR_KB,	 /* through write calls */
	STALL_WBYTES_KB, /* to the device, as the kernel charges it */
	STALL_BLKIO_MS,	 /* waited for block I/O; told when a wait ends */
	STALL_DISK_WRITE_KB,
	STALL_DISK_BUSY_MS,
	STALL_COMPACT,
	STALL_ALLOCSTALL,
	STALL_MAJFAULT,
	STALL_DIRTY_KB, /* this and the next three: absolute */
	STALL_WRITEBACK_KB,
	STALL_MEMFREE_KB,
	STALL_MEMAVAIL_KB,
	STALL_WORST_TID,
	STALL_START_MS,
	STALL_RCHAR_KB,
	STALL_RBYTES_KB,
	STALL_SWAPIN_MS,
	STALL_PSI_IO_SOME_MS,
	STALL_PSI_IO_FULL_MS,
	STALL_PSI_MEMORY_SOME_MS,
	STALL_PSI_MEMORY_FULL_MS,
	STALL_DISK_READ_KB,
	STALL_DISK_QUEUE_MS,
	STALL_DISK_IN_FLIGHT, /* absolute */
	STALL_MISSED_TICKS,
	STALL_NUMBERS
};

enum stall_row_kind {
	STALL_ROW_PROCESS,
	STALL_ROW_OTHER, /* the sum of all processes that are not watched */
	STALL_ROW_SYSTEM,
	STALL_ROW_DISK,
	STALL_ROW_NOTE,
};

struct stall_row {
	enum stall_row_kind kind;
	bool has_wall;
	uint64_t wall_ns; /* since 1970 */
	uint64_t mono_ns;
	uint32_t pid;
	char state;	/* as in /proc/PID/stat; '\0' = not known */
	uint32_t known; /* bit n: enum stall_number n is there; an empty field is not known */
	double numbers[STALL_NUMBERS];
	char name[STALL_NOTE_BYTES]; /* of the process; the text of a note */
	char thread[STALL_NAME_BYTES];
	char wchan[STALL_NAME_BYTES];
	char cgroup[STALL_NOTE_BYTES];
	char disk[STALL_NAME_BYTES];
};

static inline bool stall_row_has(const struct stall_row *row, enum stall_number number)
{
	return row->known & 1u << number;
}

/** In state D, and not in a wait that is never one for I/O: as far as its wait channel is known. */
bool stall_row_is_blocked(const struct stall_row *row);

/** Which field is which column. */
struct stall_header {
	size_t n_columns;
	int8_t columns[STALL_COLUMNS_MAX]; /* enum stall_number, or one of stall_row.c's; -1:
					      unknown */
	size_t name;			   /* the field that holds the process's name */
};

struct stall_field {
	char *text; /* ended by a NUL */
	size_t n;
};

/**
 * Reads the column names. False: no header, or one without mono, proc and pid, which tell when and
 * whose; @ret is untouched.
 */
bool stall_header_parse(const struct stall_field *fields, size_t n, struct stall_header *ret);

/** Why a row is none: "field 4 (pid): 'x' is no number". */
struct stall_fault {
	char text[160];
};

/**
 * Fields into a row. Too many of them are put together to a name with commas, if that makes sense.
 * False: @fault says what is wrong; @ret is undefined.
 */
bool stall_row_parse(const struct stall_header *header, struct stall_field *fields, size_t n,
		     struct stall_row *ret, struct stall_fault *fault);

#endif
