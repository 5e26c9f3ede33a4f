/* SPDX-License-Identifier: MIT */
/**
 * @file
 * What the kinds of inputs share. Only src/format/input*.c include it.
 */
#ifndef BLKBOX_FORMAT_INPUT_PRIVATE_H
#define BLKBOX_FORMAT_INPUT_PRIVATE_H

#include "input.h"

#include <sys/stat.h>

struct input {
	enum input_kind kind;
	char *name;
	struct stat st;		/* of the file, unless it is INPUT_SET */
	struct log_reader *log; /* INPUT_LOG */
	struct log_device *devices;
	size_t n_devices;
	struct input_channel *channels;
	int *fds; /* of foreign inputs: one for each channel */
	size_t n_channels;
};

/** Adds a channel; takes @name and @fd over, also on failure. */
int input_add_channel(struct input *input, const struct input_channel *channel, int fd);
/** Adds a device that only its name tells, and its dev_t from the first record in @fd if any. */
int input_add_foreign_device(struct input *input, const char *name, int fd);

/** Fills @input from a log; adopts @fd. */
int input_open_log(struct input *input, int fd, struct why *why);
/** A channel of the log, as records whatever its kind is. */
int input_log_source(struct input *input, size_t channel, struct source **ret, struct why *why);
/** Fills @input from BASE.blktrace.*; -ENOENT (and no sentence) if there is none. */
int input_open_set(struct input *input, const char *base, struct why *why);
/** If @path is BASE.blktrace.N: a copy of BASE, else NULL. */
char *input_set_base(const char *path);
/** Is the seekable file at @fd any recording, as far as its start tells? -EBADMSG, -ENOTSUP */
int input_check_start(int fd, const char *name, struct why *why);
enum {
	INPUT_LOOK_BYTES = 1 << 20 /* of a file's start, in which a record is looked for */
};
/**
 * Copies what comes from @fd into an unlinked file, which *@ret_fd then is. Fails as
 * input_check_start() as soon as that can be told: what comes may have no end.
 */
int input_spool(int fd, const char *name, int *ret_fd, struct why *why);

#endif
