/* SPDX-License-Identifier: MIT */
/**
 * @file
 * What `blkbox record` says on stderr: what it does, how it goes, how it went.
 */
#ifndef BLKBOX_CLI_RECORD_REPORT_H
#define BLKBOX_CLI_RECORD_REPORT_H

#include "record_args.h"
#include "record_output.h"

void record_report_start(const struct session *session, const struct record_args *args);
/** The live line of a terminal. */
void record_report_progress(const struct session *session, uint64_t started_ns);
void record_report_clear_line(void);
void record_report_end(const struct session_report *report, const struct record_args *args,
		       const struct record_output *output, uint64_t duration_ns);

#endif
