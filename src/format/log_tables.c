/* SPDX-License-Identifier: MIT */
#include "log_tables.h"

#include "escape.h"

#include <string.h>

/* A file may not make us fill the memory. Far over what days of recording give. */
enum {
	META_BYTES_MAX = 64 << 20,
	ITEMS_MAX = 16 << 20,
};

void log_tables_deinit(struct log_tables *tables)
{
	free(tables->meta.items);
	free(tables->meta_keys.items);
	free(tables->devices.items);
	free(tables->channels.items);
	free(tables->drops.items);
	free(tables->names.items);
	free(tables->clocks.items);
	free(tables->end);
}

int log_list_reserve(struct log_list *list, size_t n, size_t item_bytes)
{
	size_t room = list->room ? list->room : 8;
	void *items;

	if (n <= list->room - list->n)
		return 0;
	while (room - list->n < n)
		room *= 2;
	items = reallocarray(list->items, room, item_bytes);
	if (!items)
		return -ENOMEM;
	list->items = items;
	list->room = room;
	return 0;
}

/* Room in a table that a file fills. */
static int reserve(struct log_list *list, size_t n, size_t item_bytes, size_t most,
		   const char *what, struct why *why)
{
	int r;

	if (n > most - list->n)
		return why_set(why, -E2BIG, "it has more than %zu %s", most, what);
	r = log_list_reserve(list, n, item_bytes);
	return r < 0 ? why_errno(why, r, "cannot hold its %s", what) : 0;
}

static int append(struct log_list *list, const uint8_t *payload, size_t size, size_t item_bytes,
		  const char *what, struct why *why)
{
	size_t n = size / item_bytes;
	int r;

	if (size % item_bytes)
		return 0;
	if (!size)
		return 1;
	r = reserve(list, n, item_bytes, ITEMS_MAX, what, why);
	if (r < 0)
		return r;
	memcpy((uint8_t *)list->items + list->n * item_bytes, payload, size);
	list->n += n;
	return 1;
}

static int add_meta(struct log_tables *tables, const uint8_t *payload, size_t size, struct why *why)
{
	char *text;
	int r;

	if (!size)
		return 1;
	if (payload[size - 1] != '\0')
		return 0;
	r = reserve(&tables->meta, size, 1, META_BYTES_MAX, "bytes of facts about itself", why);
	if (r < 0)
		return r;
	text = (char *)tables->meta.items + tables->meta.n;
	memcpy(text, payload, size);
	for (size_t at = 0; at < size;) {
		char *equals = strchr(text + at, '=');
		size_t length = strlen(text + at) + 1;
		size_t key = tables->meta.n + at;

		at += length;
		/* Not a pair: nothing that a reader could ask for. */
		if (!equals)
			continue;
		*equals = '\0';
		r = reserve(&tables->meta_keys, 1, sizeof(key), ITEMS_MAX, "facts about itself",
			    why);
		if (r < 0)
			return r;
		((size_t *)tables->meta_keys.items)[tables->meta_keys.n++] = key;
	}
	tables->meta.n += size;
	return 1;
}

/* Makes the list of devices reach up to index @n - 1. */
static int grow_devices(struct log_tables *tables, size_t n, struct why *why)
{
	size_t had = tables->devices.n;
	struct log_device *devices;
	int r;

	if (n <= had)
		return 0;
	r = reserve(&tables->devices, n - had, sizeof(*devices), LOG_DEVICES_MAX, "devices", why);
	if (r < 0)
		return r;
	devices = tables->devices.items;
	for (size_t i = had; i < n; i++)
		devices[i] = (struct log_device){.index = (uint32_t)i};
	tables->devices.n = n;
	return 0;
}

static int grow_channels(struct log_tables *tables, size_t n, struct why *why)
{
	size_t had = tables->channels.n;
	struct log_channel *channels;
	int r;

	if (n <= had)
		return 0;
	r = reserve(&tables->channels, n - had, sizeof(*channels), LOG_CHANNELS_MAX, "channels",
		    why);
	if (r < 0)
		return r;
	channels = tables->channels.items;
	for (size_t i = had; i < n; i++) {
		channels[i] = (struct log_channel){
			.channel = (uint32_t)i,
			.device_index = LOG_NO_CHANNEL,
			.cpu = LOG_NO_CPU,
			.kind = 0, /* not announced */
		};
	}
	tables->channels.n = n;
	return 0;
}

static bool device_index_valid(uint32_t index)
{
	return index < LOG_DEVICES_MAX || index == LOG_NO_CHANNEL;
}

static int add_devices(struct log_tables *tables, const uint8_t *payload, size_t size,
		       struct why *why)
{
	const struct log_device *devices = (const struct log_device *)payload;
	size_t n = size / sizeof(*devices);

	if (size % sizeof(*devices))
		return 0;
	for (size_t i = 0; i < n; i++) {
		if (devices[i].index >= LOG_DEVICES_MAX)
			return 0;
	}
	for (size_t i = 0; i < n; i++) {
		struct log_device *mine;
		int r = grow_devices(tables, (size_t)devices[i].index + 1, why);

		if (r < 0)
			return r;
		mine = (struct log_device *)tables->devices.items + devices[i].index;
		*mine = devices[i];
		escape_name(mine->name, sizeof(mine->name), devices[i].name, LOG_NAME_BYTES);
	}
	return 1;
}

static int add_channels(struct log_tables *tables, const uint8_t *payload, size_t size,
			struct why *why)
{
	const struct log_channel *channels = (const struct log_channel *)payload;
	size_t n = size / sizeof(*channels);

	if (size % sizeof(*channels))
		return 0;
	for (size_t i = 0; i < n; i++) {
		if (channels[i].channel >= LOG_CHANNELS_MAX ||
		    !device_index_valid(channels[i].device_index) ||
		    (channels[i].kind != LOG_RELAY_RECORDS && channels[i].kind != LOG_FTRACE_PAGES))
			return 0;
	}
	for (size_t i = 0; i < n; i++) {
		int r = grow_channels(tables, (size_t)channels[i].channel + 1, why);

		if (r < 0)
			return r;
		((struct log_channel *)tables->channels.items)[channels[i].channel] = channels[i];
	}
	return 1;
}

static int add_drops(struct log_tables *tables, const uint8_t *payload, size_t size,
		     struct why *why)
{
	const struct log_drops *drops = (const struct log_drops *)payload;

	for (size_t i = 0; i < size / sizeof(*drops); i++) {
		if (!device_index_valid(drops[i].device_index))
			return 0;
	}
	return append(&tables->drops, payload, size, sizeof(*drops), "windows of loss", why);
}

static int add_end(struct log_tables *tables, const uint8_t *payload, size_t size, struct why *why)
{
	const struct log_end *end = (const struct log_end *)payload;
	const struct log_total *totals = (const struct log_total *)(payload + sizeof(*end));

	if (size < sizeof(*end) || size - sizeof(*end) != end->totals * sizeof(*totals))
		return 0;
	for (uint32_t i = 0; i < end->totals; i++) {
		if (totals[i].channel != i)
			return 0;
	}
	tables->end = malloc(size);
	if (!tables->end)
		return why_errno(why, -ENOMEM, "cannot hold its totals");
	memcpy(tables->end, payload, size);
	return 1;
}

int log_tables_add(struct log_tables *tables, const struct log_block_head *head,
		   const uint8_t *payload, struct why *why)
{
	switch (head->type) {
	case LOG_META:
		return add_meta(tables, payload, head->raw_bytes, why);
	case LOG_DEVICES:
		return add_devices(tables, payload, head->raw_bytes, why);
	case LOG_CHANNELS:
		return add_channels(tables, payload, head->raw_bytes, why);
	case LOG_DROPS:
		return add_drops(tables, payload, head->raw_bytes, why);
	case LOG_NAMES:
		return append(&tables->names, payload, head->raw_bytes, sizeof(struct log_name),
			      "process names", why);
	case LOG_CLOCK:
		return append(&tables->clocks, payload, head->raw_bytes, sizeof(struct log_clock),
			      "clock samples", why);
	default:
		assert(head->type == LOG_END);
		return add_end(tables, payload, head->raw_bytes, why);
	}
}

int log_tables_complete(struct log_tables *tables, size_t n_channels, struct why *why)
{
	const char *source = log_tables_meta(tables, "source");
	bool ftrace = source && !strcmp(source, "ftrace");
	const struct log_drops *drops = tables->drops.items;
	struct log_channel *channels;
	int r = grow_channels(tables, n_channels, why);

	if (r >= 0 && tables->end)
		r = grow_channels(tables, tables->end->totals, why);
	channels = tables->channels.items;
	for (size_t i = 0; r >= 0 && i < tables->channels.n; i++) {
		if (!channels[i].kind)
			channels[i].kind = ftrace ? LOG_FTRACE_PAGES : LOG_RELAY_RECORDS;
		if (channels[i].device_index != LOG_NO_CHANNEL)
			r = grow_devices(tables, (size_t)channels[i].device_index + 1, why);
	}
	for (size_t i = 0; r >= 0 && i < tables->drops.n; i++) {
		if (drops[i].device_index != LOG_NO_CHANNEL)
			r = grow_devices(tables, (size_t)drops[i].device_index + 1, why);
	}
	return r;
}

const struct log_total *log_tables_total(const struct log_tables *tables, uint32_t channel)
{
	if (!tables->end || channel >= tables->end->totals)
		return NULL;
	return (const struct log_total *)(tables->end + 1) + channel;
}

const char *log_tables_meta_at(const struct log_tables *tables, size_t i, const char **ret_value)
{
	const char *key;

	if (i >= tables->meta_keys.n)
		return NULL;
	key = (const char *)tables->meta.items + ((const size_t *)tables->meta_keys.items)[i];
	*ret_value = key + strlen(key) + 1;
	return key;
}

const char *log_tables_meta(const struct log_tables *tables, const char *key)
{
	for (size_t i = tables->meta_keys.n; i-- > 0;) {
		const char *value = NULL;

		if (!strcmp(log_tables_meta_at(tables, i, &value), key))
			return value;
	}
	return NULL;
}
