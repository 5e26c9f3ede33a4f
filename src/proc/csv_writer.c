/* SPDX-License-Identifier: MIT */
#include "csv_writer.h"

#include "clock.h"

#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>

enum {
	ROWS_BYTES = 256 << 10,
	BUFFER_BYTES = ROWS_BYTES + CSV_ROW_BYTES, /* and what is left of a note */
	RETRY_MS = 500,
	STACK_BYTES = 256 << 10,
};

int csv_writer_init(struct csv_writer *writer, const struct csv_file_options *options,
		    struct row_ring *rows, bool all_columns, struct why *why)
{
	*writer = (struct csv_writer){
		.file = {.fd = -1},
		.rows = rows,
		.all_columns = all_columns,
		.dead_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK),
		.buffer = malloc(BUFFER_BYTES),
	};
	if (writer->dead_fd < 0 || !writer->buffer)
		return why_errno(why, -ENOMEM, "cannot prepare the output");
	return csv_file_open(&writer->file, options, why);
}

void csv_writer_deinit(struct csv_writer *writer)
{
	if (writer->running)
		csv_writer_stop(writer);
	csv_file_close(&writer->file);
	free(take_ptr(writer->buffer));
	close_keep_errno(take_fd(&writer->dead_fd));
}

/* Whoever needs the disk goes first. */
static void be_idle(void)
{
	enum {
		WHO_PROCESS = 1, /* this thread alone */
		CLASS_IDLE = 3 << 13,
	};

	syscall(SYS_ioprio_set, WHO_PROCESS, 0, CLASS_IDLE);
}

static void drop(struct csv_writer *writer, size_t n)
{
	memmove(writer->buffer, writer->buffer + n, writer->n - n);
	writer->n -= n;
}

static size_t whole_bytes(const struct csv_writer *writer)
{
	const char *end = memrchr(writer->buffer, '\n', writer->n);

	return end ? (size_t)(end - writer->buffer) + 1 : 0;
}

/* It is written again: when it was not, in front of the rows that waited. */
static int write_gap(struct csv_writer *writer)
{
	struct stall_tick tick = {
		.mono_ns = clock_mono_ns(),
		.real_ns = clock_real_ns(),
		.all_columns = writer->all_columns,
	};
	struct csv_row row;
	char text[256];
	size_t done;
	int r;

	snprintf(text, sizeof(text),
		 "the output could not be written from mono %.3f to %.3f (%s): rows of that time "
		 "waited in memory",
		 (double)writer->failing_since_ns / NS_PER_S, (double)tick.mono_ns / NS_PER_S,
		 strerror(-writer->failing));
	stall_note_row(&row, &tick, text);
	r = csv_file_write(&writer->file, row.text, row.n, &done);
	/* A part of it: its rest goes in front of the rows. */
	if (r < 0 && done) {
		memmove(writer->buffer + row.n - done, writer->buffer, writer->n);
		memcpy(writer->buffer, row.text + done, row.n - done);
		writer->n += row.n - done;
	}
	return r;
}

static int write_rows(struct csv_writer *writer, size_t n)
{
	size_t done = 0;
	int r = csv_file_write(&writer->file, writer->buffer, n, &done);

	drop(writer, done);
	atomic_fetch_add_explicit(&writer->bytes, done, memory_order_relaxed);
	return r;
}

static int write_some(struct csv_writer *writer)
{
	const char *end = memchr(writer->buffer, '\n', writer->n);
	int r = 0;

	/* The rest of a row comes before anything else. */
	if (writer->file.torn && end)
		r = write_rows(writer, (size_t)(end - writer->buffer) + 1);
	if (r == 0 && writer->failing)
		r = write_gap(writer);
	if (r == 0) {
		writer->failing = 0;
		r = write_rows(writer, whole_bytes(writer));
	}
	if (r < 0 && !writer->failing) {
		writer->failing_since_ns = clock_mono_ns();
		writer->failing = r;
	}
	atomic_store_explicit(&writer->error, r, memory_order_relaxed);
	return r;
}

static void open_anew(struct csv_writer *writer)
{
	bool torn = writer->file.torn;
	char *end = memchr(writer->buffer, '\n', writer->n);

	if (csv_file_reopen(&writer->file) == 0 && torn && end)
		drop(writer, (size_t)(end - writer->buffer) + 1);
}

/* Until there is something to do. @timeout_ms: -1 = for ever */
static void doze(struct csv_writer *writer, int timeout_ms)
{
	struct pollfd wake = {.fd = writer->rows->sleep.fd, .events = POLLIN};

	ring_sleep_prepare(&writer->rows->sleep);
	if (timeout_ms >= 0 || (!ring_filled(&writer->rows->ring) &&
				!atomic_load_explicit(&writer->stop, memory_order_acquire) &&
				!atomic_load_explicit(&writer->reopen, memory_order_relaxed)))
		poll(&wake, 1, timeout_ms);
	ring_sleep_done(&writer->rows->sleep);
}

static void *run(void *context)
{
	struct csv_writer *writer = context;

	be_idle();
	for (;;) {
		bool stop = atomic_load_explicit(&writer->stop, memory_order_acquire);
		int r = 0;

		if (atomic_exchange_explicit(&writer->reopen, false, memory_order_relaxed))
			open_anew(writer);
		if (writer->n < ROWS_BYTES)
			writer->n += row_ring_take(writer->rows, writer->buffer + writer->n,
						   ROWS_BYTES - writer->n);
		if (writer->n)
			r = write_some(writer);
		if (r == -EPIPE) {
			uint64_t one = 1;
			ssize_t ignored = write(writer->dead_fd, &one, sizeof(one));

			(void)ignored;
			return NULL;
		}
		if (stop && (r < 0 || !ring_filled(&writer->rows->ring)))
			return NULL;
		if (r < 0)
			doze(writer, RETRY_MS);
		else if (!ring_filled(&writer->rows->ring))
			doze(writer, -1);
	}
}

int csv_writer_start(struct csv_writer *writer)
{
	pthread_attr_t attributes;
	int r;

	pthread_attr_init(&attributes);
	/* All of it may get locked in memory. */
	pthread_attr_setstacksize(&attributes, STACK_BYTES);
	r = pthread_create(&writer->thread, &attributes, run, writer);
	pthread_attr_destroy(&attributes);
	writer->running = r == 0;
	return -r;
}

void csv_writer_reopen(struct csv_writer *writer)
{
	atomic_store_explicit(&writer->reopen, true, memory_order_relaxed);
	ring_wake_always(&writer->rows->sleep);
}

static uint64_t count_rows(const char *rows, size_t n)
{
	uint64_t count = 0;

	for (size_t i = 0; i < n; i++)
		count += rows[i] == '\n';
	return count;
}

uint64_t csv_writer_stop(struct csv_writer *writer)
{
	uint64_t lost;

	/* Release pairs with the acquire in run(): the last rows are there before. */
	atomic_store_explicit(&writer->stop, true, memory_order_release);
	ring_wake_always(&writer->rows->sleep);
	pthread_join(writer->thread, NULL);
	writer->running = false;
	lost = count_rows(writer->buffer, writer->n);
	while ((writer->n = row_ring_take(writer->rows, writer->buffer, BUFFER_BYTES)))
		lost += count_rows(writer->buffer, writer->n);
	return lost;
}
