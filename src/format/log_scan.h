/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Walks over the heads of a log's blocks, past damage, up to the end or the cut.
 */
#ifndef BLKBOX_FORMAT_LOG_SCAN_H
#define BLKBOX_FORMAT_LOG_SCAN_H

#include "log_reader.h"

struct log_scan {
	int fd;
	uint64_t at;
	struct log_health *health; /* file_bytes is set; damage and good_bytes are added */
};

/** Adds a stretch of the file to the damage. */
void log_health_damage(struct log_health *health, uint64_t offset, uint64_t bytes);

/**
 * The next block with a good head. 1 = @ret_head and @ret_offset (of the head) are set and the
 * payload is in the file, 0 = end, < 0 = read error.
 */
int log_scan_next(struct log_scan *scan, struct log_block_head *ret_head, uint64_t *ret_offset,
		  struct why *why);

/** After the END block: what follows it does not belong to the log. */
void log_scan_finish(struct log_scan *scan);

#endif
