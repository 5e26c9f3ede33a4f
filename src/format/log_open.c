/* SPDX-License-Identifier: MIT */
#include "log_reader_impl.h"

#include "log_scan.h"

#include <string.h>
#include <sys/stat.h>
#include <xxhash.h>

DEFINE_CLEANUP(struct log_reader, log_reader_close);
#define _cleanup_reader_ _cleanup_(cleanup_log_reader_close)

static bool has_magic(const struct log_header *header)
{
	return !memcmp(header->magic, LOG_MAGIC, LOG_MAGIC_BYTES);
}

/* Even if it is the magic that was hit. */
static bool check_holds(const struct log_header *header)
{
	struct log_header mended = *header;

	memcpy(mended.magic, LOG_MAGIC, LOG_MAGIC_BYTES);
	return header->check == XXH3_64bits(&mended, offsetof(struct log_header, check));
}

bool log_reader_probe(int fd)
{
	struct log_header header = {0};

	if (log_pread(fd, &header, sizeof(header), 0) < LOG_MAGIC_BYTES)
		return false;
	return has_magic(&header) || check_holds(&header);
}

/* Sets file_bytes. */
static int look_at_file(struct log_reader *reader, struct why *why)
{
	struct stat st;
	off_t end;

	if (fstat(reader->fd, &st) < 0)
		return why_errno(why, -errno, "cannot read it");
	if (S_ISDIR(st.st_mode))
		return why_set(why, -EISDIR, "this is a directory, not a log");
	end = lseek(reader->fd, 0, SEEK_END);
	if (end < 0)
		return why_errno(why, -errno, "cannot find its end");
	if (!end)
		return why_set(why, -ENODATA, "the file is empty");
	reader->health.file_bytes = (uint64_t)end;
	return 0;
}

static int read_header(struct log_reader *reader, struct why *why)
{
	struct log_header *header = &reader->header;
	ssize_t n = log_pread(reader->fd, header, sizeof(*header), 0);

	if (n < 0)
		return why_errno(why, (int)n, "cannot read its header");
	if (n < LOG_MAGIC_BYTES || (!has_magic(header) && !check_holds(header)))
		return why_set(why, -EBADMSG, "this is not a blkbox log");
	if ((size_t)n < sizeof(*header))
		return why_set(why, -EBADMSG,
			       "the log was cut off inside of its header: it holds no events");
	if (!has_magic(header) || !check_holds(header) ||
	    (header->version == LOG_VERSION && header->header_bytes != sizeof(*header))) {
		/* Nothing in it can be trusted. The blocks that follow may well be whole. */
		*header = (struct log_header){.magic = LOG_MAGIC, .version = LOG_VERSION};
		reader->health.header_damaged = true;
		log_health_damage(&reader->health, 0, sizeof(*header));
		return 0;
	}
	if (header->version > LOG_VERSION)
		return why_set(why, -ENOTSUP,
			       "the log was made by a newer blkbox (format %u, this one reads %u)",
			       header->version, LOG_VERSION);
	if (header->must_understand)
		return why_set(why, -ENOTSUP,
			       "the log was made by a newer blkbox (it uses features 0x%x)",
			       header->must_understand);
	return 0;
}

/* Makes sure that there is a track for a channel. */
static int grow_tracks(struct log_reader *reader, size_t n, struct why *why)
{
	struct log_track *grown;

	if (n <= reader->n_tracks)
		return 0;
	grown = reallocarray(reader->tracks, n, sizeof(*grown));
	if (!grown)
		return why_errno(why, -ENOMEM, "cannot hold its channels");
	memset(grown + reader->n_tracks, 0, (n - reader->n_tracks) * sizeof(*grown));
	reader->tracks = grown;
	reader->n_tracks = n;
	return 0;
}

/* 1: taken, 0: the head contradicts what came before. */
static int take_data(struct log_reader *reader, const struct log_block_head *head, uint64_t offset,
		     struct why *why)
{
	struct log_track *track;
	struct log_place *place;
	int r;

	if (head->channel >= LOG_CHANNELS_MAX || !head->raw_bytes)
		return 0;
	r = grow_tracks(reader, (size_t)head->channel + 1, why);
	if (r < 0)
		return r;
	track = &reader->tracks[head->channel];
	/* Twice the same bytes, or a sum that overflows. */
	if (head->channel_offset < track->end_offset ||
	    head->channel_offset > (uint64_t)INT64_MAX - head->raw_bytes)
		return 0;
	r = log_list_reserve(&track->places, 1, sizeof(*place));
	if (r < 0)
		return why_errno(why, r, "cannot hold the places of its blocks");
	place = (struct log_place *)track->places.items + track->places.n++;
	*place = (struct log_place){
		.file_offset = offset,
		.channel_offset = head->channel_offset,
	};
	reader->health.missing_data_bytes += head->channel_offset - track->end_offset;
	track->bytes += head->raw_bytes;
	track->end_offset = head->channel_offset + head->raw_bytes;
	if (track->largest_bytes < head->raw_bytes)
		track->largest_bytes = head->raw_bytes;
	return 1;
}

static bool understood(const struct log_block_head *head)
{
	return head->type >= LOG_META && head->type <= LOG_END &&
	       !(head->flags & ~(LOG_ZSTD | LOG_MUST_UNDERSTAND | LOG_PACKED));
}

static int take_table(struct log_reader *reader, const struct log_block_head *head, uint64_t offset,
		      struct why *why)
{
	_cleanup_log_buffer_ struct log_buffer buffer = {0};
	struct log_block_head plain = *head;
	int r;

	/* Tables are stored plainly, so that a small file cannot fill the memory. */
	if (understood(head) && head->flags & (LOG_ZSTD | LOG_PACKED))
		return 0;
	if (!understood(head)) {
		/* However it is packed: the check is that of the stored bytes. */
		plain.flags = 0;
		plain.raw_bytes = head->stored_bytes;
	}
	r = log_block_read(&reader->pool, reader->fd, offset, &plain, &buffer);
	if (r < 0)
		return why_errno(why, r, "cannot read the log at byte %llu",
				 (unsigned long long)offset);
	if (!r)
		return 0;
	if (!understood(head)) {
		reader->health.unknown_blocks++;
		return 1;
	}
	return log_tables_add(&reader->tables, head, buffer.bytes, why);
}

static int take_block(struct log_reader *reader, const struct log_block_head *head, uint64_t offset,
		      struct why *why)
{
	int r;

	if (!understood(head) && head->flags & LOG_MUST_UNDERSTAND)
		return why_set(why, -ENOTSUP,
			       "the log was made by a newer blkbox (block of type %u at byte %llu)",
			       head->type, (unsigned long long)offset);
	if (head->type == LOG_DATA && understood(head))
		r = take_data(reader, head, offset, why);
	else
		r = take_table(reader, head, offset, why);
	if (r < 0)
		return r;
	if (r)
		reader->last_ns = head->written_mono_ns;
	else
		log_health_damage(&reader->health, offset, sizeof(*head) + head->stored_bytes);
	return r;
}

static int walk(struct log_reader *reader, struct why *why)
{
	struct log_scan scan = {
		.fd = reader->fd,
		.at = sizeof(struct log_header),
		.health = &reader->health,
	};
	struct log_block_head head;
	uint64_t offset;
	int r;

	reader->health.good_bytes = scan.at;
	while ((r = log_scan_next(&scan, &head, &offset, why)) > 0) {
		if (reader->health.header_damaged && !reader->header.start_mono_ns)
			reader->header.start_mono_ns = head.written_mono_ns;
		r = take_block(reader, &head, offset, why);
		if (r < 0)
			return r;
		if (reader->tables.end) {
			log_scan_finish(&scan);
			break;
		}
		reader->blocks += (uint64_t)r;
	}
	return r < 0 ? r : 0;
}

/* A wall clock for a log whose header is damaged. */
static void make_up_start(struct log_reader *reader)
{
	const struct log_clock *clock = reader->tables.clocks.items;
	struct log_header *header = &reader->header;

	if (reader->health.header_damaged && reader->tables.clocks.n && header->start_mono_ns)
		header->start_real_ns = clock->real_ns - clock->mono_ns + header->start_mono_ns;
}

/* What END counted against what is there. */
static void compare_end(struct log_reader *reader)
{
	struct log_health *health = &reader->health;

	health->has_end = reader->tables.end != NULL;
	if (!health->has_end)
		return;
	if (reader->tables.end->blocks > reader->blocks)
		health->missing_blocks = reader->tables.end->blocks - reader->blocks;
	if (reader->tables.end->blocks < reader->blocks)
		health->total_mismatches++;
	for (uint32_t i = 0; i < reader->tables.channels.n; i++) {
		const struct log_total *total = log_tables_total(&reader->tables, i);
		const struct log_track *track = &reader->tracks[i];

		if (!total || total->bytes != track->bytes)
			health->total_mismatches++;
		if (total && total->bytes > track->end_offset)
			health->missing_data_bytes += total->bytes - track->end_offset;
	}
}

static int open_reader(struct log_reader *reader, struct why *why)
{
	int r = look_at_file(reader, why);

	if (r < 0)
		return r;
	r = read_header(reader, why);
	if (r < 0)
		return r;
	r = walk(reader, why);
	if (r < 0)
		return r;
	if (reader->health.header_damaged && !reader->blocks && !reader->tables.end)
		return why_set(why, -EBADMSG,
			       "the log's header is damaged, and no whole block follows it");
	make_up_start(reader);
	r = log_tables_complete(&reader->tables, reader->n_tracks, why);
	if (r < 0)
		return r;
	r = grow_tracks(reader, reader->tables.channels.n, why);
	if (r < 0)
		return r;
	compare_end(reader);
	return 0;
}

int log_reader_adopt_open(int fd, struct log_reader **ret, struct why *why)
{
	_cleanup_reader_ struct log_reader *reader = calloc(1, sizeof(*reader));
	int r;

	if (!reader) {
		close(fd);
		return why_errno(why, -ENOMEM, "cannot read it");
	}
	reader->fd = fd;
	log_unpacker_pool_init(&reader->pool);
	r = open_reader(reader, why);
	if (r < 0)
		return r;
	*ret = take_ptr(reader);
	return 0;
}

void log_reader_close(struct log_reader *reader)
{
	if (!reader)
		return;
	for (size_t i = 0; i < reader->n_tracks; i++)
		free(reader->tracks[i].places.items);
	free(reader->tracks);
	log_tables_deinit(&reader->tables);
	log_unpacker_pool_deinit(&reader->pool);
	close_keep_errno(reader->fd);
	free(reader);
}
