/* SPDX-License-Identifier: MIT */
/**
 * @file
 * The formats of `blkbox export`.
 */
#ifndef BLKBOX_CLI_EXPORT_H
#define BLKBOX_CLI_EXPORT_H

#include "filter.h"

/** The command's arguments. */
struct export_options {
	const struct export_format *format;
	char *output; /* -o; NULL if not given */
	bool merged;
	int protocol; /* 0 = as recorded */
	bool force;
	struct filter filter;
	char **paths;
	size_t n_paths;
};

/** One output format. @run returns an exit status and prints its own messages. */
struct export_format {
	const char *name;
	const char *summary;
	int (*run)(const struct export_options *options, struct recording *recording);
};

int export_blktrace(const struct export_options *options, struct recording *recording);
int export_jsonl(const struct export_options *options, struct recording *recording);
int export_csv(const struct export_options *options, struct recording *recording);
int export_perfetto(const struct export_options *options, struct recording *recording);
int export_ctf(const struct export_options *options, struct recording *recording);
int export_sqlite(const struct export_options *options, struct recording *recording);

struct sink;
/**
 * Sends the events of @recording that pass the filter into @sink and finishes it, with a line of
 * progress on a terminal when it takes longer. 0, or an error told in @why.
 */
int export_events(const struct export_options *options, struct recording *recording,
		  struct sink *sink, struct why *why);

#endif
