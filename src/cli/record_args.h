/* SPDX-License-Identifier: MIT */
/**
 * @file
 * What `blkbox record` was asked to do.
 */
#ifndef BLKBOX_CLI_RECORD_ARGS_H
#define BLKBOX_CLI_RECORD_ARGS_H

#include "session.h"
#include "text.h"

#include <stdbool.h>
#include <stdint.h>

enum record_format {
	RECORD_LOG,
	RECORD_BLKTRACE, /* a file for each device and CPU, as blktrace writes them */
	RECORD_STREAM,	 /* -o -: merged records on standard output */
	RECORD_TEXT,	 /* `blkbox live`: lines on standard output */
};

struct record_args {
	struct session_options session;
	char **devices;	      /* what session.devices points to */
	char *const *command; /* NULL: none */
	enum record_format format;
	const char *output;	/* -o; NULL: named after the devices */
	const char *directory;	/* -D */
	uint64_t time_limit_ns; /* 0: none */
	int protocol;		/* of RECORD_BLKTRACE and RECORD_STREAM; 0: as recorded */
	bool drop_caches;
	bool as_root; /* run @command as root, whoever called sudo */
	bool flush;
	bool compress;
	bool strict;
	bool quiet;
	bool format_given;
	/* RECORD_TEXT: */
	struct filter *filter; /* borrowed */
	struct text_options text;
};

/** Records as asked for. @name: of the command, for messages. Returns the exit status. */
int record_run(const char *name, const struct record_args *args, int argc, char **argv);

/** Exits on wrong usage. */
void record_args_parse(struct record_args *args, int argc, char **argv);
void record_args_deinit(struct record_args *args);

#endif
