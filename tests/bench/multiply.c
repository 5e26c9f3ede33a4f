/* SPDX-License-Identifier: MIT */
/*
 * Makes a long recording of a short one: its records again and again, with times and sequence
 * numbers that go on; for more CPUs, the same beside it at other sectors.
 *
 *   multiply BASE COPIES SPREAD OUT           a blktrace set OUT.blktrace.CPU
 *   multiply BASE COPIES SPREAD OUT.blkbox    a log; "raw:OUT.blkbox": without compression
 */
#include "blktrace.h"
#include "log_writer.h"

#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <stdio.h>
#include <stdlib.h>

enum {
	CHANNELS_MAX = 1024,
	CHUNK_BYTES = 128 << 10, /* what a reader thread takes at a time */
	PAUSE_NS = 100000
};

/* A CPU of the short recording. */
struct piece {
	char *bytes;
	size_t size;
	uint32_t last_sequence;
};

/* A CPU of the long one. */
struct channel {
	FILE *file; /* NULL: the log */
	char *bytes;
	size_t size;
};

struct multiply {
	struct piece pieces[CHANNELS_MAX];
	size_t n;
	struct channel channels[CHANNELS_MAX];
	uint64_t copies, spread;
	uint64_t first_ns, last_ns, sectors;
	uint32_t device;
	uint8_t record_version;
	struct log_writer *writer; /* NULL: files */
	uint64_t events;
};

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static bool is_note(const struct bt_record1 *record)
{
	return record->action >> BT_CATEGORY_SHIFT & BT_NOTIFY;
}

static void learn(struct multiply *m, struct piece *piece, const struct bt_record1 *record)
{
	uint64_t end = record->sector + record->bytes / 512;

	m->device = record->device;
	if (is_note(record))
		return;
	if (record->time_ns < m->first_ns)
		m->first_ns = record->time_ns;
	if (record->time_ns > m->last_ns)
		m->last_ns = record->time_ns;
	if (record->sector != UINT64_MAX && end > m->sectors)
		m->sectors = end;
	piece->last_sequence = record->sequence;
}

static size_t record_bytes(const struct bt_record1 *record)
{
	return sizeof(*record) + record->pdu_len;
}

static bool read_piece(struct multiply *m, const char *base)
{
	struct piece *piece = &m->pieces[m->n];
	char path[4096];
	FILE *file;

	snprintf(path, sizeof(path), "%s.blktrace.%zu", base, m->n);
	file = fopen(path, "re");
	if (!file)
		return false;
	*piece = (struct piece){.bytes = calloc(1, 64 << 20)};
	if (!piece->bytes)
		die(path);
	piece->size = fread(piece->bytes, 1, 64 << 20, file);
	fclose(file);
	for (size_t at = 0; at < piece->size;) {
		struct bt_record1 record;

		memcpy(&record, piece->bytes + at, sizeof(record));
		if (record.magic != (BT_MAGIC | 7)) {
			fprintf(stderr, "%s: not of protocol v1\n", path);
			exit(1);
		}
		learn(m, piece, &record);
		at += record_bytes(&record);
	}
	m->n++;
	return true;
}

static void flush(struct multiply *m, size_t number)
{
	struct channel *channel = &m->channels[number];
	struct why why = {""};

	if (channel->file &&
	    fwrite(channel->bytes, 1, channel->size, channel->file) != channel->size)
		die("write");
	if (!channel->file &&
	    log_writer_data(m->writer, (uint32_t)number, channel->bytes, channel->size, &why) < 0) {
		fprintf(stderr, "%s\n", why.text);
		exit(1);
	}
	channel->size = 0;
}

/* Copy @k of a piece, in group @group of CPUs. */
static void put_copy(struct multiply *m, size_t p, uint64_t group, uint64_t k)
{
	size_t number = group * m->n + p;
	const struct piece *piece = &m->pieces[p];
	struct channel *channel = &m->channels[number];
	uint64_t shift_ns = k * (m->last_ns - m->first_ns + PAUSE_NS);

	for (size_t at = 0; at < piece->size;) {
		struct bt_record1 record;

		memcpy(&record, piece->bytes + at, sizeof(record));
		/* Names and the wall clock are told once. */
		if (!is_note(&record) || (k == 0 && group == 0)) {
			if (channel->size + record_bytes(&record) > CHUNK_BYTES)
				flush(m, number);
			memcpy(channel->bytes + channel->size, piece->bytes + at,
			       record_bytes(&record));
			record.cpu = (uint32_t)number;
			if (!is_note(&record)) {
				record.time_ns += shift_ns;
				record.sequence += (uint32_t)k * piece->last_sequence;
				if (record.sector != UINT64_MAX)
					record.sector += group * m->sectors;
				m->events++;
			}
			memcpy(channel->bytes + channel->size, &record, sizeof(record));
			channel->size += record_bytes(&record);
		}
		at += record_bytes(&record);
	}
}

static void open_files(struct multiply *m, const char *out)
{
	for (size_t i = 0; i < m->n * m->spread; i++) {
		char path[4096];

		snprintf(path, sizeof(path), "%s.blktrace.%zu", out, i);
		m->channels[i].file = fopen(path, "we");
		if (!m->channels[i].file)
			die(path);
	}
}

static void open_log(struct multiply *m, const char *out, bool compress)
{
	struct log_device device = {.device = m->device, .disk = m->device, .protocol = 1};
	struct log_channel channels[CHANNELS_MAX] = {0};
	struct why why = {""};
	int fd = open(out, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	int r;

	if (fd < 0)
		die(out);
	snprintf(device.name, sizeof(device.name), "multiplied");
	for (size_t i = 0; i < m->n * m->spread; i++)
		channels[i] = (struct log_channel){(uint32_t)i, 0, (uint32_t)i, LOG_RELAY_RECORDS};
	r = log_writer_create(fd, &(struct log_writer_options){.compress = compress}, &m->writer,
			      &why);
	if (r == 0)
		r = log_writer_devices(m->writer, &device, 1, &why);
	if (r == 0)
		r = log_writer_channels(m->writer, channels, m->n * m->spread, &why);
	if (r < 0) {
		fprintf(stderr, "%s: %s\n", out, why.text);
		exit(1);
	}
}

static void finish(struct multiply *m)
{
	for (size_t i = 0; i < m->n * m->spread; i++) {
		flush(m, i);
		if (m->channels[i].file && fclose(m->channels[i].file) != 0)
			die("close");
	}
	if (m->writer && log_writer_finish(m->writer, LOG_END_SIGNAL, NULL) < 0)
		die("finish");
	log_writer_destroy(m->writer);
	printf("%" PRIu64 "\n", m->events);
}

int main(int argc, char **argv)
{
	static struct multiply m = {.first_ns = UINT64_MAX};
	const char *out = argc == 5 ? argv[4] : "";
	bool raw = !strncmp(out, "raw:", 4);

	if (argc != 5)
		return 2;
	m.copies = strtoull(argv[2], NULL, 10);
	m.spread = strtoull(argv[3], NULL, 10);
	while (m.n < CHANNELS_MAX && read_piece(&m, argv[1]))
		;
	if (!m.n || m.spread < 1 || m.n * m.spread > CHANNELS_MAX)
		return 2;
	for (size_t i = 0; i < m.n * m.spread; i++) {
		m.channels[i].bytes = malloc(CHUNK_BYTES);
		if (!m.channels[i].bytes)
			die("memory");
	}
	out += raw ? 4 : 0;
	if (strlen(out) > 7 && !strcmp(out + strlen(out) - 7, ".blkbox"))
		open_log(&m, out, !raw);
	else
		open_files(&m, out);
	for (uint64_t k = 0; k < m.copies; k++) {
		for (uint64_t group = 0; group < m.spread; group++) {
			for (size_t p = 0; p < m.n; p++)
				put_copy(&m, p, group, k);
		}
	}
	finish(&m);
	return 0;
}
