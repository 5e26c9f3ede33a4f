/* SPDX-License-Identifier: MIT */
/* Logs with good checksums and bad content: made by a faulty or hostile program, not by bad luck.
 */
#include "log_sample.h"

#include <criterion/criterion.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <xxhash.h>
#include <zstd.h>

struct craft {
	uint8_t bytes[4 << 20];
	size_t size;
	struct log_reader *reader;
	struct log_health health;
};

static struct craft *craft_begin(void)
{
	struct craft *craft = calloc(1, sizeof(*craft));
	struct log_header header = {.magic = LOG_MAGIC,
				    .version = 1,
				    .header_bytes = 64,
				    .start_mono_ns = 5};

	header.check = XXH3_64bits(&header, 56);
	memcpy(craft->bytes, &header, 64);
	craft->size = 64;
	return craft;
}

static void craft_head(struct craft *craft, struct log_block_head head, const void *payload)
{
	head.sync = LOG_BLOCK_SYNC;
	head.payload_check = XXH3_64bits(payload, head.stored_bytes);
	head.head_check = (uint32_t)XXH3_64bits(&head, sizeof(head));
	memcpy(craft->bytes + craft->size, &head, sizeof(head));
	memcpy(craft->bytes + craft->size + sizeof(head), payload, head.stored_bytes);
	craft->size += sizeof(head) + head.stored_bytes;
}

static void craft_block(struct craft *craft, int type, const void *payload, size_t size)
{
	struct log_block_head head = {
		.type = (uint16_t)type,
		.channel = LOG_NO_CHANNEL,
		.raw_bytes = (uint32_t)size,
		.stored_bytes = (uint32_t)size,
	};

	craft_head(craft, head, payload);
}

static void craft_data(struct craft *craft, uint32_t channel, uint64_t channel_offset,
		       const void *payload, size_t size)
{
	struct log_block_head head = {
		.type = LOG_DATA,
		.channel = channel,
		.raw_bytes = (uint32_t)size,
		.stored_bytes = (uint32_t)size,
		.channel_offset = channel_offset,
	};

	craft_head(craft, head, payload);
}

static int craft_open(struct craft *craft, struct why *why)
{
	int r = log_reader_adopt_open(sample_file(craft->bytes, craft->size), &craft->reader, why);

	if (r == 0)
		cr_assert_eq(log_reader_verify(craft->reader, NULL, &craft->health, why), 0);
	return r;
}

static void craft_end(struct craft *craft)
{
	log_reader_close(craft->reader);
	free(craft);
}

static void expect_damage(struct craft *craft, uint64_t blocks)
{
	cr_assert_eq(craft_open(craft, NULL), 0);
	cr_assert_eq(craft->health.damaged_blocks, blocks, "%lu", craft->health.damaged_blocks);
	craft_end(craft);
}

Test(log_crafted, lengths_over_the_limit_are_no_head)
{
	struct craft *craft = craft_begin();
	struct log_block_head head = {.type = LOG_DATA,
				      .raw_bytes = UINT32_MAX,
				      .stored_bytes = 8,
				      .flags = LOG_ZSTD};

	craft_head(craft, head, "12345678");
	head.raw_bytes = LOG_BLOCK_MAX + 1;
	craft_head(craft, head, "12345678");
	craft_data(craft, 0, 0, "x", 1);
	expect_damage(craft, 1);
}

Test(log_crafted, a_frame_that_unpacks_to_more_or_less_than_it_says_is_damaged)
{
	static uint8_t zeros[LOG_BLOCK_MAX];
	uint8_t packed[4096];
	struct log_block_head head = {.type = LOG_DATA, .flags = LOG_ZSTD};

	for (int off = -1; off <= 1; off++) {
		struct craft *craft = craft_begin();

		head.stored_bytes = (uint32_t)ZSTD_compress(packed, sizeof(packed), zeros, 5000, 1);
		head.raw_bytes = (uint32_t)(5000 + off);
		craft_head(craft, head, packed);
		expect_damage(craft, off != 0);
	}
}

Test(log_crafted, stored_plainly_with_two_lengths_is_damaged)
{
	struct craft *craft = craft_begin();
	struct log_block_head head = {.type = LOG_DATA, .raw_bytes = 9, .stored_bytes = 8};

	craft_head(craft, head, "12345678");
	expect_damage(craft, 1);
}

Test(log_crafted, a_small_file_takes_little_memory)
{
	/* Highest numbers everywhere, and a frame that claims a gigabyte. */
	static uint8_t zeros[LOG_BLOCK_MAX];
	uint8_t packed[4096];
	struct craft *craft = craft_begin();
	struct log_device device = {.index = LOG_DEVICES_MAX - 1};
	struct log_channel channel = {LOG_CHANNELS_MAX - 1, LOG_DEVICES_MAX - 1, 0, 1};
	struct log_block_head head = {.type = LOG_DATA, .flags = LOG_ZSTD, .raw_bytes = 1 << 20};
	struct log_block_head meta = {.type = LOG_META,
				      .flags = LOG_ZSTD,
				      .raw_bytes = 1 << 20,
				      .channel = LOG_NO_CHANNEL};
	size_t before = mallinfo2().uordblks + mallinfo2().hblkhd;
	size_t after;
	const struct log_channel *channels;

	head.stored_bytes = (uint32_t)ZSTD_compress(packed, sizeof(packed), zeros, 1 << 20, 19);
	craft_block(craft, LOG_DEVICES, &device, sizeof(device));
	craft_block(craft, LOG_CHANNELS, &channel, sizeof(channel));
	craft_head(craft, head, packed);
	meta.stored_bytes = head.stored_bytes;
	for (int i = 0; i < 20; i++)
		craft_head(craft, meta, packed);
	cr_assert_lt(craft->size, 8192);
	cr_assert_eq(craft_open(craft, NULL), 0);
	after = mallinfo2().uordblks + mallinfo2().hblkhd;
	cr_assert_lt(after - before, 16 << 20, "%zu", after - before);
	cr_assert_eq(log_reader_channels(craft->reader, &channels), LOG_CHANNELS_MAX);
	cr_assert_eq(channels[0].device_index, LOG_NO_CHANNEL);
	cr_assert_eq(craft->health.damaged_blocks, 20);
	craft_end(craft);
}

Test(log_crafted, numbers_out_of_range_are_damage)
{
	struct craft *craft = craft_begin();
	struct log_device device = {.index = LOG_DEVICES_MAX};
	struct log_channel channels[3] = {{LOG_CHANNELS_MAX, 0, 0, 1},
					  {0, LOG_DEVICES_MAX, 0, 1},
					  {0, 0, 0, 3}};
	struct log_drops drops = {.device_index = LOG_DEVICES_MAX};

	craft_block(craft, LOG_DEVICES, &device, sizeof(device));
	for (int i = 0; i < 3; i++)
		craft_block(craft, LOG_CHANNELS, &channels[i], sizeof(channels[i]));
	craft_block(craft, LOG_DROPS, &drops, sizeof(drops));
	craft_data(craft, LOG_CHANNELS_MAX, 0, "x", 1);
	craft_data(craft, LOG_NO_CHANNEL, 0, "x", 1);
	craft_data(craft, 0, 0, "", 0);
	craft_data(craft, 0, UINT64_MAX, "x", 1);
	expect_damage(craft, 9);
}

Test(log_crafted, tables_of_odd_sizes_are_damage)
{
	struct craft *craft = craft_begin();
	uint8_t zeros[256] = {0};

	craft_block(craft, LOG_META, "a=b", 3); /* without its NUL */
	craft_block(craft, LOG_DEVICES, zeros, sizeof(struct log_device) + 1);
	craft_block(craft, LOG_CHANNELS, zeros, sizeof(struct log_channel) - 1);
	craft_block(craft, LOG_DROPS, zeros, sizeof(struct log_drops) + 4);
	craft_block(craft, LOG_NAMES, zeros, 1);
	craft_block(craft, LOG_CLOCK, zeros, 25);
	craft_block(craft, LOG_END, zeros, sizeof(struct log_end) - 1);
	craft_block(craft, LOG_END, zeros, sizeof(struct log_end) + sizeof(struct log_total));
	expect_damage(craft, 8);
}

Test(log_crafted, empty_tables_are_none)
{
	struct craft *craft = craft_begin();

	for (int type = LOG_META; type <= LOG_CLOCK; type++) {
		if (type != LOG_DATA)
			craft_block(craft, type, "", 0);
	}
	expect_damage(craft, 0);
}

Test(log_crafted, the_same_bytes_twice_are_taken_once)
{
	struct craft *craft = craft_begin();
	struct log_cursor *cursor;
	struct log_span span;

	craft_data(craft, 0, 0, "abcd", 4);
	craft_data(craft, 0, 0, "abcd", 4);
	craft_data(craft, 0, 2, "cdef", 4);
	craft_data(craft, 0, 6, "gh", 2);
	cr_assert_eq(craft_open(craft, NULL), 0);
	cr_assert_eq(craft->health.damaged_blocks, 2);
	cr_assert_eq(craft->health.missing_data_bytes, 2);
	cr_assert_eq(log_cursor_create(craft->reader, 0, &cursor), 0);
	cr_assert_eq(log_cursor_next(cursor, &span, NULL), 1);
	cr_assert_eq(log_cursor_next(cursor, &span, NULL), 1);
	cr_assert_eq(span.channel_offset, 6);
	cr_assert_eq(span.missing_bytes, 2);
	cr_assert_eq(log_cursor_next(cursor, &span, NULL), 0);
	log_cursor_destroy(cursor);
	cr_assert_eq(log_cursor_create(craft->reader, 1, &cursor), -EINVAL);
	craft_end(craft);
}

Test(log_crafted, the_last_word_about_a_channel_or_fact_counts)
{
	struct craft *craft = craft_begin();
	struct log_channel first = {1, 0, 7, 1};
	struct log_channel second = {0, 1, 8, 2};
	struct log_channel again = {1, 3, 9, 2};
	const struct log_channel *channels;
	const struct log_device *devices;

	craft_block(craft, LOG_CHANNELS, &first, sizeof(first));
	craft_data(craft, 0, 0, "abcd", 4);
	craft_block(craft, LOG_CHANNELS, &second, sizeof(second));
	craft_block(craft, LOG_CHANNELS, &again, sizeof(again));
	craft_block(craft, LOG_META, "k=1\0k=2", 8);
	cr_assert_eq(craft_open(craft, NULL), 0);
	cr_assert_eq(log_reader_channels(craft->reader, &channels), 2);
	cr_assert_eq(channels[0].cpu, 8);
	cr_assert_eq(channels[1].cpu, 9);
	cr_assert_eq(log_reader_devices(craft->reader, &devices), 4);
	cr_assert_str_eq(devices[3].name, "");
	cr_assert_eq(devices[3].index, 3);
	cr_assert_str_eq(log_reader_meta(craft->reader, "k"), "2");
	craft_end(craft);
}

Test(log_crafted, data_without_an_announcement_is_read)
{
	struct craft *craft = craft_begin();
	const struct log_channel *channels;

	craft_data(craft, 1, 0, "abcd", 4);
	craft_block(craft, LOG_META, "source=ftrace", 14);
	cr_assert_eq(craft_open(craft, NULL), 0);
	cr_assert_eq(log_reader_channels(craft->reader, &channels), 2);
	cr_assert_eq(channels[1].kind, LOG_FTRACE_PAGES);
	cr_assert_eq(channels[1].cpu, LOG_NO_CPU);
	cr_assert_eq(log_reader_channel_bytes(craft->reader, 1), 4);
	craft_end(craft);
}

Test(log_crafted, a_device_name_without_an_end_gets_one)
{
	struct craft *craft = craft_begin();
	struct log_device device = {.index = 0};
	const struct log_device *devices;

	memset(device.name, 'n', sizeof(device.name));
	craft_block(craft, LOG_DEVICES, &device, sizeof(device));
	cr_assert_eq(craft_open(craft, NULL), 0);
	cr_assert_eq(log_reader_devices(craft->reader, &devices), 1);
	cr_assert_eq(strlen(devices[0].name), LOG_NAME_BYTES - 1);
	craft_end(craft);
}

Test(log_crafted, end_has_the_last_word)
{
	struct {
		struct log_end end;
		struct log_total totals[2];
	} end = {
		.end = {.blocks = 3, .totals = 2},
		.totals = {{.channel = 0, .bytes = 4}, {.channel = 1, .bytes = 9}},
	};
	struct craft *craft = craft_begin();

	craft_data(craft, 0, 0, "abcd", 4);
	craft_block(craft, LOG_END, &end, sizeof(end));
	craft_data(craft, 0, 4, "efgh", 4);
	cr_assert_eq(craft_open(craft, NULL), 0);
	cr_assert_eq(craft->health.has_end, true);
	cr_assert_eq(craft->health.missing_blocks, 2);
	cr_assert_eq(craft->health.missing_data_bytes, 9);
	cr_assert_eq(craft->health.total_mismatches, 1);
	/* What follows END is no part of the log. */
	cr_assert_eq(craft->health.damaged_bytes, 52);
	cr_assert_eq(log_reader_channel_bytes(craft->reader, 0), 4);
	craft_end(craft);
}

Test(log_crafted, wrong_counts_in_end_are_told)
{
	struct {
		struct log_end end;
		struct log_total total;
	} end = {.end = {.blocks = 2, .totals = 1}, .total = {.channel = 0, .bytes = 48}};
	struct log_channel channel = {0, LOG_NO_CHANNEL, 0, LOG_RELAY_RECORDS};
	uint8_t record[48] = {0x07, 0x74, 0x61, 0x65};

	for (int events = 0; events < 3; events++) {
		struct craft *craft = craft_begin();

		end.total.events = (uint64_t)events;
		craft_block(craft, LOG_CHANNELS, &channel, sizeof(channel));
		craft_data(craft, 0, 0, record, 48);
		craft_block(craft, LOG_END, &end, sizeof(end));
		cr_assert_eq(craft_open(craft, NULL), 0);
		cr_assert_eq(craft->health.total_mismatches, events != 1);
		cr_assert_eq(log_health_whole(&craft->health), events == 1);
		craft_end(craft);
	}
}

Test(log_crafted, an_end_with_fewer_blocks_than_there_are_is_a_contradiction)
{
	struct log_end end = {.blocks = 0};
	struct craft *craft = craft_begin();

	craft_block(craft, LOG_META, "a=b", 4);
	craft_block(craft, LOG_END, &end, sizeof(end));
	cr_assert_eq(craft_open(craft, NULL), 0);
	cr_assert(!log_health_whole(&craft->health));
	craft_end(craft);
}

Test(log_crafted, unknown_blocks_are_skipped_unless_they_must_be_understood)
{
	struct log_block_head head = {.type = 77,
				      .channel = 0,
				      .raw_bytes = 100,
				      .stored_bytes = 5};
	struct log_end end = {.blocks = 3, .totals = 0};
	struct craft *craft = craft_begin();
	struct why why;

	craft_head(craft, head, "12345");
	head.type = LOG_META;
	head.flags = 0x100;
	craft_head(craft, head, "12345");
	craft_block(craft, LOG_META, "a=b", 4);
	craft_block(craft, LOG_END, &end, sizeof(end));
	cr_assert_eq(craft_open(craft, NULL), 0);
	cr_assert_eq(craft->health.unknown_blocks, 2);
	cr_assert(log_health_whole(&craft->health));
	cr_assert_str_eq(log_reader_meta(craft->reader, "a"), "b");
	log_reader_close(craft->reader);
	craft->reader = NULL;

	craft->bytes[64 + 48] ^= 1;
	cr_assert_eq(craft_open(craft, NULL), 0);
	cr_assert(!log_health_whole(&craft->health));
	craft_end(craft);

	craft = craft_begin();
	head.type = 77;
	head.flags = LOG_MUST_UNDERSTAND;
	craft_head(craft, head, "12345");
	cr_assert_eq(craft_open(craft, &why), -ENOTSUP);
	cr_assert_str_eq(why.text,
			 "the log was made by a newer blkbox (block of type 77 at byte 64)");
	craft_end(craft);
}

static void newer_header(uint16_t version, uint32_t features, const char *sentence)
{
	struct craft *craft = craft_begin();
	struct log_header header;
	struct why why;

	memcpy(&header, craft->bytes, 64);
	header.version = version;
	header.must_understand = features;
	header.check = XXH3_64bits(&header, 56);
	memcpy(craft->bytes, &header, 64);
	cr_assert_eq(craft_open(craft, &why), -ENOTSUP);
	cr_assert_str_eq(why.text, sentence);
	craft_end(craft);
}

Test(log_crafted, a_newer_header_is_refused)
{
	newer_header(2, 0, "the log was made by a newer blkbox (format 2, this one reads 1)");
	newer_header(1, 8, "the log was made by a newer blkbox (it uses features 0x8)");
}
