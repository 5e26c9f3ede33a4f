/* SPDX-License-Identifier: MIT */
#include "out.h"

#include <assert.h>
#include <poll.h>
#include <stdarg.h>

int out_init(struct out *out, int fd, size_t size)
{
	assert(size >= OUT_ROOM_MAX);
	*out = (struct out){.fd = fd, .buffer = malloc(size), .size = size};
	return out->buffer ? 0 : -ENOMEM;
}

void out_deinit(struct out *out)
{
	free(out->buffer);
	out->buffer = NULL;
	out->n = 0;
}

int wait_for_room(int fd)
{
	struct pollfd wait = {.fd = fd, .events = POLLOUT};

	return poll(&wait, 1, -1) < 0 && errno != EINTR ? -errno : 0;
}

int write_all(int fd, const void *bytes, size_t n, size_t *ret_done)
{
	size_t done = 0;
	int r = 0;

	while (done < n && r == 0) {
		ssize_t written = write(fd, (const char *)bytes + done, n - done);

		if (written >= 0)
			done += (size_t)written;
		else if (errno == EAGAIN)
			r = wait_for_room(fd);
		else if (errno != EINTR)
			r = -errno;
	}
	if (ret_done)
		*ret_done = done;
	return r;
}

int out_flush(struct out *out)
{
	size_t done = 0;

	if (out->fd < 0)
		done = out->n;
	else if (!out->error)
		out->error = write_all(out->fd, out->buffer, out->n, &done);
	out->written_bytes += done;
	out->n = 0;
	return out->error;
}

char *out_room(struct out *out, size_t size)
{
	assert(size <= OUT_ROOM_MAX);
	if (out->size - out->n < size)
		out_flush(out);
	return out->buffer + out->n;
}

void out_bytes(struct out *out, const void *bytes, size_t size)
{
	const char *from = bytes;

	while (size) {
		size_t n = size < OUT_ROOM_MAX ? size : OUT_ROOM_MAX;

		memcpy(out_room(out, n), from, n);
		out_commit(out, n);
		from += n;
		size -= n;
	}
}

size_t format_u64(char *to, uint64_t value)
{
	char digits[20];
	size_t n = 0;

	do {
		digits[sizeof(digits) - ++n] = (char)('0' + value % 10);
		value /= 10;
	} while (value);
	memcpy(to, digits + sizeof(digits) - n, n);
	return n;
}

void out_u64(struct out *out, uint64_t value)
{
	out_commit(out, format_u64(out_room(out, 20), value));
}

void out_i64(struct out *out, int64_t value)
{
	if (value < 0)
		out_char(out, '-');
	out_u64(out, value < 0 ? -(uint64_t)value : (uint64_t)value);
}

void out_printf(struct out *out, const char *format, ...)
{
	va_list args;
	char *room = out_room(out, OUT_ROOM_MAX);
	int n;

	va_start(args, format);
	n = vsnprintf(room, OUT_ROOM_MAX, format, args);
	va_end(args);
	if (n > 0)
		out_commit(out, n < OUT_ROOM_MAX ? (size_t)n : OUT_ROOM_MAX - 1);
}
