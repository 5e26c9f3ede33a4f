/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Records what block devices do.
 *
 *	struct blkbox_session *session;
 *	struct blkbox_options options = BLKBOX_OPTIONS_INIT;
 *	const char *devices[] = {"/dev/nvme0n1"};
 *	char why[BLKBOX_WHY_MAX];
 *
 *	options.devices = devices;
 *	options.n_devices = 1;
 *	if (blkbox_session_open(&options, &session, why) < 0) ...
 *	if (blkbox_session_start(session, why) < 0) ...
 *	... the workload ...
 *	if (blkbox_session_stop(session, &report, why) < 0) ...
 *
 * All functions return 0 or a count, or a negative errno; with it comes one sentence that says what
 * failed, on what, and what to do. A session is not to be used by two threads at once.
 */
#ifndef BLKBOX_SESSION_H
#define BLKBOX_SESSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Room for a sentence, its NUL included. Where a function takes one, NULL is allowed. */
#define BLKBOX_WHY_MAX 512

enum blkbox_source {
	BLKBOX_SOURCE_AUTO = 0, /* relay where it can be had, else ftrace */
	BLKBOX_SOURCE_RELAY = 1,
	BLKBOX_SOURCE_FTRACE = 2,
};

/** What to record, and how. Start from BLKBOX_OPTIONS_INIT; 0 is the default of every field. */
struct blkbox_options {
	/** Paths, LABEL=, UUID=, PARTLABEL=, PARTUUID=, "8:0" or kernel names. */
	const char *const *devices;
	size_t n_devices;
	/** Where the log goes. NULL: it is kept in memory; see blkbox_session_log_fd(). */
	const char *output;
	uint32_t mask;	       /* enum blkbox_category bits; 0: everything */
	uint32_t buffer_bytes; /* of a kernel sub-buffer; 0: from the memory there is */
	uint32_t buffer_count; /* sub-buffers for each CPU and device; 0: likewise */
	uint32_t pid;	       /* thread id; 0: all */
	uint64_t first_sector; /* 512 bytes, on the whole disk */
	uint64_t last_sector;  /* included; 0: to the end */
	enum blkbox_source source;
	bool overwrite;	   /* an output that exists */
	bool no_compress;  /* store the log as it comes */
	bool no_flush;	   /* do not write out what is dirty on the device before the end */
	bool allow_memory; /* buffers that take more than half of the memory */
	/* End what a killed recorder left on the devices, and finish its log. Else -EBUSY. */
	bool takeover;
};

#define BLKBOX_OPTIONS_INIT \
	{                   \
		0           \
	}

/** What one CPU's buffer of one device gave. */
struct blkbox_cpu_report {
	uint32_t device; /* major << 20 | minor */
	uint32_t cpu;
	uint64_t events; /* without notes */
	uint64_t notes;
	uint64_t bytes;
};

struct blkbox_device_report {
	char name[64]; /* the kernel's */
	uint32_t device;
	uint32_t protocol; /* 1 or 2 */
	uint64_t events;
	uint64_t notes;
	uint64_t bytes;
	uint64_t dropped; /* events that the kernel could not hand out */
};

/** A time in which events were lost. */
struct blkbox_loss_window {
	uint32_t device;  /* 0: a buffer that all devices share */
	uint64_t from_ns; /* CLOCK_MONOTONIC */
	uint64_t to_ns;
	uint64_t count;
};

/** How a recording went. The arrays live as long as the session. */
struct blkbox_report {
	bool complete; /* nothing was lost and nothing went wrong */
	uint64_t events;
	uint64_t dropped;
	const struct blkbox_device_report *devices;
	size_t n_devices;
	const struct blkbox_cpu_report *cpus;
	size_t n_cpus;
	const struct blkbox_loss_window *losses;
	size_t n_losses;
	/** Sentences on what else went wrong: a device that was removed, ... */
	const char *const *remarks;
	size_t n_remarks;
};

struct blkbox_session;

/** Finds the devices, sizes the buffers, creates the output. The kernel is not touched. */
int blkbox_session_open(const struct blkbox_options *options, struct blkbox_session **ret,
			char *why);
/**
 * Starts recording; returns when the kernel records. The process should ignore SIGPIPE if the
 * output is a pipe. On failure nothing is left behind in the kernel.
 */
int blkbox_session_start(struct blkbox_session *session, char *why);
/**
 * Writes out what is dirty (unless no_flush), stops, drains, finishes the log. @ret (may be NULL)
 * is set also on failure after a start, with what was kept.
 */
int blkbox_session_stop(struct blkbox_session *session, struct blkbox_report *ret, char *why);
/** Readable when the recording has ended by itself: device gone, output failed. Then stop it. */
int blkbox_session_event_fd(const struct blkbox_session *session);
/**
 * Readable while there are sentences that people should hear: the output takes nothing for now,
 * another one's trace was taken over, ... From blkbox_session_open() on; the session's own.
 */
int blkbox_session_news_fd(const struct blkbox_session *session);
/** The oldest of these sentences; names in it are as the kernel has them. 1, or 0: there is none. */
int blkbox_session_next_news(struct blkbox_session *session, char text[BLKBOX_WHY_MAX]);
/**
 * After the stop of a session without output: the log in memory, for blkbox_log_open_fd(), which
 * adopts it. Once; then -1.
 */
int blkbox_session_log_fd(struct blkbox_session *session);
/** Stops what runs and throws it away: nothing is left in the kernel. Frees. NULL is allowed. */
void blkbox_session_discard(struct blkbox_session *session);

/** Writes out dirty pages and drops the page cache of the whole machine. */
int blkbox_drop_page_cache(char *why);

#ifdef __cplusplus
}
#endif

#endif
