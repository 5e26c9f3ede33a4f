/* SPDX-License-Identifier: MIT */
/**
 * @file
 * A recording: devices, a source, the threads that move its bytes, and the way it ends.
 */
#ifndef BLKBOX_CAPTURE_SESSION_H
#define BLKBOX_CAPTURE_SESSION_H

#include "collector.h"
#include "trace_source.h"
#include "span_sink.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct session_options {
	char *const *devices; /* as the user names them */
	size_t n_devices;
	enum source_kind source;
	struct trace_options trace; /* buffer sizes 0: chosen from the memory there is */
	size_t ring_bytes;	    /* of each channel, power of two; 0: chosen too */
	bool live;		    /* hand events over within a tenth of a second */
	bool takeover;		    /* what a killed recorder left on the devices */
	bool force;		    /* buffers that take more memory than is reasonable */
	/** "key=value" strings, each with its NUL, for the log's META: command, arguments, ... */
	const char *meta;
	size_t meta_bytes;
	/* Seams for tests; NULL: this machine. */
	const struct sysroot *root;
	const struct kernel_ops *kernel;
};

struct device_report {
	struct log_device device;
	uint64_t events;
	uint64_t notes;
	uint64_t bytes;
	uint64_t dropped;	  /* by the kernel, without: */
	uint64_t dropped_at_stop; /* counted by STOP itself: mostly no loss */
};

struct channel_report {
	struct log_channel id;
	struct log_total total;
	uint64_t full_waits; /* times that its reader waited for the output */
};

/** How a recording went. Arrays belong to the session. */
struct session_report {
	enum log_end_reason reason;
	/** Nothing was lost, nothing went wrong. */
	bool complete;
	const char *source; /* "relay", "ftrace" */
	const struct device_report *devices;
	size_t n_devices;
	const struct channel_report *channels;
	size_t n_channels;
	const struct log_drops *windows; /* when events were lost */
	size_t n_windows;
	const struct remarks *remarks;
	uint64_t dropped;    /* on all devices */
	uint64_t full_waits; /* > 0: the output was too slow at times, not the buffers too small */
};

struct session;

/** Finds the devices, sizes the buffers, checks that everything fits. The kernel is not touched. */
int session_open(const struct session_options *options, struct session **ret, struct why *why);
/** Stops, without a report, whatever still runs; nothing is left in the kernel. */
void session_destroy(struct session *session);

/**
 * Sets the kernel up and starts recording. On failure everything is undone.
 * @sink: borrowed until session_destroy(); its output is open already, so that one that cannot be
 *        had was refused before the kernel is touched
 */
int session_start(struct session *session, const struct span_sink *sink, struct why *why);

/** Readable when the recording has ended by itself: device gone, output failed. Then stop. */
int session_event_fd(const struct session *session);
void session_progress(const struct session *session, struct progress *ret);
/** Devices as resolved; valid from session_open() on. Names as in sysfs. */
size_t session_devices(const struct session *session, const struct block_device **ret);
/** What was chosen for this recording. */
const struct trace_options *session_trace_options(const struct session *session);
const char *session_source_name(const struct session *session);
/** One sentence about how it was started that people should know, or NULL. After the start. */
const char *session_notice(const struct session *session);
/** Readable while there are sentences that people should hear: see session_next_news(). */
int session_news_fd(const struct session *session);
/** The oldest of them; false if there is none. */
bool session_next_news(struct session *session, struct why *ret);

/**
 * Begins to write out what is dirty on the devices (BLKFLSBUF), in a child process, because nobody
 * can interrupt it; recording goes on. Returns a pidfd that is readable when it is done, to be
 * closed by the caller; closing it does not end the flush.
 */
int session_flush(struct session *session, struct why *why);
/** How that ended: 0, or the -errno of a device that could not be flushed. Waits for it. */
int session_flush_result(int pidfd);

/**
 * Ends the recording: drain what is finished, read the loss counters, STOP, drain the rest, finish
 * the sink, TEARDOWN. @ret is set in every outcome; < 0: the sink or the kernel failed on the way,
 * and the report says what was kept.
 */
int session_stop(struct session *session, enum log_end_reason reason, struct session_report *ret,
		 struct why *why);

#endif
