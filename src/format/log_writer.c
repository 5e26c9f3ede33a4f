/* SPDX-License-Identifier: MIT */
#include "log_writer.h"

#include "record_count.h"

#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <time.h>
#include <xxhash.h>
#include <zstd.h>

enum {
	ZSTD_LEVEL = 1
};

struct channel {
	enum log_channel_kind kind;
	uint64_t bytes;
	struct record_count count;
};

struct log_writer {
	int fd;
	bool regular;	     /* can be cut back */
	off_t start_offset;  /* of the log in the file */
	uint64_t file_bytes; /* of whole blocks */
	uint64_t blocks;
	struct channel *channels;
	size_t n_channels;
	ZSTD_CCtx *zstd; /* NULL: no compression */
	uint8_t *packed; /* LOG_DATA_TARGET bytes */
	bool finished;
	int error; /* of the call that failed: every later one fails alike */
	struct why why;
};

static uint64_t clock_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void sample_clocks(struct log_clock *ret)
{
	struct log_clock best = {.uncertainty_ns = UINT64_MAX};

	/* A preemption between the readings spoils a try; the best of a few is good. */
	for (int i = 0; i < 5; i++) {
		uint64_t before = clock_ns(CLOCK_MONOTONIC);
		uint64_t real = clock_ns(CLOCK_REALTIME);
		uint64_t between = clock_ns(CLOCK_MONOTONIC) - before;

		if (between < best.uncertainty_ns) {
			best.mono_ns = before + between / 2;
			best.real_ns = real;
			best.uncertainty_ns = between;
		}
	}
	*ret = best;
}

static void read_boot_id(uint8_t ret[static 16])
{
	_cleanup_close_ int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
	char text[64] = "";
	size_t digits = 0;

	/* Without /proc the log just does not say which boot it is of. */
	if (fd < 0 || read(fd, text, sizeof(text) - 1) < 0)
		return;
	for (const char *c = text; *c && digits < 32; c++) {
		static const char hex[] = "0123456789abcdef";
		const char *digit = strchr(hex, *c);

		if (!digit)
			continue;
		ret[digits / 2] = (uint8_t)(ret[digits / 2] << 4 | (digit - hex));
		digits++;
	}
}

static int refuse(const struct log_writer *writer, struct why *why)
{
	if (why)
		*why = writer->why;
	return writer->error;
}

/* Cuts the file back to its last whole block and remembers why. */
static int give_up(struct log_writer *writer, int error, struct why *why)
{
	off_t end = writer->start_offset + (off_t)writer->file_bytes;

	writer->error = error;
	/* If this fails too, the reader finds the part of a block and leaves it out. */
	if (writer->regular && ftruncate(writer->fd, end) == 0)
		lseek(writer->fd, end, SEEK_SET);
	return refuse(writer, why);
}

/* Writes everything; @iov is used up. */
static int write_all(int fd, struct iovec *iov, int n)
{
	while (n) {
		ssize_t written = writev(fd, iov, n);

		if (written < 0 && errno == EINTR)
			continue;
		if (written < 0 && errno == EAGAIN) {
			struct pollfd wait = {.fd = fd, .events = POLLOUT};

			/* Somebody made our standard output non-blocking. */
			if (poll(&wait, 1, -1) < 0 && errno != EINTR)
				return -errno;
			continue;
		}
		if (written <= 0)
			return written ? -errno : -EIO;
		while (n && (size_t)written >= iov->iov_len) {
			written -= (ssize_t)iov->iov_len;
			iov++;
			n--;
		}
		if (n) {
			iov->iov_base = (uint8_t *)iov->iov_base + written;
			iov->iov_len -= (size_t)written;
		}
	}
	return 0;
}

static int write_parts(struct log_writer *writer, struct iovec *iov, int n, struct why *why)
{
	uint64_t bytes = 0;
	int r;

	for (int i = 0; i < n; i++)
		bytes += iov[i].iov_len;
	r = write_all(writer->fd, iov, n);
	if (r < 0) {
		why_errno(&writer->why, r, "cannot write to the log");
		return give_up(writer, r, why);
	}
	writer->file_bytes += bytes;
	return 0;
}

/* Fills in what depends on the payload, seals the head and writes both at once. */
static int write_block(struct log_writer *writer, struct log_block_head *head, const void *payload,
		       struct why *why)
{
	struct iovec iov[2] = {
		{.iov_base = head, .iov_len = sizeof(*head)},
		{.iov_base = (void *)payload, .iov_len = head->stored_bytes},
	};
	int r;

	assert(!writer->finished);
	assert(head->raw_bytes <= LOG_BLOCK_MAX && head->stored_bytes <= head->raw_bytes);
	head->sync = LOG_BLOCK_SYNC;
	head->payload_check = XXH3_64bits(payload, head->stored_bytes);
	head->written_mono_ns = clock_ns(CLOCK_MONOTONIC);
	head->head_check = 0;
	head->head_check = (uint32_t)XXH3_64bits(head, sizeof(*head));
	r = write_parts(writer, iov, 2, why);
	if (r < 0)
		return r;
	writer->blocks++;
	return 0;
}

static int write_plain(struct log_writer *writer, enum log_block_type type, const void *payload,
		       size_t size, struct why *why)
{
	struct log_block_head head = {
		.type = (uint16_t)type,
		.channel = LOG_NO_CHANNEL,
		.raw_bytes = (uint32_t)size,
		.stored_bytes = (uint32_t)size,
	};

	return write_block(writer, &head, payload, why);
}

/* Writes an array of items, in as many blocks as it needs. */
static int write_items(struct log_writer *writer, enum log_block_type type, const void *items,
		       size_t item_bytes, size_t n, struct why *why)
{
	const uint8_t *at = items;
	size_t most = LOG_BLOCK_MAX / item_bytes;

	if (writer->error)
		return refuse(writer, why);
	while (n) {
		size_t now = n < most ? n : most;
		int r = write_plain(writer, type, at, now * item_bytes, why);

		if (r < 0)
			return r;
		at += now * item_bytes;
		n -= now;
	}
	return 0;
}

DEFINE_CLEANUP(struct log_writer, log_writer_destroy);
#define _cleanup_writer_ _cleanup_(cleanup_log_writer_destroy)

static int writer_alloc(int fd, bool compress, struct log_writer **ret)
{
	_cleanup_writer_ struct log_writer *writer = calloc(1, sizeof(*writer));

	if (!writer)
		return -ENOMEM;
	writer->fd = fd;
	if (compress) {
		writer->zstd = ZSTD_createCCtx();
		writer->packed = malloc(LOG_DATA_TARGET);
		if (!writer->zstd || !writer->packed)
			return -ENOMEM;
	}
	*ret = take_ptr(writer);
	return 0;
}

int log_writer_create(int fd, const struct log_writer_options *options, struct log_writer **ret,
		      struct why *why)
{
	_cleanup_writer_ struct log_writer *writer = NULL;
	struct log_header header = {
		.magic = LOG_MAGIC,
		.version = LOG_VERSION,
		.header_bytes = sizeof(header),
	};
	struct iovec iov = {.iov_base = &header, .iov_len = sizeof(header)};
	struct log_clock clock;
	struct stat st;
	int r = writer_alloc(fd, options->compress, &writer);

	if (r < 0)
		return why_errno(why, r, "cannot write a log");
	if (fstat(fd, &st) < 0)
		return why_errno(why, -errno, "cannot write to the log");
	writer->regular = S_ISREG(st.st_mode);
	if (writer->regular && fcntl(fd, F_GETFL) & O_APPEND)
		writer->start_offset = st.st_size;
	else if (writer->regular)
		writer->start_offset = lseek(fd, 0, SEEK_CUR);

	sample_clocks(&clock);
	header.start_mono_ns = clock.mono_ns;
	header.start_real_ns = clock.real_ns;
	read_boot_id(header.boot_id);
	header.check = XXH3_64bits(&header, offsetof(struct log_header, check));
	r = write_parts(writer, &iov, 1, why);
	if (r < 0)
		return r;
	*ret = take_ptr(writer);
	return 0;
}

void log_writer_destroy(struct log_writer *writer)
{
	if (!writer)
		return;
	ZSTD_freeCCtx(writer->zstd);
	free(writer->packed);
	free(writer->channels);
	free(writer);
}

int log_writer_meta(struct log_writer *writer, const char *text, size_t size, struct why *why)
{
	assert(!size || text[size - 1] == '\0');
	if (writer->error)
		return refuse(writer, why);
	while (size) {
		size_t now = size;
		int r;

		if (now > LOG_BLOCK_MAX) {
			const char *last = memrchr(text, '\0', LOG_BLOCK_MAX);

			if (!last) {
				why_set(&writer->why, -E2BIG,
					"cannot write to the log: '%.20s...' is longer than %d "
					"bytes",
					text, LOG_BLOCK_MAX);
				return give_up(writer, -E2BIG, why);
			}
			now = (size_t)(last + 1 - text);
		}
		r = write_plain(writer, LOG_META, text, now, why);
		if (r < 0)
			return r;
		text += now;
		size -= now;
	}
	return 0;
}

int log_writer_devices(struct log_writer *writer, const struct log_device *devices, size_t n,
		       struct why *why)
{
	return write_items(writer, LOG_DEVICES, devices, sizeof(*devices), n, why);
}

int log_writer_channels(struct log_writer *writer, const struct log_channel *channels, size_t n,
			struct why *why)
{
	struct channel *grown;
	int r;

	if (writer->error)
		return refuse(writer, why);
	if (n > LOG_CHANNELS_MAX - writer->n_channels) {
		why_set(&writer->why, -E2BIG,
			"cannot write to the log: it has room for %d channels (devices x CPUs)",
			LOG_CHANNELS_MAX);
		return give_up(writer, -E2BIG, why);
	}
	grown = reallocarray(writer->channels, writer->n_channels + n + 1, sizeof(*grown));
	if (!grown) {
		why_errno(&writer->why, -ENOMEM, "cannot write to the log");
		return give_up(writer, -ENOMEM, why);
	}
	writer->channels = grown;
	r = write_items(writer, LOG_CHANNELS, channels, sizeof(*channels), n, why);
	if (r < 0)
		return r;
	for (size_t i = 0; i < n; i++) {
		assert(channels[i].channel == writer->n_channels);
		grown[writer->n_channels++] = (struct channel){
			.kind = (enum log_channel_kind)channels[i].kind,
		};
	}
	return 0;
}

static int write_data_block(struct log_writer *writer, uint32_t number, const uint8_t *bytes,
			    size_t size, struct why *why)
{
	struct channel *channel = &writer->channels[number];
	const uint8_t *payload = bytes;
	struct log_block_head head = {
		.type = LOG_DATA,
		.channel = number,
		.raw_bytes = (uint32_t)size,
		.stored_bytes = (uint32_t)size,
		.channel_offset = channel->bytes,
	};
	int r;

	if (writer->zstd) {
		/* No room for more than the bytes themselves: fails if it does not help. */
		size_t packed = ZSTD_compressCCtx(writer->zstd, writer->packed, size - 1, bytes,
						  size, ZSTD_LEVEL);

		if (!ZSTD_isError(packed)) {
			head.flags |= LOG_ZSTD;
			head.stored_bytes = (uint32_t)packed;
			payload = writer->packed;
		}
	}
	r = write_block(writer, &head, payload, why);
	if (r < 0)
		return r;
	channel->bytes += size;
	if (channel->kind == LOG_RELAY_RECORDS)
		record_count_feed(&channel->count, bytes, size);
	return 0;
}

int log_writer_data(struct log_writer *writer, uint32_t channel, const void *bytes, size_t size,
		    struct why *why)
{
	const uint8_t *at = bytes;

	assert(channel < writer->n_channels);
	if (writer->error)
		return refuse(writer, why);
	while (size) {
		size_t now = size < LOG_DATA_TARGET ? size : LOG_DATA_TARGET;
		int r = write_data_block(writer, channel, at, now, why);

		if (r < 0)
			return r;
		at += now;
		size -= now;
	}
	return 0;
}

int log_writer_drops(struct log_writer *writer, const struct log_drops *drops, size_t n,
		     struct why *why)
{
	return write_items(writer, LOG_DROPS, drops, sizeof(*drops), n, why);
}

int log_writer_names(struct log_writer *writer, const struct log_name *names, size_t n,
		     struct why *why)
{
	return write_items(writer, LOG_NAMES, names, sizeof(*names), n, why);
}

int log_writer_clock(struct log_writer *writer, struct why *why)
{
	struct log_clock clock;

	sample_clocks(&clock);
	return write_items(writer, LOG_CLOCK, &clock, sizeof(clock), 1, why);
}

int log_writer_finish(struct log_writer *writer, enum log_end_reason reason, struct why *why)
{
	size_t size = sizeof(struct log_end) + writer->n_channels * sizeof(struct log_total);
	_cleanup_free_ struct log_end *end = NULL;
	struct log_clock clock;
	struct log_total *totals;
	int r;

	if (writer->error)
		return refuse(writer, why);
	end = calloc(1, size);
	if (!end) {
		why_errno(&writer->why, -ENOMEM, "cannot write to the log");
		return give_up(writer, -ENOMEM, why);
	}
	sample_clocks(&clock);
	end->end_mono_ns = clock.mono_ns;
	end->end_real_ns = clock.real_ns;
	end->blocks = writer->blocks;
	end->reason = reason;
	end->totals = (uint32_t)writer->n_channels;
	totals = (struct log_total *)(end + 1);
	for (uint32_t i = 0; i < writer->n_channels; i++)
		log_writer_total(writer, i, &totals[i]);
	r = write_plain(writer, LOG_END, end, size, why);
	if (r < 0)
		return r;
	writer->finished = true;
	return 0;
}

void log_writer_total(const struct log_writer *writer, uint32_t channel, struct log_total *ret)
{
	const struct channel *c = &writer->channels[channel];

	assert(channel < writer->n_channels);
	*ret = (struct log_total){
		.channel = channel,
		.bytes = c->bytes,
		.events = c->count.events,
		.notes = c->count.notes,
	};
}

uint64_t log_writer_file_bytes(const struct log_writer *writer)
{
	return writer->file_bytes;
}
