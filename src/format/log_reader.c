/* SPDX-License-Identifier: MIT */
#include "log_reader_impl.h"

const struct log_header *log_reader_header(const struct log_reader *reader)
{
	return &reader->header;
}

const char *log_reader_meta(const struct log_reader *reader, const char *key)
{
	return log_tables_meta(&reader->tables, key);
}

bool log_reader_meta_at(const struct log_reader *reader, size_t i, const char **ret_key,
			const char **ret_value)
{
	const char *value;
	const char *key = log_tables_meta_at(&reader->tables, i, &value);

	if (!key)
		return false;
	*ret_key = key;
	*ret_value = value;
	return true;
}

size_t log_reader_devices(const struct log_reader *reader, const struct log_device **ret)
{
	*ret = reader->tables.devices.items;
	return reader->tables.devices.n;
}

size_t log_reader_channels(const struct log_reader *reader, const struct log_channel **ret)
{
	*ret = reader->tables.channels.items;
	return reader->tables.channels.n;
}

size_t log_reader_drops(const struct log_reader *reader, const struct log_drops **ret)
{
	*ret = reader->tables.drops.items;
	return reader->tables.drops.n;
}

size_t log_reader_names(const struct log_reader *reader, const struct log_name **ret)
{
	*ret = reader->tables.names.items;
	return reader->tables.names.n;
}

size_t log_reader_clocks(const struct log_reader *reader, const struct log_clock **ret)
{
	*ret = reader->tables.clocks.items;
	return reader->tables.clocks.n;
}

const struct log_end *log_reader_end(const struct log_reader *reader)
{
	return reader->tables.end;
}

bool log_reader_total(const struct log_reader *reader, uint32_t channel, struct log_total *ret)
{
	const struct log_total *total = log_tables_total(&reader->tables, channel);

	if (!total)
		return false;
	*ret = *total;
	return true;
}

uint64_t log_reader_channel_bytes(const struct log_reader *reader, uint32_t channel)
{
	return channel < reader->n_tracks ? reader->tracks[channel].bytes : 0;
}

uint64_t log_reader_cursors_bytes(const struct log_reader *reader)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < reader->n_tracks; i++)
		sum += reader->tracks[i].largest_bytes;
	return sum;
}

uint64_t log_reader_last_ns(const struct log_reader *reader)
{
	return reader->last_ns;
}

const struct log_health *log_reader_health(const struct log_reader *reader)
{
	return &reader->health;
}

bool log_reader_disturbed(const struct log_reader *reader)
{
	const struct log_end *end = log_reader_end(reader);

	return end && (end->reason == LOG_END_FOREIGN || end->reason == LOG_END_FAILURE ||
		       end->reason == LOG_END_KILLED);
}
