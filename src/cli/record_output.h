/* SPDX-License-Identifier: MIT */
/**
 * @file
 * The output of `blkbox record`: a log, blktrace's files, or a stream.
 */
#ifndef BLKBOX_CLI_RECORD_OUTPUT_H
#define BLKBOX_CLI_RECORD_OUTPUT_H

#include "blktrace_out.h"
#include "log_sink.h"
#include "record_args.h"

struct record_output {
	const struct span_sink *sink;  /* for the session */
	struct log_sink *log;	       /* RECORD_LOG */
	struct files_sink *files;      /* RECORD_BLKTRACE */
	struct live_sink *live;	       /* RECORD_STREAM; RECORD_BLKTRACE with another protocol */
	struct blktrace_files *split;  /* what @live writes into; NULL: no files */
	struct blktrace_counts counts; /* of what @live writes */
	bool to_stdout;
	struct scene scene; /* of RECORD_TEXT */
};

/** Opens what @args ask for; named after the devices of @session if they name nothing. */
int record_output_open(struct record_output *output, const struct record_args *args,
		       const struct session *session, struct why *why);
/** Removes what was begun. */
void record_output_discard(struct record_output *output);
void record_output_deinit(struct record_output *output);

/** Events go to standard output. */
bool record_output_is_stdout(const struct record_args *args);
/** Events must be read live for it. */
bool record_output_is_live(const struct record_args *args);

/** What to tell people of it: a path, "standard output". */
const char *record_output_name(const struct record_output *output);
/** Bytes written so far; 0 where nobody counts. */
uint64_t record_output_bytes(const struct record_output *output);

/** META strings that only the command line knows. *@ret: to be freed. */
int record_meta(const struct record_args *args, int argc, char **argv, char **ret,
		size_t *ret_bytes, struct why *why);

#endif
