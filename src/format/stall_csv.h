/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Reads samples, the CSV of `blkbox stall` and of the script that its columns come from: as bytes
 * that come in any pieces. None of them is trusted, and memory does not grow with them.
 *
 * A row that is damaged is passed over and counted. Names that break a row where nobody quotes them
 * are put together again: commas, by the fields on both sides; newlines, by the rest of the row.
 */
#ifndef BLKBOX_FORMAT_STALL_CSV_H
#define BLKBOX_FORMAT_STALL_CSV_H

#include "cleanup.h"
#include "stall_row.h"
#include "why.h"

struct stall_csv;

/** What the bytes were. */
struct stall_csv_health {
	uint64_t lines; /* ends of lines */
	uint64_t rows;	/* handed out */
	uint64_t damaged;
	uint64_t first_damaged_line; /* from 1 */
	struct stall_fault first_fault;
	uint64_t mended;   /* rows whose name had to be put together: they are among @rows */
	uint64_t cut_line; /* the last line has no end; 0 = it has one */
};

/** A row, valid during the call. What is not 0 ends the reading and is handed on. */
typedef int (*stall_csv_row)(void *context, const struct stall_row *row);

/** -ENOMEM. @context is borrowed. */
int stall_csv_create(stall_csv_row row, void *context, struct stall_csv **ret);
void stall_csv_destroy(struct stall_csv *csv);
DEFINE_CLEANUP(struct stall_csv, stall_csv_destroy);

/** The next bytes. -EBADMSG: they do not start with a header; or what the callback returned. */
int stall_csv_feed(struct stall_csv *csv, const void *bytes, size_t n);
/** No more bytes. As stall_csv_feed(); -ENODATA: there was nothing at all. */
int stall_csv_finish(struct stall_csv *csv);

/** So far. */
const struct stall_csv_health *stall_csv_health(const struct stall_csv *csv);

#endif
