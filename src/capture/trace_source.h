/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Where events come from: the kernel's relay channels, or its ftrace buffer. One interface for
 * both.
 */
#ifndef BLKBOX_CAPTURE_TRACE_SOURCE_H
#define BLKBOX_CAPTURE_TRACE_SOURCE_H

#include "channel.h"
#include "device.h"
#include "drops.h"
#include "foreign_writes.h"
#include "guardian.h"
#include "kernel.h"
#include "news.h"
#include "span_sink.h"
#include "sysroot.h"
#include "why.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum source_kind {
	SOURCE_AUTO = 0, /* relay where it opens, else ftrace */
	SOURCE_RELAY,
	SOURCE_FTRACE,
};

/** The sources that this version records from: bits 1 << enum source_kind. */
enum {
	SOURCES_BUILT = 1 << SOURCE_RELAY | 1 << SOURCE_FTRACE
};

/** "auto", "relay", "ftrace". -EINVAL: none of them. */
int source_kind_parse(const char *text, enum source_kind *ret);

/** What the kernel is asked for. */
struct trace_options {
	uint32_t mask;	       /* enum bt_category bits; 0 = everything */
	uint32_t buffer_bytes; /* of a sub-buffer */
	uint32_t buffer_count; /* sub-buffers for each CPU and device */
	uint32_t pid;	       /* thread; 0 = all */
	uint64_t first_sector; /* on the whole disk; 0 = default */
	uint64_t last_sector;  /* 0 = default */
	const char *debugfs;   /* mount point; NULL = look for it */
};

/** What stop() may find. */
enum {
	SOURCE_ENDED = 1,     /* a device's trace had ended before, because it was removed */
	SOURCE_DISTURBED = 2, /* somebody else ended a trace, or may have taken events away */
};

enum read_mode {
	READ_FINISHED, /* only finished sub-buffers: from any CPU */
	READ_LIVE,     /* the unfinished rest too: only on the channel's own CPU */
	READ_REST,     /* after STOP: all that is left */
};

struct trace_source;

/** Called for each channel that the kernel has; the callee adopts @fd in every outcome. */
typedef int source_channel_fn(void *context, const struct log_channel *id, int fd);

struct trace_source_ops {
	const char *name; /* "relay", "ftrace" */
	/**
	 * Least room that read() is given: a whole page for a source that hands out pages.
	 */
	size_t read_unit;
	/** read() is safe and complete from any CPU: readers need not be bound to theirs. */
	bool any_cpu;
	/** Makes the kernel ready; nothing is recorded yet. On failure nothing is left behind. */
	int (*setup)(struct trace_source *source, struct why *why);
	/** Calls @fn for every channel that it was not called for before. @id.channel is not set.
	 */
	int (*find_channels)(struct trace_source *source, source_channel_fn *fn, void *context,
			     struct why *why);
	int (*start)(struct trace_source *source, struct why *why);
	/**
	 * Reads into @room. 0 = nothing there now; -EIO or -ENODEV: the kernel took the channel
	 * away. Any thread, one at a time for each channel.
	 */
	ssize_t (*read)(struct trace_source *source, struct channel *channel, void *room,
			size_t size, enum read_mode mode);
	/** Samples the loss counters into the source's tracker. Any thread. */
	void (*sample_drops)(struct trace_source *source, bool at_stop);
	/**
	 * A look around, twice a second: -ENODEV if device @index or its trace is gone, -EBUSY if
	 * somebody else took the events away; both with the sentence. Collector thread.
	 */
	int (*check)(struct trace_source *source, struct why *why);
	/**
	 * Ends recording; what is buffered stays readable. SOURCE_ENDED or SOURCE_DISTURBED, with a
	 * sentence, if all was not well.
	 */
	int (*stop)(struct trace_source *source, struct why *why);
	/**
	 * After the last read of @channel: how many bytes the kernel has put into it since the
	 * set-up. NULL where it does not tell.
	 */
	int (*produced)(struct trace_source *source, struct channel *channel, uint64_t *ret);
	/**
	 * After the last read: 0 if the kernel's own count of what it handed out is what was read,
	 * else -EBADMSG with the sentence. NULL where the kernel has no such count.
	 */
	int (*audit)(struct trace_source *source, struct why *why);
	/**
	 * Names of threads that were learnt since the last call: their number, or -errno. free()
	 * *@ret. Collector thread, or after its end. NULL where the events tell the names.
	 */
	ssize_t (*collect_names)(struct trace_source *source, bool at_end, struct log_name **ret);
	/**
	 * What was read of device @device on @cpu so far. NULL where each has a channel of its own,
	 * whose records the sink counts. Any thread.
	 */
	void (*count)(struct trace_source *source, uint32_t cpu, uint32_t device,
		      struct log_total *ret);
	/** Takes bytes of @cpu's channel out of that again: they were read, but not recorded. */
	void (*uncount)(struct trace_source *source, uint32_t cpu, const uint8_t *bytes,
			size_t size);
	/**
	 * Adds "key=value" strings, each with its NUL, for the log's META: what its reader needs,
	 * or @at_end what the kernel counted. Or NULL.
	 */
	void (*add_meta)(struct trace_source *source, FILE *out, bool at_end);
	/** Of a file of device @i's trace, by which it is known again. NULL: it has none. */
	uint64_t (*trace_inode)(struct trace_source *source, size_t i);
	/**
	 * Gives everything back to the kernel; may follow any of the above. Unread bytes are gone,
	 * and the channels' files have been closed.
	 */
	int (*teardown)(struct trace_source *source, struct why *why);
	void (*destroy)(struct trace_source *source);
};

/** A source's first member. */
struct trace_source {
	const struct trace_source_ops *ops;
	const struct kernel_ops *kernel;
	const struct sysroot *root;
	struct trace_options options;
	struct block_device *devices;	/* borrowed */
	struct log_device *log_devices; /* borrowed; setup() fills in names and protocol */
	size_t n_devices;
	struct drop_tracker drops;
	struct foreign_writes foreign; /* watches from start() on, under the source's lock */
	struct why notice;	       /* what start() did without; empty: nothing */
	struct guardian guardian;
	unsigned guardians;		 /* that there have been */
	const struct log_rescue *rescue; /* the log, for the guardian to finish; NULL: none */
	struct news *news;		 /* NULL: nobody wants to hear any */
	/* setup() calls it when the guardian is there and before it touches the kernel, and again
	 * when there is another guardian; may be NULL.
	 */
	void (*guarded)(void *context);
	/* teardown() calls it when nothing is left in the kernel and before the guardian goes; may
	 * be NULL. */
	void (*unguarding)(void *context);
	void *guarded_context;
};

/**
 * source->foreign watches the filters of all devices from now on, and, if @enable, what switches
 * their traces on. As foreign_writes_watch().
 */
int trace_source_watch_devices(struct trace_source *source, bool enable);

/**
 * Starts the guardian. @restore gets @source. @keep: descriptors that it needs, beside those of the
 * root and of the log.
 */
int trace_source_guard(struct trace_source *source, void (*restore)(void *source), const int *keep,
		       size_t n_keep, struct why *why);
/** Has somebody ended the guardian? Then its place is free: start another one. Twice a second. */
bool trace_source_lost_guardian(struct trace_source *source);
/** What came of that: @r as trace_source_guard() gave it. Told to people. */
void trace_source_guarded_again(struct trace_source *source, int r, const struct why *why);

int relay_source_create(struct trace_source **ret);
int ftrace_source_create(struct trace_source **ret);

#endif
