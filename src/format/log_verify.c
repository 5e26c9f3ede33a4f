/* SPDX-License-Identifier: MIT */
#include "log_reader_impl.h"

#include "log_scan.h"
#include "record_count.h"

/* What is read of a channel, to be compared with END. */
struct recount {
	size_t next; /* place */
	uint64_t bytes;
	uint64_t offset; /* behind the last good block */
	struct record_count records;
};

struct verification {
	struct log_reader *reader;
	struct log_health health;
	struct recount *recounts;
	struct log_buffer buffer;
};

static int check_data(struct verification *v, const struct log_block_head *head, uint64_t offset,
		      struct why *why)
{
	struct log_reader *reader = v->reader;
	const struct log_channel *channel;
	struct recount *recount;
	int r;

	/* Opening has judged the heads: what it did not take has no place in the channel. */
	if (head->channel >= reader->tables.channels.n)
		return 0;
	recount = &v->recounts[head->channel];
	if (recount->next == reader->tracks[head->channel].places.n ||
	    log_track_place(&reader->tracks[head->channel], recount->next)->file_offset != offset)
		return 0;
	recount->next++;
	r = log_block_read(&reader->pool, reader->fd, offset, head, &v->buffer);
	if (r < 0)
		return why_errno(why, r, "cannot read the log at byte %llu",
				 (unsigned long long)offset);
	if (!r) {
		log_health_damage(&v->health, offset, sizeof(*head) + head->stored_bytes);
		v->health.missing_data_bytes += head->raw_bytes;
		if (v->health.has_end)
			v->health.missing_blocks++;
		return 0;
	}
	channel = (const struct log_channel *)reader->tables.channels.items + head->channel;
	if (recount->offset != head->channel_offset)
		record_count_gap(&recount->records);
	if (channel->kind == LOG_RELAY_RECORDS)
		record_count_feed(&recount->records, v->buffer.bytes, head->raw_bytes);
	recount->bytes += head->raw_bytes;
	recount->offset = head->channel_offset + head->raw_bytes;
	return 0;
}

static int check_blocks(struct verification *v, const struct log_progress *progress,
			struct why *why)
{
	/* Damage of heads is known from opening; here it only has to be passed over again. */
	struct log_health passed = {.file_bytes = v->health.file_bytes};
	struct log_scan scan = {
		.fd = v->reader->fd,
		.at = sizeof(struct log_header),
		.health = &passed,
	};
	struct log_block_head head;
	uint64_t offset;
	int r;

	while ((r = log_scan_next(&scan, &head, &offset, why)) > 0) {
		if (progress)
			progress->tell(progress->data, offset, passed.file_bytes);
		if (head.type != LOG_DATA)
			continue;
		r = check_data(v, &head, offset, why);
		if (r < 0)
			break;
	}
	return r;
}

/* Good checksums do not make records of what was written. */
static void judge_records(struct verification *v)
{
	for (size_t i = 0; i < v->reader->tables.channels.n; i++) {
		const struct record_count *records = &v->recounts[i].records;

		v->health.garbage_bytes += records->garbage_bytes;
		if (records->skip_bytes || records->carry_bytes)
			v->health.cut_channels++;
	}
}

static void compare_totals(struct verification *v)
{
	const struct log_tables *tables = &v->reader->tables;

	v->health.total_mismatches = 0;
	if (!tables->end)
		return;
	if (tables->end->blocks < v->reader->blocks)
		v->health.total_mismatches++;
	for (uint32_t i = 0; i < tables->channels.n; i++) {
		const struct log_total *total = log_tables_total(tables, i);
		const struct recount *recount = &v->recounts[i];

		if (!total || total->bytes != recount->bytes ||
		    total->events != recount->records.events ||
		    total->notes != recount->records.notes)
			v->health.total_mismatches++;
	}
}

int log_reader_verify(struct log_reader *reader, const struct log_progress *progress,
		      struct log_health *ret, struct why *why)
{
	_cleanup_free_ struct recount *recounts = NULL;
	struct verification v = {.reader = reader, .health = reader->health};
	int r;

	recounts = calloc(reader->tables.channels.n + 1, sizeof(*recounts));
	if (!recounts)
		return why_errno(why, -ENOMEM, "cannot check the log");
	v.recounts = recounts;
	r = check_blocks(&v, progress, why);
	log_buffer_deinit(&v.buffer);
	if (r < 0)
		return r;
	compare_totals(&v);
	judge_records(&v);
	*ret = v.health;
	return 0;
}
