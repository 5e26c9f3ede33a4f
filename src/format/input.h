/* SPDX-License-Identifier: MIT */
/**
 * @file
 * One way to open whatever LOG is: a blkbox log, a blktrace set (base name or any one of its
 * files), a stream of records (`blkparse -d`), or standard input and pipes. Told by content.
 *
 * The result is a set of channels. Everything can be read as often as needed: what cannot seek is
 * spooled to an unlinked file in $TMPDIR (or /var/tmp) first.
 */
#ifndef BLKBOX_FORMAT_INPUT_H
#define BLKBOX_FORMAT_INPUT_H

#include "log_reader.h"
#include "source.h"

#include <stdbool.h>

enum input_kind {
	INPUT_LOG,    /* blkbox's own */
	INPUT_SET,    /* BASE.blktrace.CPU */
	INPUT_STREAM, /* records of all CPUs in one file */
};

struct input_channel {
	char *name;	       /* for messages: the file, or "CPU 3 of nvme0n1" */
	uint32_t device_index; /* into input_devices(); LOG_NO_CHANNEL: of several devices */
	uint32_t cpu;	       /* LOG_NO_CPU: of several CPUs */
	uint32_t kind;	       /* enum log_channel_kind */
	uint64_t size_bytes;   /* raw */
};

struct input;

/**
 * @path: as the user gave it; "-" is standard input
 *
 * -ENOENT, -EACCES ...: from the system; -EISDIR; -EBADMSG: no recording; -ENOTSUP: made by a newer
 * program or kernel. An empty file of a set is a CPU without events; by itself it is no recording.
 */
int input_open(const char *path, struct input **ret, struct why *why);
void input_close(struct input *input);
DEFINE_CLEANUP(struct input, input_close);

enum input_kind input_kind(const struct input *input);
/** True if @path is BASE.blktrace.CPU, a file of a set; @ret_base_bytes: the length of BASE. */
bool input_set_parse(const char *path, size_t *ret_base_bytes, uint32_t *ret_cpu);
/** True if @path is one of the files that the input is read from. */
bool input_reads(const struct input *input, const char *path);
/** True if both are read from the same file, or set of files. */
bool input_is_same(const struct input *a, const struct input *b);
/** As the user gave it; "standard input" for "-". */
const char *input_name(const struct input *input);
size_t input_channels(const struct input *input, const struct input_channel **ret);
/** Devices that the input names. Of foreign inputs only the name is known, and dev_t 0 if empty. */
size_t input_devices(const struct input *input, const struct log_device **ret);
/** NULL unless it is INPUT_LOG. */
struct log_reader *input_log(const struct input *input);

/**
 * The records of a channel, from its start. @input must outlive it. A channel of LOG_FTRACE_PAGES
 * comes as records too; source_ftrace_counts() of *@ret then tells what else was in the pages.
 */
int input_source(struct input *input, size_t channel, struct source **ret, struct why *why);

#endif
