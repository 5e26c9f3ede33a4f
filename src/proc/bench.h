/* SPDX-License-Identifier: MIT */
/**
 * @file
 * What experiments are made with: a directory, a payload, workers whose counters are read from
 * outside, and the steps that many of them share.
 */
#ifndef BLKBOX_PROC_BENCH_H
#define BLKBOX_PROC_BENCH_H

#include "crew.h"
#include "file_system.h"
#include "observation.h"

#include <stdbool.h>
#include <stddef.h>

enum {
	READ_BYTES = 64 << 10,	 /* of one buffered read */
	DIRECT_BYTES = 1 << 20,	 /* of one direct read or write */
	FILLING = 'A',		 /* what the payload consists of */
	BUFFER_ALIGNMENT = 4096, /* as direct I/O may need it */
};

struct bench {
	struct crew *crew;
	int proc_fd;
	int dir_fd;
	const char *dir; /* for messages */
	struct file_system file_system;
	size_t payload_bytes;
	const char *payload;
	bool write_back;	   /* before and after each experiment: its I/O is told apart */
	const char *cgroup;	   /* to be made; NULL: none can be */
	const char *cgroup_reason; /* why not */
};

/** One experiment: what it does, and what the kernel is expected to count. */
struct experiment {
	const char *name; /* key of the document */
	const char *expectation;
	/** @observation: empty, but for the repetition. Files that it leaves are removed. */
	int (*run)(const struct bench *bench, struct observation *observation, struct why *why);
};

/** The four of the basic suite. */
extern const struct experiment basic_experiments[4];
/** What the extended suite adds. */
extern const struct experiment direct_experiments[4];
extern const struct experiment memory_experiments[2];
extern const struct experiment copy_experiments[3];
extern const struct experiment uring_experiments[1];
extern const struct experiment family_experiments[3];
extern const struct experiment cgroup_experiments[1];

/** A worker and its counters. */
struct member {
	struct worker *worker;
	struct io_counters before, after, delta;
};

/** The files are there: what the devices do from now on is the experiment's. */
int bench_begin(const struct bench *bench, struct observation *observation, struct why *why);

/** With write_back, waits for it; what the devices do from now on is not the experiment's. */
int bench_end(const struct bench *bench, struct observation *observation, struct why *why);

/** Hires a worker, which stops before @action, and reads its counters. @role: literal. */
int bench_hire(const struct bench *bench, struct observation *observation, const char *role,
	       worker_action action, struct member *ret, struct why *why);
/** Lets it act until it stops again, and reads its counters. */
int bench_act(const struct bench *bench, struct member *member, struct why *why);
/** True if the worker was refused what it needs: the observation is skipped, with the reason. */
bool bench_is_refused(const struct bench *bench, struct observation *observation,
		      const struct member *member);
/**
 * All of it: hires one worker, begins, lets it act, dismisses it, ends; publishes its counters as
 * those of the observation. 1; 0: it was refused what it needs, and the observation is skipped.
 * @ret: as it was in the end; its report is valid.
 */
int bench_measure(const struct bench *bench, struct observation *observation, worker_action action,
		  struct member *ret, struct why *why);

/** In the maker: a new file with the payload, written back. */
int bench_make_file(const struct bench *bench, const char *name, struct why *why);
/** In the maker: a new file that is one hole of the payload's size. */
int bench_make_hole(const struct bench *bench, const char *name, struct why *why);
/** In the maker: a new file without anything in it. */
int bench_make_empty(const struct bench *bench, const char *name, struct why *why);
/** In the maker: are all pages of a file in the page cache? */
bool bench_is_cached(const struct bench *bench, const char *name);
/** In the maker: -EBADMSG unless the file consists of the payload's size of @filling. */
int bench_check_file(const struct bench *bench, const char *name, char filling, struct why *why);

/**
 * A counter of bytes that go to a device, if the file system has one: none where it lives in
 * memory. Where the file system's ways are not known, only a match is a result.
 */
void expect_device_bytes(const struct bench *bench, struct observation *observation,
			 const char *subject, const struct io_counters *delta,
			 enum io_counter counter, enum relation relation, uint64_t expected);
/** All of the calls and bytes that a worker makes: rchar, syscr, wchar, syscw. */
struct expected_calls {
	uint64_t rchar, syscr, wchar, syscw;
};
void expect_calls(struct observation *observation, const char *subject,
		  const struct io_counters *delta, struct expected_calls expected);

/* In workers. @name: in the directory. All as worker_action's result. */

int worker_open(struct worker_report *report, const char *name, int flags);
/** read(2) in pieces until the end, and compares; -EBADMSG. */
int worker_read(const struct bench *bench, struct worker_report *report, int fd, char filling);
/** Opens a file that is there, writes the payload, and, with @sync, waits until it is written back.
 */
int worker_write_file(const struct bench *bench, struct worker_report *report, const char *name,
		      int flags, bool sync);
/** One write(2) of the payload, more if the kernel takes less. */
int worker_write(const struct bench *bench, struct worker_report *report, int fd);

#endif
