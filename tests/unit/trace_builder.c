/* SPDX-License-Identifier: MIT */
#include "trace_builder.h"

#include "blktrace.h"

#include <byteswap.h>
#include <endian.h>
#include <ftw.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void trace_bytes(struct trace *trace, const void *bytes, size_t size)
{
	/* Not for every record: a sanitizer's realloc() copies all that is there. */
	if (!trace->bytes || trace->room - trace->n < size) {
		while (trace->room - trace->n < size)
			trace->room = trace->room ? 2 * trace->room : 4096;
		trace->bytes = realloc(trace->bytes, trace->room);
		if (!trace->bytes)
			abort();
	}
	if (size)
		memcpy(trace->bytes + trace->n, bytes, size);
	trace->n += size;
}

void trace_free(struct trace *trace)
{
	free(trace->bytes);
	*trace = (struct trace){0};
}

static uint64_t category_of(char act)
{
	switch (act) {
	case 'D':
		return BT_ISSUE;
	case 'C':
		return BT_COMPLETE;
	case 'R':
		return BT_REQUEUE;
	case 'X':
	case 'O':
		return 0;
	case 'n':
	case 't':
	case 'm':
		return BT_NOTIFY;
	default:
		return BT_QUEUE;
	}
}

static uint16_t code_of(const struct trace_record *r)
{
	static const char letters[] = "_QMFGSRDCPUTIXBA";

	if (r->act == 'O')
		return r->code;
	if (r->act == 'Z')
		return BT_ACT_ZONE_PLUG;
	if (r->act == 'z')
		return BT_ACT_ZONE_UNPLUG;
	if (r->act == 'n')
		return BT_NOTE_PROCESS;
	if (r->act == 't')
		return BT_NOTE_TIMESTAMP;
	if (r->act == 'm')
		return BT_NOTE_MESSAGE;
	return (uint16_t)(strchr(letters, r->act) - letters);
}

static uint64_t categories_of_rwbs(const char *rwbs)
{
	uint64_t categories = 0;
	bool operation = false;

	for (const char *c = rwbs ? rwbs : ""; *c; c++) {
		switch (*c) {
		case 'R':
			categories |= BT_READ;
			operation = true;
			break;
		case 'W':
			categories |= BT_WRITE;
			operation = true;
			break;
		case 'D':
			categories |= BT_WRITE | BT_DISCARD;
			operation = true;
			break;
		case 'N':
			operation = true;
			break;
		case 'F':
			categories |= operation ? BT_FUA : BT_FLUSH;
			break;
		case 'S':
			categories |= BT_SYNC;
			break;
		case 'M':
			categories |= BT_META;
			break;
		case 'A':
			categories |= BT_AHEAD;
			break;
		case 'V':
			categories |= BT_PC;
			break;
		}
	}
	return categories;
}

struct payload {
	uint8_t bytes[65536];
	size_t n;
};

static void put(struct payload *payload, const void *bytes, size_t size)
{
	memcpy(payload->bytes + payload->n, bytes, size);
	payload->n += size;
}

static void fill_payload(struct payload *p, const struct trace_record *r)
{
	uint64_t cgroup = r->swapped ? bswap_64(r->cgroup) : r->cgroup;
	uint64_t number = htobe64(r->number);

	p->n = 0;
	if (r->cgroup)
		put(p, &cgroup, sizeof(cgroup));
	if (r->act == 'U' || r->act == 'T' || r->act == 'X')
		put(p, &number, sizeof(number));
	if (r->act == 'A') {
		struct bt_remap remap = {htobe32(r->from_device),
					 htobe32(r->device ? r->device : 8 << 20),
					 htobe64(r->from_sector)};

		put(p, &remap, sizeof(remap));
	}
	if (r->act == 'n') {
		char comm[BT_COMM_BYTES] = {0};

		memcpy(comm, r->text, strnlen(r->text, sizeof(comm)));
		put(p, comm, sizeof(comm));
	}
	if (r->act == 'm' && r->text)
		put(p, r->text, strlen(r->text));
	if (r->act == 't') {
		struct bt_timestamp stamp = {(uint32_t)r->sector, (uint32_t)r->bytes};

		if (r->swapped)
			stamp = (struct bt_timestamp){bswap_32(stamp.sec), bswap_32(stamp.nsec)};
		put(p, &stamp, sizeof(stamp));
	}
	if (r->pdu_bytes)
		put(p, r->pdu, r->pdu_bytes);
}

static void put_head(struct trace *trace, const struct trace_record *r, uint32_t sequence,
		     uint64_t action, uint16_t pdu_len)
{
	uint64_t time_ns = (uint64_t)(r->t * 1000) + r->ns;
	uint32_t device = r->device ? r->device : 8 << 20;
	bool s = r->swapped;
	bool note = category_of(r->act) == BT_NOTIFY;
	uint64_t sector = note ? 0 : r->sector;
	uint32_t bytes = note ? 0 : r->bytes;

#define ORDER(bits, value) ((uint##bits##_t)(s ? bswap_##bits((uint##bits##_t)(value)) : (value)))
	if (r->protocol == 2) {
		struct bt_record2 head = {
			.magic = ORDER(32, BT_MAGIC | BT_VERSION_2),
			.sequence = ORDER(32, sequence),
			.time_ns = ORDER(64, time_ns),
			.sector = ORDER(64, sector),
			.bytes = ORDER(32, bytes),
			.pid = ORDER(32, r->pid),
			.action = ORDER(64, action),
			.device = ORDER(32, device),
			.cpu = ORDER(32, r->cpu),
			.error = ORDER(16, r->error),
			.pdu_len = ORDER(16, pdu_len),
			.pad = "garbage here",
		};

		trace_bytes(trace, &head, sizeof(head));
	} else {
		struct bt_record1 head = {
			.magic = ORDER(32, BT_MAGIC | BT_VERSION_1),
			.sequence = ORDER(32, sequence),
			.time_ns = ORDER(64, time_ns),
			.sector = ORDER(64, sector),
			.bytes = ORDER(32, bytes),
			.action = ORDER(32, action),
			.pid = ORDER(32, r->pid),
			.device = ORDER(32, device),
			.cpu = ORDER(32, r->cpu),
			.error = ORDER(16, r->error),
			.pdu_len = ORDER(16, pdu_len),
		};

		trace_bytes(trace, &head, sizeof(head));
	}
#undef ORDER
}

static uint32_t *last_number(struct trace *trace, const struct trace_record *r)
{
	size_t i = 0;

	while (i < trace->n_lanes &&
	       (trace->lanes[i].device != r->device || trace->lanes[i].cpu != r->cpu))
		i++;
	/* More than these have one counter. */
	if (i == sizeof(trace->lanes) / sizeof(trace->lanes[0]))
		return &trace->sequence;
	if (i == trace->n_lanes)
		trace->lanes[trace->n_lanes++] =
			(struct trace_lane){.device = r->device, .cpu = r->cpu};
	return &trace->lanes[i].sequence;
}

void trace_add(struct trace *trace, const struct trace_record *r)
{
	static struct payload payload;
	uint64_t categories =
		category_of(r->act) | categories_of_rwbs(r->rwbs) | r->more_categories;
	uint64_t action = categories << BT_CATEGORY_SHIFT | code_of(r);
	uint32_t *last = last_number(trace, r), sequence = r->sequence;

	if (!sequence && category_of(r->act) != BT_NOTIFY)
		sequence = *last + trace->skipped + 1;
	if (category_of(r->act) != BT_NOTIFY) {
		*last = trace->sequence = sequence;
		trace->skipped = 0;
	}
	if (r->cgroup)
		action |= BT_CGROUP;
	fill_payload(&payload, r);
	put_head(trace, r, sequence, action, (uint16_t)payload.n);
	trace_bytes(trace, payload.bytes, payload.n);
}

static char dir[64];

const char *test_dir(void)
{
	if (!*dir) {
		strcpy(dir, "/tmp/blkbox-test-XXXXXX");
		if (!mkdtemp(dir))
			abort();
	}
	return dir;
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

void test_dir_remove(void)
{
	if (*dir)
		nftw(dir, remove_one, 16, FTW_DEPTH | FTW_PHYS);
	*dir = '\0';
}

const char *test_path(const char *name)
{
	static char paths[8][PATH_MAX];
	static unsigned next;
	char *path = paths[next++ % 8];

	snprintf(path, PATH_MAX, "%s/%s", test_dir(), name);
	return path;
}

void test_file(const char *name, const void *bytes, size_t size)
{
	FILE *file = fopen(test_path(name), "w");

	if (!file || fwrite(bytes, 1, size, file) != size || fclose(file) != 0)
		abort();
}

void trace_file(const struct trace *trace, const char *name)
{
	test_file(name, trace->bytes, trace->n);
}
