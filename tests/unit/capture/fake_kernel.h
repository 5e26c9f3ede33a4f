/* SPDX-License-Identifier: MIT */
/**
 * @file
 * A made-up kernel over a made-up tree: it knows block devices, traces them into files of the tree,
 * and fails where a test tells it to.
 *
 * SETUP makes <debugfs>/block/NAME/{dropped,msg,trace0...}; a test puts records into the trace
 * files with fake_kernel_emit(). Files are read as they are; what a file's length says can be less.
 */
#ifndef BLKBOX_TEST_FAKE_KERNEL_H
#define BLKBOX_TEST_FAKE_KERNEL_H

#include "fake_tree.h"
#include "kernel.h"

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define FAKE_DEBUGFS "/sys/kernel/debug"
#define FAKE_TRACEFS "/sys/kernel/tracing"

enum {
	FAKE_TRACES_MAX = 8
};

/** One for each request queue. */
struct fake_trace {
	bool in_use;
	char disk[64]; /* in /sys/block */
	char name[64]; /* of its directory in debugfs */
	bool running;
	/* What SETUP was asked for. */
	int protocol;
	uint64_t mask, start_lba, end_lba;
	uint32_t buffer_bytes, buffer_count, pid;
	unsigned starts, stops;
};

struct fake_kernel {
	struct kernel_ops ops; /* to be handed to the code under test */
	struct fake_tree *tree;
	/* What it is like; a test changes these at will. */
	bool v2;	  /* knows protocol v2 */
	bool no_blktrace; /* CONFIG_BLK_DEV_IO_TRACE=n */
	bool locked_down; /* integrity: as real debugfs does */
	unsigned cpus;	  /* trace files for each device: 0 .. cpus - 1 */
	int setup_error;  /* -errno that SETUP fails with, and how often from now on */
	unsigned setup_errors;
	int start_error;
	const char *open_fails; /* opening a path that ends like this gives open_error */
	int open_error;
	uint64_t unfinished_bytes; /* of a running trace's files: not in their length */
	uint64_t skipped_bytes;	   /* in the length of files, but never to be read */
	uint64_t debugfs_type;	   /* of everything below FAKE_DEBUGFS */
	/* What it has seen. */
	struct fake_trace traces[FAKE_TRACES_MAX];
	unsigned setups, teardowns;
	pthread_mutex_t lock;
};

/** Mounts and CPUs that most tests want: debugfs, tracefs (nop; blk is there), two CPUs. */
void fake_kernel_init(struct fake_kernel *kernel, struct fake_tree *tree);
void fake_kernel_deinit(struct fake_kernel *kernel);

/** Appends to a CPU's channel. */
void fake_kernel_emit(struct fake_kernel *kernel, const char *name, unsigned cpu, const void *bytes,
		      size_t size);
void fake_kernel_set_dropped(struct fake_kernel *kernel, const char *name, uint64_t dropped);
/** Somebody else's STOP and TEARDOWN, or the device's removal: files give EIO from now on. */
void fake_kernel_end_trace(struct fake_kernel *kernel, const char *name);
/** The trace with this name; NULL if there is none. */
struct fake_trace *fake_kernel_trace(struct fake_kernel *kernel, const char *name);

#endif
