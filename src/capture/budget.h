/* SPDX-License-Identifier: MIT */
/**
 * @file
 * How much memory the buffers of a recording may take, decided before the kernel is touched.
 *
 * For each device and CPU the kernel has sub-buffers and we have a ring. The kernel accepts any
 * size and takes the memory at once, up to the machine's last page.
 */
#ifndef BLKBOX_CAPTURE_BUDGET_H
#define BLKBOX_CAPTURE_BUDGET_H

#include "sysroot.h"
#include "why.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** What is asked for; sizes and counts of 0 are chosen by budget_plan(). */
struct budget_request {
	uint64_t sub_buffer_bytes;
	uint64_t sub_buffers; /* for each CPU and device */
	uint64_t ring_bytes;  /* for each CPU and device; a power of two */
	size_t cpus;	      /* online */
	size_t devices;
	uint64_t available_bytes; /* memory_available() */
	bool force;		  /* more than half of the available memory is wanted indeed */
};

struct budget {
	uint32_t sub_buffer_bytes;
	uint32_t sub_buffers;
	size_t ring_bytes;
	uint64_t total_bytes; /* of all channels: sub-buffers and rings */
};

/**
 * Chooses what was not asked for: 32 MiB for each CPU and device in sub-buffers of 256 KiB, and a
 * ring of 4 MiB; on a small machine less, so that all of it stays within 5 % of the available
 * memory. -EINVAL: the kernel cannot do that; -ENOMEM: too much for this machine, unless @force.
 */
int budget_plan(const struct budget_request *request, struct budget *ret, struct why *why);

/** MemAvailable of /proc/meminfo. */
int memory_available(const struct sysroot *root, uint64_t *ret_bytes, struct why *why);

/**
 * Makes sure that this process may have @needed file descriptors: raises its limit where that is
 * allowed. -EMFILE, with the number, where it is not.
 */
int descriptors_reserve(size_t needed, struct why *why);

#endif
