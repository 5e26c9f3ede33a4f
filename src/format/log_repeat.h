/* SPDX-License-Identifier: MIT */
/**
 * @file
 * The tables that everything else in a log is read by (META, DEVICES, CHANNELS), kept to be written
 * once more: a flipped bit in the only copy of them would make the whole log unreadable.
 */
#ifndef BLKBOX_FORMAT_LOG_REPEAT_H
#define BLKBOX_FORMAT_LOG_REPEAT_H

#include "log_format.h"

struct log_kept {
	enum log_block_type type;
	size_t size;
	void *payload;
};

struct log_repeat {
	struct log_kept *blocks;
	size_t n;
};

/** Keeps a copy of a block, if it is of a table that is written again. 0 or -ENOMEM. */
int log_repeat_keep(struct log_repeat *repeat, enum log_block_type type, const void *payload,
		    size_t size);
void log_repeat_deinit(struct log_repeat *repeat);

#endif
