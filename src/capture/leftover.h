/* SPDX-License-Identifier: MIT */
/**
 * @file
 * What a recorder that died had not read yet from the kernel's buffers, and its log, which is
 * finished with that: by its guardian, or by the recorder that takes its trace over.
 */
#ifndef BLKBOX_CAPTURE_LEFTOVER_H
#define BLKBOX_CAPTURE_LEFTOVER_H

#include "device.h"
#include "kernel.h"
#include "log_format.h"
#include "span_sink.h"
#include "sysroot.h"
#include "tracing_state.h"
#include "why.h"

#include <stddef.h>
#include <stdint.h>

/** The rest of one channel. */
struct leftover {
	uint32_t disk; /* block_device.disk; 0: one buffer serves all */
	uint32_t cpu;
	enum log_channel_kind kind;
	uint8_t *bytes;
	size_t size;
	uint64_t end_offset; /* of the channel, as the kernel counts; 0: it does not tell */
};

struct leftovers {
	struct leftover *items;
	size_t n;
	struct leftover_drops {
		uint32_t disk;
		uint64_t count; /* since the set-up */
	} * drops;
	size_t n_drops;
	uint64_t entries; /* read from the machine's trace buffer, by whomever */
};

void leftovers_deinit(struct leftovers *leftovers);
/** Bytes of all channels. */
uint64_t leftovers_bytes(const struct leftovers *leftovers);

/**
 * Stops the relay trace of @device and reads what is left in its channels. It stays set up.
 *
 * @fd: of the device's node
 * Best effort: what cannot be read, or has no room in memory, is left out, and is a gap in the log.
 */
void leftovers_take_relay(const struct sysroot *root, const struct kernel_ops *kernel,
			  const char *debugfs, const struct block_device *device, int fd,
			  struct leftovers *leftovers);
/** The same for the machine's trace buffer, of which nobody gets more from now on. */
void leftovers_take_ftrace(const struct sysroot *root, const struct kernel_ops *kernel,
			   struct tracing_state *state, struct leftovers *leftovers);

/**
 * Appends what is left over to the unfinished log, behind a gap of what died with the recorder's
 * memory, ends it as LOG_END_KILLED, and gives it its name if nobody has that. -EALREADY: it was
 * whole.
 */
int leftovers_finish_log(const struct leftovers *leftovers, const struct log_rescue *log,
			 struct why *why);

/**
 * The inode of the file "dropped" of the device's relay trace, by which it is told from another
 * one: the directory may be there without a trace. -ENOENT: there is none.
 */
int leftover_trace_inode(const struct sysroot *root, const struct kernel_ops *kernel,
			 const char *debugfs, const struct block_device *device, uint64_t *ret);

#endif
