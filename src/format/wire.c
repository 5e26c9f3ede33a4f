/* SPDX-License-Identifier: MIT */
#include "wire.h"

#include "blktrace.h"

#include <assert.h>
#include <byteswap.h>
#include <endian.h>
#include <errno.h>
#include <string.h>

static_assert((int)BLKBOX_DRV_DATA == BT_ACT_DRV_DATA && (int)BLKBOX_SPLIT == BT_ACT_SPLIT &&
		      (int)BLKBOX_ZONE_UNPLUG == BT_ACT_ZONE_UNPLUG,
	      "public action codes are the kernel's");
static_assert((int)BLKBOX_CAT_FUA == BT_FUA && (int)BLKBOX_CAT_NOTIFY == BT_NOTIFY &&
		      (int)BLKBOX_CAT_WRITE_ZEROES == BT_WRITE_ZEROES,
	      "public categories are the kernel's");

/* What the magic says of the record that it starts. */
struct head {
	bool swapped;
	uint8_t version;
	uint8_t size;
};

static enum wire_status read_magic(const uint8_t *bytes, size_t size, struct head *ret)
{
	uint32_t magic;

	if (size < sizeof(magic))
		return WIRE_SHORT;
	memcpy(&magic, bytes, sizeof(magic));
	ret->swapped = false;
	if ((magic & BT_MAGIC_MASK) != BT_MAGIC) {
		magic = bswap_32(magic);
		ret->swapped = true;
		if ((magic & BT_MAGIC_MASK) != BT_MAGIC)
			return WIRE_BAD_MAGIC;
	}
	ret->version = magic & 0xff;
	if (ret->version == BT_VERSION_1)
		ret->size = sizeof(struct bt_record1);
	else if (ret->version == BT_VERSION_2)
		ret->size = sizeof(struct bt_record2);
	else
		return WIRE_BAD_VERSION;
	return size < ret->size ? WIRE_SHORT : WIRE_OK;
}

static void load_v1(const uint8_t *bytes, struct blkbox_event *event, uint64_t *ret_action,
		    uint16_t *ret_pdu_len)
{
	struct bt_record1 r;

	memcpy(&r, bytes, sizeof(r));
	event->sequence = r.sequence;
	event->time_ns = r.time_ns;
	event->sector = r.sector;
	event->bytes = r.bytes;
	event->pid = r.pid;
	event->device = r.device;
	event->cpu = r.cpu;
	event->error = (int16_t)r.error;
	*ret_action = r.action;
	*ret_pdu_len = r.pdu_len;
}

static void load_v2(const uint8_t *bytes, struct blkbox_event *event, uint64_t *ret_action,
		    uint16_t *ret_pdu_len)
{
	struct bt_record2 r;

	memcpy(&r, bytes, sizeof(r));
	event->sequence = r.sequence;
	event->time_ns = r.time_ns;
	event->sector = r.sector;
	event->bytes = r.bytes;
	event->pid = r.pid;
	event->device = r.device;
	event->cpu = r.cpu;
	event->error = (int16_t)r.error;
	*ret_action = r.action;
	*ret_pdu_len = r.pdu_len;
}

static void swap_fields(struct blkbox_event *event)
{
	event->sequence = bswap_32(event->sequence);
	event->time_ns = bswap_64(event->time_ns);
	event->sector = bswap_64(event->sector);
	event->bytes = bswap_32(event->bytes);
	event->pid = bswap_32(event->pid);
	event->device = bswap_32(event->device);
	event->cpu = bswap_32(event->cpu);
	event->error = (int16_t)bswap_16((uint16_t)event->error);
}

/* The event is written where it is wanted: a copy of what was just written is slow. */
enum wire_status wire_decode(const uint8_t *bytes, size_t size, size_t *ret_size,
			     struct blkbox_event *ret)
{
	struct head head;
	uint64_t action;
	uint16_t pdu_len;
	enum wire_status status = read_magic(bytes, size, &head);

	if (status != WIRE_OK)
		return status;
	if (head.version == BT_VERSION_1)
		load_v1(bytes, ret, &action, &pdu_len);
	else
		load_v2(bytes, ret, &action, &pdu_len);
	if (head.swapped) {
		swap_fields(ret);
		action = head.version == BT_VERSION_1 ? bswap_32((uint32_t)action)
						      : bswap_64(action);
		pdu_len = bswap_16(pdu_len);
	}
	if (size < (size_t)head.size + pdu_len &&
	    (!(action & BT_CGROUP) || pdu_len >= sizeof(ret->cgroup_id)))
		return WIRE_SHORT;
	ret->protocol = head.version == BT_VERSION_1 ? 1 : 2;
	ret->swapped = head.swapped;
	ret->categories = (uint32_t)(action >> BT_CATEGORY_SHIFT);
	ret->action = (uint16_t)(action & 0xffff & ~BT_CGROUP);
	ret->pdu = bytes + head.size;
	ret->pdu_bytes = pdu_len;
	ret->cgroup_id = 0;
	if (action & BT_CGROUP) {
		uint64_t cgroup_id;

		if (pdu_len < sizeof(cgroup_id))
			return WIRE_BAD_RECORD;
		memcpy(&cgroup_id, ret->pdu, sizeof(cgroup_id));
		ret->cgroup_id = head.swapped ? bswap_64(cgroup_id) : cgroup_id;
		ret->pdu += sizeof(cgroup_id);
		ret->pdu_bytes = (uint16_t)(pdu_len - sizeof(cgroup_id));
	}
	if (blkbox_event_is_note(ret)) {
		/* Kernels up to 6.18 leave these unwritten in notes: stale bytes of older records.
		 */
		ret->sequence = 0;
		ret->sector = 0;
		ret->bytes = 0;
		ret->error = 0;
	}
	*ret_size = (size_t)head.size + pdu_len;
	return WIRE_OK;
}

enum wire_status wire_measure(const uint8_t *bytes, size_t size, size_t *ret_size, bool *ret_note)
{
	struct head head;
	uint16_t pdu_len;
	uint64_t action;
	enum wire_status status = read_magic(bytes, size, &head);

	if (status != WIRE_OK)
		return status;
	if (head.version == BT_VERSION_1) {
		uint32_t action32;

		memcpy(&action32, bytes + offsetof(struct bt_record1, action), sizeof(action32));
		memcpy(&pdu_len, bytes + offsetof(struct bt_record1, pdu_len), sizeof(pdu_len));
		action = head.swapped ? bswap_32(action32) : action32;
	} else {
		memcpy(&action, bytes + offsetof(struct bt_record2, action), sizeof(action));
		memcpy(&pdu_len, bytes + offsetof(struct bt_record2, pdu_len), sizeof(pdu_len));
		action = head.swapped ? bswap_64(action) : action;
	}
	pdu_len = head.swapped ? bswap_16(pdu_len) : pdu_len;
	if ((action & BT_CGROUP) && pdu_len < sizeof(uint64_t))
		return WIRE_BAD_RECORD;
	*ret_size = (size_t)head.size + pdu_len;
	*ret_note = (action >> BT_CATEGORY_SHIFT) & BT_NOTIFY;
	return WIRE_OK;
}

bool wire_plausible(const uint8_t *bytes, size_t size)
{
	size_t record_bytes;
	bool note;

	return wire_measure(bytes, size, &record_bytes, &note) == WIRE_OK;
}

size_t wire_resync(const uint8_t *bytes, size_t size, size_t from)
{
	for (size_t at = from; at < size; at++) {
		/* 0x65 is the first byte of the magic in one byte order, the last in the other. */
		if (bytes[at] != 0x65 && (size - at < 4 || bytes[at + 3] != 0x65))
			continue;
		if (wire_plausible(bytes + at, size - at))
			return at;
	}
	return size;
}

static bool v1_can_say(const struct blkbox_event *event)
{
	if (blkbox_event_is_note(event))
		return true;
	if (event->action == BLKBOX_ZONE_PLUG || event->action == BLKBOX_ZONE_UNPLUG)
		return false;
	return event->action != BLKBOX_COMPLETE || blkbox_event_is_completion(event);
}

static size_t encode_pdu(const struct blkbox_event *event, uint8_t *out)
{
	size_t at = 0;

	if (event->cgroup_id) {
		memcpy(out, &event->cgroup_id, sizeof(event->cgroup_id));
		at = sizeof(event->cgroup_id);
	}
	if (event->pdu_bytes)
		memcpy(out + at, event->pdu, event->pdu_bytes);
	if (event->swapped && blkbox_event_is_note(event) &&
	    event->action == BLKBOX_NOTE_TIMESTAMP &&
	    event->pdu_bytes >= sizeof(struct bt_timestamp)) {
		struct bt_timestamp stamp;

		memcpy(&stamp, event->pdu, sizeof(stamp));
		stamp.sec = bswap_32(stamp.sec);
		stamp.nsec = bswap_32(stamp.nsec);
		memcpy(out + at, &stamp, sizeof(stamp));
	}
	return at + event->pdu_bytes;
}

int wire_encode(const struct blkbox_event *event, int protocol, uint8_t *out, bool *lossy)
{
	size_t head = protocol == 1 ? sizeof(struct bt_record1) : sizeof(struct bt_record2);
	uint64_t action = (uint64_t)event->categories << BT_CATEGORY_SHIFT | event->action;
	size_t pdu_len;

	assert(protocol == 1 || protocol == 2);
	if (protocol == 1 && !v1_can_say(event))
		return -EOPNOTSUPP;
	if (event->cgroup_id)
		action |= BT_CGROUP;
	/* A record with a cgroup id can have a payload near the limit only if it was made by hand.
	 */
	pdu_len = event->pdu_bytes + (event->cgroup_id ? sizeof(event->cgroup_id) : 0);
	if (pdu_len > UINT16_MAX)
		return -EOPNOTSUPP;
	encode_pdu(event, out + head);

	if (protocol == 1) {
		struct bt_record1 r = {
			.magic = BT_MAGIC | BT_VERSION_1,
			.sequence = event->sequence,
			.time_ns = event->time_ns,
			.sector = event->sector,
			.bytes = event->bytes,
			.action = (uint32_t)action,
			.pid = event->pid,
			.device = event->device,
			.cpu = event->cpu,
			.error = (uint16_t)event->error,
			.pdu_len = (uint16_t)pdu_len,
		};

		if (action >> 32)
			*lossy = true;
		memcpy(out, &r, sizeof(r));
	} else {
		struct bt_record2 r = {
			.magic = BT_MAGIC | BT_VERSION_2,
			.sequence = event->sequence,
			.time_ns = event->time_ns,
			.sector = event->sector,
			.bytes = event->bytes,
			.pid = event->pid,
			.action = action,
			.device = event->device,
			.cpu = event->cpu,
			.error = (uint16_t)event->error,
			.pdu_len = (uint16_t)pdu_len,
		};

		memcpy(out, &r, sizeof(r));
	}
	return (int)(head + pdu_len);
}

bool wire_pdu_remap(const struct blkbox_event *event, uint32_t *ret_device_from,
		    uint32_t *ret_device_to, uint64_t *ret_sector_from)
{
	struct bt_remap remap;

	if (event->pdu_bytes < sizeof(remap))
		return false;
	memcpy(&remap, event->pdu, sizeof(remap));
	*ret_device_from = be32toh(remap.device_from);
	*ret_device_to = be32toh(remap.device_to);
	*ret_sector_from = be64toh(remap.sector_from);
	return true;
}

bool wire_pdu_u64(const struct blkbox_event *event, uint64_t *ret)
{
	uint64_t value;

	if (event->pdu_bytes < sizeof(value))
		return false;
	memcpy(&value, event->pdu, sizeof(value));
	*ret = be64toh(value);
	return true;
}

bool wire_pdu_timestamp(const struct blkbox_event *event, uint64_t *ret_realtime_ns)
{
	struct bt_timestamp stamp;

	if (event->pdu_bytes < sizeof(stamp))
		return false;
	memcpy(&stamp, event->pdu, sizeof(stamp));
	if (event->swapped) {
		stamp.sec = bswap_32(stamp.sec);
		stamp.nsec = bswap_32(stamp.nsec);
	}
	*ret_realtime_ns = (uint64_t)stamp.sec * 1000000000u + stamp.nsec;
	return true;
}

size_t wire_pdu_text(const struct blkbox_event *event)
{
	/* Copies of events without a payload have no address of one. */
	return event->pdu_bytes ? strnlen((const char *)event->pdu, event->pdu_bytes) : 0;
}

void wire_pdu_comm(const struct blkbox_event *event, char ret[static 17])
{
	size_t n = event->pdu_bytes < BT_COMM_BYTES ? event->pdu_bytes : BT_COMM_BYTES;

	memset(ret, 0, BT_COMM_BYTES + 1);
	if (n)
		memcpy(ret, event->pdu, n);
}
