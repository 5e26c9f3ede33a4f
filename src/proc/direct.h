/* SPDX-License-Identifier: MIT */
/**
 * @file
 * What is expected of direct reads, which a file system may answer from the page cache.
 */
#ifndef BLKBOX_PROC_DIRECT_H
#define BLKBOX_PROC_DIRECT_H

#include "bench.h"

/** That all of the payload counts in read_bytes; not decidable if it seems to come from the cache.
 */
void expect_direct_bytes(const struct bench *bench, struct observation *observation,
			 const struct io_counters *delta);
/**
 * With device truth, what came from the cache need not stay open.
 * @read_bytes: by the device, in all
 */
void direct_settle(struct observation *observation, uint64_t read_bytes);

#endif
