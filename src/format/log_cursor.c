/* SPDX-License-Identifier: MIT */
#include "log_reader_impl.h"

struct log_cursor {
	struct log_reader *reader;
	const struct log_track *track;
	size_t next;	 /* place to read */
	uint64_t offset; /* in the channel, behind the last span */
	struct log_buffer buffer;
	uint64_t damaged_blocks;
	uint64_t damaged_bytes;
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
		if (!r) {
			cursor->damaged_blocks++;
			cursor->damaged_bytes += head.stored_bytes;
			continue;
		}
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
	return 0;
}

void log_cursor_damage(const struct log_cursor *cursor, uint64_t *ret_blocks, uint64_t *ret_bytes)
{
	*ret_blocks = cursor->damaged_blocks;
	*ret_bytes = cursor->damaged_bytes;
}
