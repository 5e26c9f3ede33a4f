/* SPDX-License-Identifier: MIT */
/* I/Os one by one, for programs. */
#include "escape.h"
#include "report_parts.h"

#include <string.h>

void report_json_comm(struct json *json, const char *key, const char *comm)
{
	char escaped[ESCAPE_FACTOR * NAMES_COMM_BYTES + 1];

	escaped[escape_text(escaped, comm, strlen(comm))] = '\0';
	json_string(json, key, *comm ? escaped : NULL);
}

static void put_moment(struct json *json, const struct report *report, const char *key,
		       uint64_t time_ns)
{
	if (time_ns)
		json_u64(json, key, report_since(report, time_ns));
	else
		json_null(json, key);
}

static void put_times(struct json *json, const struct report *report, const struct track_times *t)
{
	json_object_begin(json, "times");
	put_moment(json, report, "queued_above_ns", t->remapped_from_ns);
	put_moment(json, report, "remapped_ns", t->remapped_ns);
	put_moment(json, report, "queued_ns", t->queued_ns);
	put_moment(json, report, "getrq_ns", t->getrq_ns);
	put_moment(json, report, "merged_ns", t->merged_ns);
	put_moment(json, report, "inserted_ns", t->inserted_ns);
	put_moment(json, report, "first_issued_ns", t->first_issued_ns);
	put_moment(json, report, "issued_ns", t->issued_ns);
	put_moment(json, report, "first_completed_ns", t->first_completed_ns);
	put_moment(json, report, "data_completed_ns", t->data_completed_ns);
	put_moment(json, report, "completed_ns", t->completed_ns);
	json_object_end(json);
}

static void put_sector(struct json *json, const struct track_io *io)
{
	if (io->sector == UINT64_MAX)
		json_null(json, "sector");
	else
		json_u64(json, "sector", io->sector);
}

static void put_levels(struct json *json, const struct report *report, const struct track_io *io)
{
	json_array_begin(json, "above");
	for (unsigned i = 0; i < io->n_levels; i++) {
		json_object_begin(json, NULL);
		json_u64(json, "major", blkbox_device_major(io->levels[i].device));
		json_u64(json, "minor", blkbox_device_minor(io->levels[i].device));
		json_string(json, "name", report_level_name(report, io->tag, io->levels[i].device));
		json_u64(json, "sector", io->levels[i].sector);
		json_object_end(json);
	}
	json_array_end(json);
}

/* Its part on the lowest of stacked devices. */
static void put_below(struct json *json, const struct report *report, const struct stats_io *told)
{
	const struct track_io *io = &told->below;

	if (!told->has_below) {
		json_null(json, "below");
		return;
	}
	json_object_begin(json, "below");
	json_string(json, "device", recording_device_name(report->recording, io->tag, io->device));
	put_sector(json, io);
	json_u64(json, "bytes", io->bytes);
	json_i64(json, "error", io->error);
	put_times(json, report, &io->times);
	json_object_end(json);
}

/* @length: what its length in time is called. */
static void put_io(struct json *json, const struct report *report, const struct stats_io *told,
		   const char *length)
{
	const struct track_io *io = &told->io;
	struct blkbox_event event = {.categories = io->categories, .bytes = (uint32_t)io->bytes};
	char rwbs[RWBS_MAX];

	rwbs_format(&event, rwbs);
	json_object_begin(json, NULL);
	json_u64(json, length, told->latency_ns);
	json_u64(json, "recording", io->tag);
	json_string(json, "device", recording_device_name(report->recording, io->tag, io->device));
	json_string(json, "operation", operation_name(io->operation));
	json_string(json, "rwbs", rwbs);
	put_sector(json, io);
	json_u64(json, "bytes", io->bytes);
	json_i64(json, "error", io->error);
	json_string(json, "owner", owner_kind_name(told->owner));
	json_u64(json, "pid", io->owner.pid);
	report_json_comm(json, "process", told->comm);
	json_u64(json, "cpu", io->owner.cpu);
	json_u64(json, "cgroup_id", io->owner.cgroup_id);
	json_u64(json, "pieces", io->pieces);
	json_u64(json, "requeues", io->requeues);
	json_string(json, "merge", report_merge_name(io->merge));
	put_times(json, report, &io->times);
	put_levels(json, report, io);
	put_below(json, report, told);
}

static void put_slowest(struct json *json, const struct report *report)
{
	const struct stats_ios *ios = &report->result->slowest;

	json_array_begin(json, "slowest");
	for (size_t i = 0; i < ios->n && i < report->slow; i++) {
		put_io(json, report, &ios->items[i], "latency_ns");
		json_object_end(json);
	}
	json_array_end(json);
}

/* Those that failed, and those that did not complete. */
static void put_failed(struct json *json, const struct report *report)
{
	const struct stats_ios *failed = &report->result->failed;
	const struct stats_ios *unfinished = &report->result->unfinished;

	json_array_begin(json, "failed");
	for (size_t i = 0; i < failed->n && i < report->failed; i++) {
		put_io(json, report, &failed->items[i], "latency_ns");
		json_string(json, "error_name", report_error(failed->items[i].io.error).text);
		json_object_end(json);
	}
	json_array_end(json);
	json_array_begin(json, "unfinished");
	for (size_t i = 0; i < unfinished->n && i < report->failed; i++) {
		put_io(json, report, &unfinished->items[i], "open_ns");
		json_string(json, "end", report_end_name(unfinished->items[i].end));
		json_object_end(json);
	}
	json_array_end(json);
}

void report_json_ios(const struct report *report, struct json *json)
{
	put_slowest(json, report);
	put_failed(json, report);
}
