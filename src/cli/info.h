/* SPDX-License-Identifier: MIT */
/**
 * @file
 * What `blkbox info` and `blkbox verify` share.
 */
#ifndef BLKBOX_CLI_INFO_H
#define BLKBOX_CLI_INFO_H

#include "json.h"
#include "overview.h"

struct info {
	struct input *input;
	struct overview overview;
};

/** A fact that a log tells of itself, or NULL; of other inputs always NULL. */
const char *info_meta(const struct info *info, const char *key);
/** CLOCK_MONOTONIC as wall clock. */
uint64_t info_real_ns(const struct info *info, uint64_t mono_ns);
/** "log", "blktrace" (files) or "stream": what the input is. */
const char *info_kind(const struct info *info);
/** NULL: the log was cut off, or is no log. @words: for people, else for programs. */
const char *info_end_reason(const struct info *info, bool words);

int info_print_text(const struct info *info);
/** To standard output; 0 or -errno of writing. */
int info_print_json(const struct info *info);

/** "health": of a log. */
void json_log_health(struct json *json, const struct log_health *health);

/** The shared arguments of both commands: LOG and --json. */
struct log_args {
	const char *path;
	bool json;
};
void log_args_parse(int argc, char **argv, const char *doc, struct log_args *ret);

#endif
