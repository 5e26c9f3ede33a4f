/* SPDX-License-Identifier: MIT */
#include "ftrace_record.h"

#include "blktrace.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* An entry is padded to 4 bytes; to 8 on machines that cannot do without. */
enum {
	PADDING_MAX = 7
};

static int read_fact(const char *(*value)(const void *context, const char *key),
		     const void *context, const char *key, uint32_t *ret)
{
	const char *text = value(context, key);
	char *end;
	unsigned long number;

	if (!text || text[0] < '0' || text[0] > '9')
		return -EINVAL;
	errno = 0;
	number = strtoul(text, &end, 10);
	if (errno || *end || number > FTRACE_PAGE_MAX)
		return -EINVAL;
	*ret = (uint32_t)number;
	return 0;
}

int ftrace_facts_read(const char *(*value)(const void *context, const char *key),
		      const void *context, struct ftrace_facts *ret)
{
	struct ftrace_page_layout layout;
	uint32_t type_id, protocol;

	if (read_fact(value, context, FTRACE_META_DATA_OFFSET, &layout.data_offset) < 0 ||
	    read_fact(value, context, FTRACE_META_DATA_BYTES, &layout.data_bytes) < 0 ||
	    read_fact(value, context, FTRACE_META_COMMIT_OFFSET, &layout.commit_offset) < 0 ||
	    read_fact(value, context, FTRACE_META_TYPE_ID, &type_id) < 0 ||
	    read_fact(value, context, FTRACE_META_PROTOCOL, &protocol) < 0)
		return -EINVAL;
	if (ftrace_page_layout_check(&layout) < 0 || type_id > UINT16_MAX ||
	    (protocol != 1 && protocol != 2))
		return -EINVAL;
	*ret = (struct ftrace_facts){
		.layout = layout,
		.type_id = (uint16_t)type_id,
		.protocol = (uint8_t)protocol,
	};
	return 0;
}

struct meta_text {
	const char *text;
	size_t size;
};

static const char *find_in_text(const void *context, const char *key)
{
	const struct meta_text *meta = context;
	size_t length = strlen(key);

	for (const char *at = meta->text; at < meta->text + meta->size; at += strlen(at) + 1) {
		if (!strncmp(at, key, length) && at[length] == '=')
			return at + length + 1;
	}
	return NULL;
}

int ftrace_facts_parse(const char *text, size_t size, struct ftrace_facts *ret)
{
	struct meta_text meta = {text, size};

	return ftrace_facts_read(find_in_text, &meta, ret);
}

static uint16_t load_u16(const uint8_t *bytes)
{
	uint16_t value;

	memcpy(&value, bytes, sizeof(value));
	return value;
}

static uint32_t load_u32(const uint8_t *bytes)
{
	uint32_t value;

	memcpy(&value, bytes, sizeof(value));
	return value;
}

/* True if the entry's length is that of a record of @protocol. */
static bool fits(const struct ftrace_entry *entry, unsigned protocol, size_t *ret_size)
{
	size_t head = protocol == 2 ? sizeof(struct bt_record2) : sizeof(struct bt_record1);
	size_t at = protocol == 2 ? offsetof(struct bt_record2, pdu_len)
				  : offsetof(struct bt_record1, pdu_len);
	size_t size;

	if (entry->size < head)
		return false;
	size = head + load_u16(entry->data + at);
	if (size > entry->size || entry->size - size > PADDING_MAX)
		return false;
	*ret_size = size;
	return true;
}

enum ftrace_entry_kind ftrace_record_read(const struct ftrace_facts *facts,
					  const struct ftrace_entry *entry,
					  struct ftrace_record *ret)
{
	struct ftrace_record record = {.protocol = facts->protocol};
	const uint8_t *data = entry->data;

	if (entry->size < 2 || load_u16(data) != facts->type_id)
		return FTRACE_OTHER;
	if (!fits(entry, record.protocol, &record.size)) {
		/* A kernel with protocol 2 gives the events of a v1 ioctl trace in v1 layout. */
		record.protocol = 1;
		if (facts->protocol == 1 || !fits(entry, 1, &record.size))
			return FTRACE_BAD;
	}
	if (record.protocol == 2) {
		record.device = load_u32(data + offsetof(struct bt_record2, device));
		record.pid = load_u32(data + offsetof(struct bt_record2, pid));
		record.note = load_u32(data + offsetof(struct bt_record2, action)) &
			      (uint32_t)BT_NOTIFY << BT_CATEGORY_SHIFT;
	} else {
		record.device = load_u32(data + offsetof(struct bt_record1, device));
		record.pid = load_u32(data + offsetof(struct bt_record1, pid));
		record.note = load_u32(data + offsetof(struct bt_record1, action)) &
			      (uint32_t)BT_NOTIFY << BT_CATEGORY_SHIFT;
	}
	*ret = record;
	return FTRACE_RECORD;
}

void ftrace_record_write(const struct ftrace_record *record, const struct ftrace_entry *entry,
			 uint32_t sequence, uint8_t *out)
{
	uint32_t magic = BT_MAGIC | (record->protocol == 2 ? BT_VERSION_2 : BT_VERSION_1);

	memcpy(out, entry->data, record->size);
	memcpy(out + offsetof(struct bt_record1, magic), &magic, sizeof(magic));
	memcpy(out + offsetof(struct bt_record1, sequence), &sequence, sizeof(sequence));
	memcpy(out + offsetof(struct bt_record1, time_ns), &entry->time_ns, sizeof(uint64_t));
}
