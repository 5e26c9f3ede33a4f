/* SPDX-License-Identifier: MIT */
#include "info.h"

#include "iso_time.h"
#include "mask.h"
#include "number.h"

/* Facts that are numbers are kept as text: null if one is none. */
static void meta_number(struct json *json, const struct info *info, const char *key)
{
	const char *text = info_meta(info, key);
	uint64_t value;

	if (text && count_parse(text, &value, NULL) == 0)
		json_u64(json, key, value);
	else
		json_null(json, key);
}

static void put_time(struct json *json, const struct info *info, const char *key, uint64_t mono_ns)
{
	if (info->overview.has_real)
		json_string(json, key, iso_time_format(info_real_ns(info, mono_ns), 9).text);
	else
		json_null(json, key);
}

static void put_figures(struct json *json, const struct info *info)
{
	const struct overview *overview = &info->overview;

	json_string(json, "file", input_name(info->input));
	json_string(json, "kind", info_kind(info));
	json_bool(json, "complete", overview_complete(overview, info->input));
	json_u64(json, "events", overview->events);
	json_u64(json, "notes", overview->notes);
	json_u64(json, "bytes", overview->bytes);
	json_u64(json, "dropped", overview->dropped);
	json_u64(json, "dropped_at_stop", overview->dropped_at_stop);
}

static void put_times(struct json *json, const struct info *info)
{
	const struct overview *overview = &info->overview;

	put_time(json, info, "start", overview->start_ns);
	put_time(json, info, "end", overview->end_ns);
	json_u64(json, "duration_ns", overview->end_ns - overview->start_ns);
	json_u64(json, "start_mono_ns", overview->start_ns);
	json_string(json, "end_reason", info_end_reason(info, false));
}

static void put_mask(struct json *json, const struct info *info)
{
	const char *text = info_meta(info, "mask");
	char names[MASK_TEXT_MAX];
	uint32_t mask;

	json_string(json, "mask", text);
	if (!text || mask_parse_hex(text, &mask, NULL) < 0) {
		json_null(json, "mask_names");
		return;
	}
	mask_format(mask, names, sizeof(names));
	json_string(json, "mask_names", names);
}

/* The newest protocol of the devices. */
static void put_protocol(struct json *json, const struct overview *overview)
{
	uint32_t protocol = 0;

	for (size_t i = 0; i < overview->n_devices; i++) {
		if (overview->devices[i].protocol > protocol)
			protocol = overview->devices[i].protocol;
	}
	if (protocol)
		json_u64(json, "protocol", protocol);
	else
		json_null(json, "protocol");
}

static void put_facts(struct json *json, const struct info *info)
{
	static const char *const texts[] = {"source",  "kernel",  "machine",	 "host",
					    "program", "version", "arguments",	 "command",
					    "sectors", "boot_id", "cpus_online", "clocksource"};

	put_protocol(json, &info->overview);
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		json_string(json, texts[i], info_meta(info, texts[i]));
	put_mask(json, info);
	meta_number(json, info, "buffer_bytes");
	meta_number(json, info, "buffer_count");
	meta_number(json, info, "pid");
}

/* All of them, the known ones too: what a later program adds is then there. */
static void put_meta(struct json *json, const struct info *info)
{
	struct log_reader *log = input_log(info->input);
	const char *key;
	const char *value;

	json_object_begin(json, "meta");
	for (size_t i = 0; log && log_reader_meta_at(log, i, &key, &value); i++) {
		/* A key that comes again: the last one counts. */
		if (log_reader_meta(log, key) == value)
			json_string(json, key, value);
	}
	json_object_end(json);
}

static void put_cpu(struct json *json, const struct overview_cpu *cpu)
{
	json_object_begin(json, NULL);
	if (cpu->cpu == LOG_NO_CPU)
		json_null(json, "cpu");
	else
		json_u64(json, "cpu", cpu->cpu);
	json_u64(json, "events", cpu->events);
	json_u64(json, "notes", cpu->notes);
	json_u64(json, "bytes", cpu->bytes);
	json_object_end(json);
}

static void put_device(struct json *json, const struct overview_device *device)
{
	json_object_begin(json, NULL);
	json_string(json, "name", device->name);
	json_u64(json, "major", blkbox_device_major(device->device));
	json_u64(json, "minor", blkbox_device_minor(device->device));
	json_u64(json, "protocol", device->protocol);
	json_bool(json, "partition", device->partition);
	json_u64(json, "start_sector", device->start_sector);
	json_u64(json, "sectors", device->sectors);
	json_u64(json, "events", device->events);
	json_u64(json, "notes", device->notes);
	json_u64(json, "bytes", device->bytes);
	json_u64(json, "dropped", device->dropped);
	json_array_begin(json, "cpus");
	for (size_t i = 0; i < device->n_cpus; i++)
		put_cpu(json, &device->cpus[i]);
	json_array_end(json);
	json_object_end(json);
}

static void put_loss(struct json *json, const struct info *info, const struct log_drops *loss)
{
	const struct overview *overview = &info->overview;

	json_object_begin(json, NULL);
	json_string(json, "device",
		    loss->device_index == LOG_NO_CHANNEL
			    ? NULL
			    : overview->devices[loss->device_index].name);
	if (loss->cpu == LOG_NO_CPU)
		json_null(json, "cpu");
	else
		json_u64(json, "cpu", loss->cpu);
	json_u64(json, "from_ns", loss->from_ns);
	json_u64(json, "to_ns", loss->to_ns);
	put_time(json, info, "from", loss->from_ns);
	put_time(json, info, "to", loss->to_ns);
	json_u64(json, "count", loss->count);
	json_object_end(json);
}

void json_log_health(struct json *json, const struct log_health *health)
{
	json_object_begin(json, "health");
	json_bool(json, "whole", log_health_whole(health));
	json_bool(json, "cut_off", !health->has_end);
	json_bool(json, "header_damaged", health->header_damaged);
	json_u64(json, "file_bytes", health->file_bytes);
	json_u64(json, "good_bytes", health->good_bytes);
	json_u64(json, "damaged_blocks", health->damaged_blocks);
	json_u64(json, "damaged_bytes", health->damaged_bytes);
	if (health->damaged_bytes)
		json_u64(json, "first_damage_offset", health->first_damage_offset);
	else
		json_null(json, "first_damage_offset");
	json_u64(json, "unknown_blocks", health->unknown_blocks);
	json_u64(json, "missing_blocks", health->missing_blocks);
	json_u64(json, "missing_data_bytes", health->missing_data_bytes);
	json_u64(json, "total_mismatches", health->total_mismatches);
	json_u64(json, "garbage_bytes", health->garbage_bytes);
	json_u64(json, "cut_channels", health->cut_channels);
	json_object_end(json);
}

static void put_records(struct json *json, const struct overview *overview)
{
	const struct decoder_health *records = &overview->records;

	if (!overview->counted)
		return;
	json_object_begin(json, "records");
	json_u64(json, "skipped_bytes", records->skipped_bytes);
	json_u64(json, "cut_bytes", records->cut_bytes);
	json_u64(json, "missing_bytes", records->missing_bytes);
	json_u64(json, "unknown_versions", records->unknown_versions);
	json_u64(json, "sequence_gaps", overview->sequence_gaps);
	json_u64(json, "sequence_missing", overview->sequence_missing);
	json_u64(json, "step_back_ns", overview->step_back_ns);
	json_object_end(json);
}

/* What the pages of a recording through ftrace held besides its events. */
static void put_trace_buffer(struct json *json, const struct overview *overview)
{
	const struct ftrace_counts *pages = &overview->pages;

	if (!pages->pages)
		return;
	json_object_begin(json, "trace_buffer");
	json_u64(json, "pages", pages->pages);
	json_u64(json, "entries", ftrace_counts_entries(pages));
	json_u64(json, "missing_entries", overview->missing_entries);
	json_u64(json, "other_entries", pages->other);
	json_u64(json, "bad_entries", pages->bad);
	json_u64(json, "bad_pages", pages->bad_pages);
	json_array_begin(json, "foreign");
	for (size_t i = 0; i < pages->n_foreign; i++) {
		const struct ftrace_foreign *foreign = &pages->foreign_devices[i];

		json_object_begin(json, NULL);
		json_u64(json, "major", blkbox_device_major(foreign->device));
		json_u64(json, "minor", blkbox_device_minor(foreign->device));
		json_u64(json, "events", foreign->count);
		json_object_end(json);
	}
	json_array_end(json);
	json_object_end(json);
}

int info_print_json(const struct info *info)
{
	const struct overview *overview = &info->overview;
	struct log_reader *log = input_log(info->input);
	_cleanup_(out_deinit) struct out out = {0};
	struct json json;
	int r = out_init(&out, STDOUT_FILENO, OUT_BUFFER_BYTES);

	if (r < 0)
		return r;
	json_init(&json, &out, true);
	json_object_begin(&json, NULL);
	put_figures(&json, info);
	put_times(&json, info);
	put_facts(&json, info);
	put_meta(&json, info);
	json_array_begin(&json, "devices");
	for (size_t i = 0; i < overview->n_devices; i++)
		put_device(&json, &overview->devices[i]);
	json_array_end(&json);
	json_array_begin(&json, "loss_windows");
	for (size_t i = 0; i < overview->n_losses; i++)
		put_loss(&json, info, &overview->losses[i]);
	json_array_end(&json);
	if (log)
		json_log_health(&json, log_reader_health(log));
	put_records(&json, overview);
	put_trace_buffer(&json, overview);
	json_object_end(&json);
	json_finish(&json);
	return out_flush(&out);
}
