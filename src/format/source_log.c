/* SPDX-License-Identifier: MIT */
#include "source.h"

#include "log_reader.h"

struct source_log {
	struct source source;
	struct log_cursor *cursor;
};

static int log_next(struct source *source, struct span *ret, struct why *why)
{
	struct log_span span;
	int r = log_cursor_next(((struct source_log *)source)->cursor, &span, why);

	if (r <= 0)
		return r;
	*ret = (struct span){
		.bytes = span.bytes,
		.size = span.size,
		.offset = span.channel_offset,
		.missing_bytes = span.missing_bytes,
	};
	return 1;
}

static void log_destroy(struct source *source)
{
	struct source_log *log = (struct source_log *)source;

	log_cursor_destroy(log->cursor);
	free(log);
}

static const struct source_ops log_ops = {.next = log_next, .destroy = log_destroy};

int source_log_create(struct log_reader *reader, uint32_t channel, struct source **ret)
{
	_cleanup_free_ struct source_log *log = calloc(1, sizeof(*log));
	int r;

	if (!log)
		return -ENOMEM;
	log->source.ops = &log_ops;
	r = log_cursor_create(reader, channel, &log->cursor);
	if (r < 0)
		return r;
	*ret = &take_ptr(log)->source;
	return 0;
}
