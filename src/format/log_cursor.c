/* SPDX-License-Identifier: MIT */
#include "log_reader_impl.h"

struct log_cursor {
	struct log_reader *reader;
	const struct log_track *track;
	size_t next;	 /* place to read */
	uint64_t offset; /* in the channel, behind the last span */
	struct log_buffer buffer;
};

int log_cursor_create(struct log_reader *reader, uint32_t channel, struct log_cursor **ret)
{
	struct log_cursor *cursor;

	if (channel >= reader->tables.channels.n)
		return -EINVAL;
	cursor = calloc(1, sizeof(*cursor));
	if (!cursor)
		return -ENOMEM;
	cursor->reader = reader;
	cursor->track = &reader->tracks[channel];
	*ret = cursor;
	return 0;
}

void log_cursor_destroy(struct log_cursor *cursor)
{
	if (!cursor)
		return;
	log_buffer_deinit(&cursor->buffer);
	free(cursor);
}

/* Head and payload of a place: 1 = good, 0 = damaged, < 0 = error. */
static int read_place(struct log_cursor *cursor, const struct log_place *place,
		      struct log_block_head *head)
{
	struct log_reader *reader = cursor->reader;
	ssize_t n = log_pread(reader->fd, head, sizeof(*head), place->file_offset);

	if (n < 0)
		return (int)n;
	/* It was good when the log was opened; a file can change. */
	if ((size_t)n < sizeof(*head) || !log_block_head_valid(head) ||
	    head->channel_offset != place->channel_offset) {
		*head = (struct log_block_head){0};
		return 0;
	}
	return log_block_read(&reader->pool, reader->fd, place->file_offset, head, &cursor->buffer);
}

/* No span follows that could tell of damaged blocks at the channel's end: an empty one does. */
static int tell_lost_end(struct log_cursor *cursor, struct log_span *ret)
{
	uint64_t end = cursor->track->end_offset;

	log_buffer_deinit(&cursor->buffer);
	if (cursor->offset >= end)
		return 0;
	*ret = (struct log_span){
		.bytes = (const uint8_t *)"",
		.channel_offset = end,
		.missing_bytes = end - cursor->offset,
	};
	cursor->offset = end;
	return 1;
}

int log_cursor_next(struct log_cursor *cursor, struct log_span *ret, struct why *why)
{
	while (cursor->next < cursor->track->places.n) {
		const struct log_place *place = log_track_place(cursor->track, cursor->next);
		struct log_block_head head;
		int r = read_place(cursor, place, &head);

		if (r < 0)
			return why_errno(why, r, "cannot read the log at byte %llu",
					 (unsigned long long)place->file_offset);
		cursor->next++;
		if (!r)
			continue;
		*ret = (struct log_span){
			.bytes = cursor->buffer.bytes,
			.size = head.raw_bytes,
			.file_offset = place->file_offset,
			.channel_offset = place->channel_offset,
			.missing_bytes = place->channel_offset - cursor->offset,
		};
		cursor->offset = place->channel_offset + head.raw_bytes;
		return 1;
	}
	return tell_lost_end(cursor, ret);
}
