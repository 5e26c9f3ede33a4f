/* SPDX-License-Identifier: MIT */
#include "log_block.h"

#include "log_pack.h"

#include <xxhash.h>
#include <zstd.h>

struct log_unpacker {
	struct log_unpacker *next;
	ZSTD_DCtx *zstd;
	struct log_buffer stored;
	struct log_buffer columns;
};

bool log_block_head_valid(const struct log_block_head *head)
{
	struct log_block_head unsealed = *head;

	unsealed.head_check = 0;
	return head->sync == LOG_BLOCK_SYNC && head->raw_bytes <= LOG_BLOCK_MAX &&
	       head->stored_bytes <= LOG_BLOCK_MAX &&
	       head->head_check == (uint32_t)XXH3_64bits(&unsealed, sizeof(unsealed));
}

ssize_t log_pread(int fd, void *bytes, size_t size, uint64_t offset)
{
	size_t done = 0;

	while (done < size) {
		ssize_t n = pread(fd, (uint8_t *)bytes + done, size - done, (off_t)(offset + done));

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (!n)
			break;
		done += (size_t)n;
	}
	return (ssize_t)done;
}

static int buffer_reserve(struct log_buffer *buffer, size_t size)
{
	uint8_t *bytes;

	if (size <= buffer->room)
		return 0;
	/* The old content is not wanted: no realloc, which would copy it. */
	bytes = malloc(size);
	if (!bytes)
		return -ENOMEM;
	free(buffer->bytes);
	buffer->bytes = bytes;
	buffer->room = size;
	return 0;
}

void log_buffer_deinit(struct log_buffer *buffer)
{
	free(buffer->bytes);
	*buffer = (struct log_buffer){0};
}

static void unpacker_destroy(struct log_unpacker *unpacker)
{
	if (!unpacker)
		return;
	ZSTD_freeDCtx(unpacker->zstd);
	log_buffer_deinit(&unpacker->stored);
	log_buffer_deinit(&unpacker->columns);
	free(unpacker);
}

void log_unpacker_pool_init(struct log_unpacker_pool *pool)
{
	*pool = (struct log_unpacker_pool){.lock = PTHREAD_MUTEX_INITIALIZER};
}

void log_unpacker_pool_deinit(struct log_unpacker_pool *pool)
{
	while (pool->idle) {
		struct log_unpacker *unpacker = pool->idle;

		pool->idle = unpacker->next;
		unpacker_destroy(unpacker);
	}
	pthread_mutex_destroy(&pool->lock);
}

static struct log_unpacker *borrow_unpacker(struct log_unpacker_pool *pool)
{
	struct log_unpacker *unpacker;

	pthread_mutex_lock(&pool->lock);
	unpacker = pool->idle;
	if (unpacker)
		pool->idle = unpacker->next;
	pthread_mutex_unlock(&pool->lock);
	if (unpacker)
		return unpacker;

	unpacker = calloc(1, sizeof(*unpacker));
	if (!unpacker)
		return NULL;
	unpacker->zstd = ZSTD_createDCtx();
	if (!unpacker->zstd) {
		unpacker_destroy(unpacker);
		return NULL;
	}
	return unpacker;
}

static void return_unpacker(struct log_unpacker_pool *pool, struct log_unpacker *unpacker)
{
	pthread_mutex_lock(&pool->lock);
	unpacker->next = pool->idle;
	pool->idle = unpacker;
	pthread_mutex_unlock(&pool->lock);
}

/* Reads the payload as it is stored and checks it. Results as log_block_read(). */
static int read_stored(int fd, uint64_t offset, const struct log_block_head *head,
		       struct log_buffer *buffer)
{
	ssize_t n;
	int r = buffer_reserve(buffer, head->stored_bytes);

	if (r < 0)
		return r;
	n = log_pread(fd, buffer->bytes, head->stored_bytes, offset + sizeof(*head));
	if (n < 0)
		return (int)n;
	return (size_t)n == head->stored_bytes &&
	       head->payload_check == XXH3_64bits(buffer->bytes, head->stored_bytes);
}

/* Results as log_block_read(). */
static int unpack_columns(struct log_unpacker *unpacker, const struct log_block_head *head,
			  uint8_t *raw)
{
	uint64_t size = ZSTD_getFrameContentSize(unpacker->stored.bytes, head->stored_bytes);
	int r;

	/* Errors are large numbers, too. */
	if (size > LOG_PACKED_MAX)
		return 0;
	r = buffer_reserve(&unpacker->columns, size);
	if (r < 0)
		return r;
	return ZSTD_decompressDCtx(unpacker->zstd, unpacker->columns.bytes, size,
				   unpacker->stored.bytes, head->stored_bytes) == size &&
	       log_unpack(unpacker->columns.bytes, size, raw, head->raw_bytes);
}

static int read_compressed(struct log_unpacker *unpacker, int fd, uint64_t offset,
			   const struct log_block_head *head, struct log_buffer *buffer)
{
	int r = read_stored(fd, offset, head, &unpacker->stored);

	if (r <= 0)
		return r;
	r = buffer_reserve(buffer, head->raw_bytes);
	if (r < 0)
		return r;
	if (head->flags & LOG_PACKED)
		return unpack_columns(unpacker, head, buffer->bytes);
	return ZSTD_decompressDCtx(unpacker->zstd, buffer->bytes, head->raw_bytes,
				   unpacker->stored.bytes, head->stored_bytes) == head->raw_bytes;
}

int log_block_read(struct log_unpacker_pool *pool, int fd, uint64_t offset,
		   const struct log_block_head *head, struct log_buffer *buffer)
{
	struct log_unpacker *unpacker;
	int r;

	if (!(head->flags & LOG_ZSTD)) {
		if (head->raw_bytes != head->stored_bytes || head->flags & LOG_PACKED)
			return 0;
		return read_stored(fd, offset, head, buffer);
	}
	unpacker = borrow_unpacker(pool);
	if (!unpacker)
		return -ENOMEM;
	r = read_compressed(unpacker, fd, offset, head, buffer);
	return_unpacker(pool, unpacker);
	return r;
}
