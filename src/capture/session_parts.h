/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Private to the session's own files.
 */
#ifndef BLKBOX_CAPTURE_SESSION_PARTS_H
#define BLKBOX_CAPTURE_SESSION_PARTS_H

#include "news.h"
#include "session.h"

struct session {
	const struct span_sink *sink;
	const struct kernel_ops *kernel;
	const struct sysroot *root;
	struct sysroot own_root;
	enum source_kind kind; /* as asked for */
	struct trace_options trace;
	size_t ring_bytes;
	char *meta;
	size_t meta_bytes;

	struct block_device *devices;
	struct log_device *log_devices;
	size_t n_devices;
	uint64_t *ios_before; /* the devices' own counters */
	uint64_t *ios_after;
	uint64_t started_ns; /* CLOCK_MONOTONIC; the first device is traced from here on */
	uint64_t stopped_ns; /* likewise; no device is any more */

	struct trace_source *source;
	struct reader_shared shared;
	struct collector *collector;
	bool set_up;
	bool started;
	bool takeover;
	struct why notice; /* of session_notice(); empty: none */
	struct news news;

	struct device_report *device_reports;
	struct channel_report *channel_reports;
	struct remarks remarks;
};

/** Decides on relay or ftrace; *@ret is not set up yet. */
int session_choose_source(struct session *session, struct trace_source **ret, struct why *why);

/** Host, kernel, options: everything that a reader wants to know of a recording. */
int session_write_meta(struct session *session, struct why *why);

/** What the source has to add when everything has been read. */
int session_write_end_meta(struct session *session, struct why *why);

/** Is the output on a disk that is recorded? Then that is told, and its writes are marked. */
void session_mark_own_writes(struct session *session);

/** The state files under /run, by which others find out whose trace it is. */
int session_write_state(struct session *session, struct why *why);
void session_remove_state(struct session *session);

/**
 * After everything was read: what the kernel put into the channels and what came out of them must
 * be the same. A difference becomes a loss and *@ret_why a sentence; it is left alone otherwise.
 */
void session_audit(struct session *session, struct why *ret_why);

/** I/Os that each device has completed since boot, from sysfs; 0 where it does not tell. */
void session_count_ios(const struct session *session, uint64_t *ret);

/** @stop_why, @audit_why: what source_ops.stop and .audit had to say, or NULL */
void session_make_report(struct session *session, enum log_end_reason reason, int failure,
			 const struct why *stop_why, const struct why *audit_why,
			 struct session_report *ret);
void session_free_report(struct session *session);

#endif
