/* SPDX-License-Identifier: MIT */
/**
 * @file
 * One block of a log as it is read: is this a head, and is its payload what was written?
 */
#ifndef BLKBOX_FORMAT_LOG_BLOCK_H
#define BLKBOX_FORMAT_LOG_BLOCK_H

#include "cleanup.h"
#include "log_format.h"

#include <pthread.h>
#include <stdbool.h>

/** True for the head of a block: its checksum holds, and its lengths are within the limits. */
bool log_block_head_valid(const struct log_block_head *head);

/** pread(2) of all of @size bytes. Returns how many there were (fewer at the file's end), or < 0.
 */
ssize_t log_pread(int fd, void *bytes, size_t size, uint64_t offset);

/** Memory that grows with what is read into it. */
struct log_buffer {
	uint8_t *bytes; /* aligned for every struct of the log */
	size_t room;
};

void log_buffer_deinit(struct log_buffer *buffer);
#define _cleanup_log_buffer_ _cleanup_(log_buffer_deinit)

/**
 * What decompression needs beside the result. Lent for one block at a time, so that there are as
 * many as threads that read, not as channels that are open.
 */
struct log_unpacker_pool {
	pthread_mutex_t lock; /* guards @idle */
	struct log_unpacker *idle;
};

void log_unpacker_pool_init(struct log_unpacker_pool *pool);
void log_unpacker_pool_deinit(struct log_unpacker_pool *pool);

/**
 * Reads the payload of the block whose (valid) head is at @offset.
 * 1: @buffer holds its head->raw_bytes bytes. 0: it is damaged. < 0: the file cannot be read, or
 * there is no memory.
 */
int log_block_read(struct log_unpacker_pool *pool, int fd, uint64_t offset,
		   const struct log_block_head *head, struct log_buffer *buffer);

#endif
