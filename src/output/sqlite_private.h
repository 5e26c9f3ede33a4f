/* SPDX-License-Identifier: MIT */
/**
 * @file
 * The inside of the SQLite sink. Only src/output/sqlite*.c include it.
 */
#ifndef BLKBOX_OUTPUT_SQLITE_PRIVATE_H
#define BLKBOX_OUTPUT_SQLITE_PRIVATE_H

#include "ios.h"
#include "scene.h"
#include "sink.h"

#include <sqlite3.h>
#include <uthash.h>

enum insert {
	INSERT_META,
	INSERT_DEVICE,
	INSERT_PROCESS,
	INSERT_EVENT,
	INSERT_IO,
	INSERT_REQUEST,
	INSERT_LOSS,
	INSERTS
};

/* A thread under one of its names: a row of processes. */
struct process_key {
	uint32_t tag, pid;
	char comm[NAMES_COMM_BYTES];
};

struct process {
	struct process_key key;
	int64_t id;
	UT_hash_handle hh;
};

struct sqlite_sink {
	struct sink sink;
	sqlite3 *db;
	sqlite3_stmt *statements[INSERTS];
	const struct scene *scene;
	const struct recording *recording;
	struct ios *ios;
	struct process *processes;
	struct why *why; /* of the call that runs */
};

/* Binds in the order of calls. */
struct binder {
	sqlite3_stmt *statement;
	int n;
};

static inline void bind_number(struct binder *b, uint64_t number)
{
	/* SQLite's integers have a sign; ~0 is the kernel's word for no place. */
	if (number > INT64_MAX)
		sqlite3_bind_null(b->statement, ++b->n);
	else
		sqlite3_bind_int64(b->statement, ++b->n, (int64_t)number);
}

static inline void bind_signed(struct binder *b, int64_t number)
{
	sqlite3_bind_int64(b->statement, ++b->n, number);
}

static inline void bind_null(struct binder *b)
{
	sqlite3_bind_null(b->statement, ++b->n);
}

static inline void bind_time(struct binder *b, uint64_t ns)
{
	if (ns)
		bind_number(b, ns);
	else
		bind_null(b);
}

static inline void bind_text(struct binder *b, const char *text)
{
	sqlite3_bind_text(b->statement, ++b->n, text, text ? -1 : 0, SQLITE_TRANSIENT);
}

static inline struct binder sqlite_insert(struct sqlite_sink *s, enum insert insert)
{
	return (struct binder){.statement = s->statements[insert]};
}

/* sqlite.c */

/** Why the database fails. */
int sqlite_say(struct sqlite_sink *s, struct why *why);
/** Writes the row that was bound. */
int sqlite_step(struct sqlite_sink *s, struct binder *b, struct why *why);

/* sqlite_rows.c */

/** The row number of a device; 0 if the recording has no such one. */
int64_t sqlite_device_id(const struct sqlite_sink *s, uint32_t tag, uint32_t device);
int sqlite_put_event(struct sqlite_sink *s, const struct merge_item *item, struct why *why);
int sqlite_put_io(struct sqlite_sink *s, const struct track_io *io, struct why *why);
int sqlite_put_request(struct sqlite_sink *s, const struct track_io *request, struct why *why);

#endif
