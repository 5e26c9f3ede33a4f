/* SPDX-License-Identifier: MIT */
#include "log_sample.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static struct log_reader *open_bytes(const uint8_t *bytes, size_t size)
{
	struct log_reader *reader = NULL;
	struct why why = {""};
	int r = log_reader_adopt_open(sample_file(bytes, size), &reader, &why);

	cr_assert_eq(r, 0, "%d %s", r, why.text);
	return reader;
}

static void expect_refusal(const uint8_t *bytes, size_t size, int error, const char *text)
{
	struct log_reader *reader = NULL;
	struct why why = {""};
	int r = log_reader_adopt_open(sample_file(bytes, size), &reader, &why);

	cr_assert_eq(r, error, "size %zu: %d %s", size, r, why.text);
	cr_assert(strstr(why.text, text), "size %zu: %s", size, why.text);
	cr_assert_null(reader);
}

static bool whole(struct log_reader *reader)
{
	struct log_health health;

	cr_assert_eq(log_reader_verify(reader, NULL, &health, NULL), 0);
	return log_health_whole(&health);
}

static void round_trip(unsigned seed, bool compress, size_t spans, size_t span_max)
{
	struct sample sample;
	struct log_reader *reader;

	sample_make(&sample, seed, compress, spans, span_max);
	reader = open_bytes(sample.bytes, sample.size);
	cr_assert(log_reader_health(reader)->has_end);
	cr_assert(whole(reader));
	for (uint32_t i = 0; i < SAMPLE_CHANNELS; i++) {
		struct log_total total;
		uint64_t missing;

		cr_assert_eq(sample_read(&sample, reader, i, &missing), sample.channel_bytes[i]);
		cr_assert_eq(missing, 0);
		cr_assert(log_reader_total(reader, i, &total));
		cr_assert_eq(total.bytes, sample.channel_bytes[i]);
		cr_assert_eq(total.events, sample.events[i]);
		cr_assert_eq(total.notes, sample.notes[i]);
		cr_assert_eq(log_reader_channel_bytes(reader, i), sample.channel_bytes[i]);
	}
	log_reader_close(reader);
	sample_free(&sample);
}

Test(log_reader, gives_back_what_was_written)
{
	for (unsigned seed = 1; seed <= 4; seed++) {
		round_trip(seed, seed % 2, 300, 300);
		round_trip(seed, seed % 2, 60, 40000);
	}
}

Test(log_reader, a_long_span_becomes_several_blocks)
{
	struct log_writer_options options = {.compress = true};
	struct log_channel channel = {0, LOG_NO_CHANNEL, 0, LOG_FTRACE_PAGES};
	size_t size = 3 * LOG_DATA_TARGET + 1;
	uint8_t *bytes = calloc(1, size);
	int fd = sample_file(NULL, 0);
	struct log_writer *writer;
	struct log_reader *reader;
	struct log_cursor *cursor;
	struct log_span span;
	struct log_total total;

	srand(5);
	for (size_t i = 0; i < size; i += 1 + (size_t)rand() % 50)
		bytes[i] = (uint8_t)rand();
	cr_assert_eq(log_writer_create(fd, &options, &writer, NULL), 0);
	cr_assert_eq(log_writer_channels(writer, &channel, 1, NULL), 0);
	cr_assert_eq(log_writer_data(writer, 0, bytes, size, NULL), 0);
	cr_assert_eq(log_writer_finish(writer, LOG_END_TIME, NULL), 0);
	log_writer_destroy(writer);

	cr_assert_eq(log_reader_adopt_open(fd, &reader, NULL), 0);
	cr_assert_eq(log_reader_end(reader)->blocks, 5);
	cr_assert_eq(log_reader_end(reader)->reason, LOG_END_TIME);
	cr_assert(log_reader_total(reader, 0, &total));
	cr_assert_eq(total.bytes, size);
	cr_assert_eq(total.events, 0);
	cr_assert_eq(log_cursor_create(reader, 0, &cursor), 0);
	for (size_t at = 0; at < size; at += span.size) {
		cr_assert_eq(log_cursor_next(cursor, &span, NULL), 1);
		cr_assert_eq(span.channel_offset, at);
		cr_assert(!memcmp(span.bytes, bytes + at, span.size));
	}
	cr_assert_eq(log_cursor_next(cursor, &span, NULL), 0);
	cr_assert_lt(log_reader_health(reader)->file_bytes, size);
	log_cursor_destroy(cursor);
	cr_assert(whole(reader));
	log_reader_close(reader);
	free(bytes);
}

Test(log_reader, tells_the_tables)
{
	struct sample sample;
	struct log_reader *reader;
	const struct log_device *devices;
	const struct log_channel *channels;
	const struct log_drops *drops;
	const struct log_name *names;
	const struct log_clock *clocks;
	const char *key;
	const char *value;

	sample_make(&sample, 2, false, 200, 100);
	reader = open_bytes(sample.bytes, sample.size);
	cr_assert_str_eq(log_reader_meta(reader, "host"), "box");
	cr_assert_str_eq(log_reader_meta(reader, "empty"), "");
	cr_assert_null(log_reader_meta(reader, "no pair"));
	cr_assert_null(log_reader_meta(reader, "nothing"));
	cr_assert(log_reader_meta_at(reader, 1, &key, &value));
	cr_assert_str_eq(key, "kernel");
	cr_assert_str_eq(value, "6.1.0");
	cr_assert(!log_reader_meta_at(reader, 4, &key, &value));
	cr_assert_eq(log_reader_devices(reader, &devices), 2);
	cr_assert_str_eq(devices[1].name, "nvme0n1");
	cr_assert_eq(devices[1].device, 259u << 20);
	cr_assert_eq(log_reader_channels(reader, &channels), 3);
	cr_assert_eq(channels[2].cpu, 1);
	cr_assert_eq(channels[2].device_index, 1);
	cr_assert_gt(log_reader_drops(reader, &drops), 0);
	cr_assert_eq(drops[0].count, 7);
	cr_assert_gt(log_reader_names(reader, &names), 0);
	cr_assert(!memcmp(names[0].comm, "sixteen bytes ab", 16));
	cr_assert_gt(log_reader_clocks(reader, &clocks), 0);
	cr_assert_gt(clocks[0].mono_ns, log_reader_header(reader)->start_mono_ns);
	cr_assert_lt(clocks[0].uncertainty_ns, 1000000000);
	cr_assert_geq(log_reader_last_ns(reader), clocks[0].mono_ns);
	log_reader_close(reader);
	sample_free(&sample);
}

Test(log_reader, cut_at_every_length_gives_the_whole_blocks_before_the_cut)
{
	struct sample sample;
	size_t cut = 0;

	sample_make(&sample, 3, true, 40, 200);
	cr_assert_lt(sample.size, 16000);
	for (size_t size = 0; size <= sample.size; size++) {
		struct log_reader *reader;
		const struct log_health *health;

		if (size < 64) {
			expect_refusal(sample.bytes, size, size ? -EBADMSG : -ENODATA,
				       size == 0  ? "empty"
				       : size < 8 ? "not a blkbox log"
						  : "cut off inside of its header");
			continue;
		}
		while (cut + 1 < sample.n_cuts && sample.cuts[cut + 1].file_bytes <= size)
			cut++;
		reader = open_bytes(sample.bytes, size);
		health = log_reader_health(reader);
		cr_assert_eq(health->has_end, size == sample.size);
		cr_assert_eq(health->good_bytes, sample.cuts[cut].file_bytes, "size %zu", size);
		cr_assert_eq(health->file_bytes, size);
		cr_assert_eq(health->damaged_bytes, 0, "size %zu", size);
		cr_assert_eq(health->missing_data_bytes, 0);
		for (uint32_t i = 0; i < SAMPLE_CHANNELS; i++) {
			const struct log_channel *channels;

			if (i < log_reader_channels(reader, &channels))
				cr_assert_eq(sample_read(&sample, reader, i, NULL),
					     sample.cuts[cut].channel_bytes[i]);
		}
		cr_assert_eq(whole(reader), size == sample.size);
		log_reader_close(reader);
	}
	sample_free(&sample);
}

Test(log_reader, one_wrong_byte_anywhere_is_noticed_and_never_given_as_data)
{
	static const uint8_t flips[] = {0x01, 0x80, 0xff};
	struct sample sample;

	sample_make(&sample, 4, true, 40, 200);
	for (size_t at = 0; at < sample.size; at++) {
		struct log_reader *reader;
		uint8_t good = sample.bytes[at];
		uint64_t read = 0;
		uint64_t written = 0;

		sample.bytes[at] ^= flips[at % 3];
		reader = open_bytes(sample.bytes, sample.size);
		cr_assert(!whole(reader), "byte %zu", at);
		for (uint32_t i = 0; i < SAMPLE_CHANNELS; i++) {
			const struct log_channel *channels;

			written += sample.channel_bytes[i];
			if (i < log_reader_channels(reader, &channels))
				read += sample_read(&sample, reader, i, NULL);
		}
		cr_assert_leq(written - read, 200, "byte %zu: more than one block is lost", at);
		cr_assert_eq(log_reader_probe(sample.fd), true);
		log_reader_close(reader);
		sample.bytes[at] = good;
	}
	sample_free(&sample);
}

/* Damages block @n (behind the nth cut) at @from_head and expects that only it is lost. */
static void damage_block(struct sample *sample, size_t n, size_t from_head)
{
	const struct sample_cut *before = &sample->cuts[n];
	const struct sample_cut *after = &sample->cuts[n + 1];
	uint8_t *hit = sample->bytes + before->file_bytes + from_head;
	struct log_reader *reader;
	struct log_health health;
	uint64_t lost = 0;

	*hit ^= 0x10;
	reader = open_bytes(sample->bytes, sample->size);
	cr_assert_eq(log_reader_verify(reader, NULL, &health, NULL), 0);
	cr_assert_eq(health.damaged_blocks, 1);
	cr_assert_eq(health.damaged_bytes, after->file_bytes - before->file_bytes);
	cr_assert_eq(health.first_damage_offset, before->file_bytes);
	cr_assert_eq(health.missing_blocks, 1);
	cr_assert_eq(health.has_end, true);
	for (uint32_t i = 0; i < SAMPLE_CHANNELS; i++) {
		uint64_t missing;
		uint64_t gap = after->channel_bytes[i] - before->channel_bytes[i];
		uint64_t bytes = sample_read(sample, reader, i, &missing);

		cr_assert_eq(bytes, sample->channel_bytes[i] - gap);
		/* Without its head, nobody knows that there was a last block: END's total tells. */
		if (from_head >= sizeof(struct log_block_head) ||
		    after->channel_bytes[i] != sample->channel_bytes[i])
			cr_assert_eq(missing, gap);
		lost += gap;
	}
	cr_assert_eq(health.missing_data_bytes, lost);
	cr_assert_eq(health.total_mismatches, lost ? 1 : 0);
	log_reader_close(reader);
	*hit ^= 0x10;
}

Test(log_reader, a_damaged_block_loses_only_itself)
{
	for (unsigned compress = 0; compress < 2; compress++) {
		struct sample sample;

		sample_make(&sample, 5, compress, 60, 5000);
		for (size_t n = 0; n + 2 < sample.n_cuts; n++) {
			damage_block(&sample, n, 0);
			damage_block(&sample, n, 17);
			damage_block(&sample, n, 48);
		}
		sample_free(&sample);
	}
}

Test(log_reader, a_damaged_header_costs_no_event)
{
	struct sample sample;
	struct log_reader *reader;
	const struct log_header *header;
	struct log_header good;

	sample_make(&sample, 6, true, 100, 500);
	memcpy(&good, sample.bytes, sizeof(good));
	memset(sample.bytes, 0xee, 64);
	expect_refusal(sample.bytes, sample.size, -EBADMSG, "not a blkbox log");
	memcpy(sample.bytes, LOG_MAGIC, 8);
	reader = open_bytes(sample.bytes, sample.size);
	cr_assert(log_reader_health(reader)->header_damaged);
	header = log_reader_header(reader);
	cr_assert_geq(header->start_mono_ns, good.start_mono_ns);
	cr_assert_lt(header->start_mono_ns - good.start_mono_ns, 1000000000);
	cr_assert_lt(llabs((long long)(header->start_real_ns - good.start_real_ns)), 1000000000);
	for (uint32_t i = 0; i < SAMPLE_CHANNELS; i++)
		cr_assert_eq(sample_read(&sample, reader, i, NULL), sample.channel_bytes[i]);
	log_reader_close(reader);

	memset(sample.bytes + 64, 0, sample.size - 64);
	expect_refusal(sample.bytes, sample.size, -EBADMSG, "header is damaged");
	sample_free(&sample);
}

Test(log_reader, random_damage_never_gives_wrong_data)
{
	struct sample sample;
	uint8_t *bytes;

	sample_make(&sample, 7, true, 50, 300);
	bytes = malloc(sample.size);
	srand(7);
	for (int round = 0; round < 3000; round++) {
		struct log_reader *reader;
		size_t size = round % 3 ? sample.size : (size_t)rand() % sample.size;
		const struct log_channel *channels;

		memcpy(bytes, sample.bytes, size);
		for (int hits = rand() % 20; hits >= 0 && size; hits--) {
			size_t at = (size_t)rand() % size;
			size_t n = (size_t)rand() % 64;

			n = n < size - at ? n : size - at;
			if (rand() % 2)
				memset(bytes + at, rand(), n);
			else
				memmove(bytes + at, bytes + (size_t)rand() % (size - n + 1), n);
		}
		if (log_reader_adopt_open(sample_file(bytes, size), &reader, NULL) < 0)
			continue;
		for (uint32_t i = 0; i < log_reader_channels(reader, &channels); i++) {
			cr_assert_lt(i, SAMPLE_CHANNELS);
			sample_read(&sample, reader, i, NULL);
		}
		whole(reader);
		log_reader_close(reader);
	}
	free(bytes);
	sample_free(&sample);
}

Test(log_reader, says_what_is_no_log)
{
	struct log_reader *reader;
	struct why why;
	int ends[2];

	expect_refusal((const uint8_t *)"hello world, hello log, and so on", 33, -EBADMSG,
		       "this is not a blkbox log");
	cr_assert_eq(log_reader_adopt_open(open("/tmp", O_RDONLY), &reader, &why), -EISDIR);
	cr_assert_str_eq(why.text, "this is a directory, not a log");
	cr_assert_eq(pipe(ends), 0);
	cr_assert_eq(log_reader_adopt_open(ends[0], &reader, &why), -ESPIPE);
	cr_assert_eq(fcntl(ends[0], F_GETFD), -1, "adopted in every outcome");
	close(ends[1]);
}

struct reading {
	const struct sample *sample;
	struct log_reader *reader;
};

static void *read_all(void *data)
{
	struct reading *reading = data;

	for (uint32_t i = 0; i < SAMPLE_CHANNELS; i++) {
		if (sample_read(reading->sample, reading->reader, i, NULL) !=
		    reading->sample->channel_bytes[i])
			return reading;
	}
	return NULL;
}

Test(log_reader, cursors_work_in_threads)
{
	struct sample sample;
	struct reading reading = {.sample = &sample};
	pthread_t threads[8];

	sample_make(&sample, 8, true, 400, 20000);
	reading.reader = open_bytes(sample.bytes, sample.size);
	for (int i = 0; i < 8; i++)
		cr_assert_eq(pthread_create(&threads[i], NULL, read_all, &reading), 0);
	for (int i = 0; i < 8; i++) {
		void *bad;

		pthread_join(threads[i], &bad);
		cr_assert_null(bad);
	}
	log_reader_close(reading.reader);
	sample_free(&sample);
}
