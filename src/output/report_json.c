/* SPDX-License-Identifier: MIT */
#include "report.h"

#include "iso_time.h"
#include "report_parts.h"

#include <string.h>

static void put_histogram(struct json *json, const char *key, const struct histogram *h,
			  const char *unit)
{
	static const struct {
		const char *name;
		double q;
	} quantiles[] = {{"p50", 0.5},	{"p90", 0.9},	  {"p95", 0.95},
			 {"p99", 0.99}, {"p99.9", 0.999}, {"p99.99", 0.9999}};
	char name[32];

	json_object_begin(json, key);
	json_u64(json, "n", h ? h->n : 0);
	if (h && h->n) {
		snprintf(name, sizeof(name), "min_%s", unit);
		json_u64(json, name, h->min);
		snprintf(name, sizeof(name), "sum_%s", unit);
		json_u64(json, name, (uint64_t)h->sum);
		snprintf(name, sizeof(name), "mean_%s", unit);
		json_double(json, name, histogram_mean(h), 1);
		snprintf(name, sizeof(name), "stdev_%s", unit);
		json_double(json, name, histogram_stdev(h), 1);
		for (size_t i = 0; i < sizeof(quantiles) / sizeof(quantiles[0]); i++) {
			snprintf(name, sizeof(name), "%s_%s", quantiles[i].name, unit);
			json_u64(json, name, histogram_quantile(h, quantiles[i].q));
		}
		snprintf(name, sizeof(name), "max_%s", unit);
		json_u64(json, name, h->max);
	}
	json_object_end(json);
}

static void put_log2(struct json *json, const char *key, const uint64_t *rows)
{
	unsigned n = STATS_LOG2_ROWS;

	while (n && !rows[n - 1])
		n--;
	json_array_begin(json, key);
	for (unsigned i = 0; i < n; i++)
		json_u64(json, NULL, rows[i]);
	json_array_end(json);
}

static void put_ends(struct json *json, const char *key, const uint64_t *n, const uint64_t *bytes)
{
	static const char *const names[][2] = {
		[TRACK_END_IN_FLIGHT] = {"in_flight", "in_flight_bytes"},
		[TRACK_END_LOSS] = {"loss", "loss_bytes"},
		[TRACK_END_REUSED] = {"reused", "reused_bytes"},
		[TRACK_END_AGED] = {"aged", "aged_bytes"},
	};

	json_object_begin(json, key);
	for (unsigned i = 0; i < TRACK_ENDS; i++) {
		json_u64(json, names[i][0], n[i]);
		if (bytes)
			json_u64(json, names[i][1], bytes[i]);
	}
	json_object_end(json);
}

static void put_counts(struct json *json, const struct report *report,
		       const struct stats_group *group)
{
	double seconds = report_seconds(report);

	json_u64(json, "queued", group->queued);
	json_u64(json, "queued_bytes", group->queued_bytes);
	json_u64(json, "ios", group->ios);
	json_u64(json, "bytes", group->bytes);
	json_u64(json, "data_bytes", group->data_bytes);
	json_double(json, "iops", seconds > 0 ? (double)group->ios / seconds : NAN, 3);
	json_double(json, "bytes_per_second", seconds > 0 ? (double)group->bytes / seconds : NAN,
		    1);
	json_double(json, "data_bytes_per_second",
		    seconds > 0 ? (double)group->data_bytes / seconds : NAN, 1);
	json_u64(json, "errors", group->errors);
	json_u64(json, "error_bytes", group->error_bytes);
	json_u64(json, "splits", group->splits);
	json_object_begin(json, "merges");
	json_u64(json, "back", group->merges[TRACK_BACK]);
	json_u64(json, "front", group->merges[TRACK_FRONT]);
	json_u64(json, "request", group->merges[TRACK_REQUEST]);
	json_u64(json, "unannounced", group->merges[TRACK_UNANNOUNCED]);
	json_u64(json, "bytes", group->merged_bytes);
	json_object_end(json);
}

static void put_unmatched(struct json *json, const struct stats_group *group, bool requests)
{
	json_object_begin(json, "unmatched");
	put_ends(json, "ios", group->ended, group->ended_bytes);
	json_u64(json, "partial", group->partial);
	json_u64(json, "no_queue", group->no_queue);
	json_u64(json, "no_issue", group->no_issue);
	json_u64(json, "touched_by_loss", group->touched);
	json_u64(json, "inverted", group->inverted);
	if (requests) {
		put_ends(json, "requests", group->ended_requests, NULL);
		json_object_begin(json, "completions");
		json_u64(json, "before_start", group->strays[TRACK_STRAY_EARLY]);
		json_u64(json, "behind_loss", group->strays[TRACK_STRAY_LOSS]);
		json_u64(json, "other", group->strays[TRACK_STRAY_OTHER]);
		json_u64(json, "flush_ends", group->strays[TRACK_STRAY_FLUSH]);
		json_object_end(json);
	}
	json_object_end(json);
}

static void put_shares(struct json *json, const struct stats_group *group)
{
	uint64_t sum = 0;
	char name[32];

	for (unsigned i = 0; i < SHARES; i++)
		sum += group->share_ns[i];
	json_object_begin(json, "shares");
	json_u64(json, "ios", group->share_ios);
	json_u64(json, "sum_ns", sum);
	for (unsigned i = 0; i < SHARES; i++) {
		snprintf(name, sizeof(name), "%s_ns", stats_share_name(i));
		json_u64(json, name, group->share_ns[i]);
	}
	json_object_end(json);
}

/* @whole: the group has requests and all stages. */
static void put_group(struct json *json, const struct report *report,
		      const struct stats_group *group, bool whole)
{
	put_counts(json, report, group);
	if (whole) {
		json_object_begin(json, "requests");
		json_u64(json, "issued", group->issued);
		json_u64(json, "issued_bytes", group->issued_bytes);
		json_u64(json, "completed", group->requests);
		json_u64(json, "completed_bytes", group->request_bytes);
		json_u64(json, "requeues", group->requeues);
		json_object_end(json);
	}
	put_unmatched(json, group, whole);
	json_object_begin(json, "latency");
	for (unsigned i = 0; i < STAGES; i++) {
		if (whole || i == STAGE_Q2C || i == STAGE_D2C || i == STAGE_Q2D)
			put_histogram(json, stats_stage_name(i), group->stages[i], "ns");
	}
	json_object_end(json);
	put_shares(json, group);
	json_object_begin(json, "log2_us");
	put_log2(json, "q2c", group->log2_us[0]);
	put_log2(json, "d2c", group->log2_us[1]);
	json_object_end(json);
}

static void put_seek(struct json *json, const char *key, const struct stats_seek *seek)
{
	json_object_begin(json, key);
	put_histogram(json, "distance", &seek->distance, "sectors");
	json_u64(json, "sequential", seek->sequential);
	json_object_end(json);
}

static void put_plugs(struct json *json, const struct stats_plugs *plugs)
{
	json_object_begin(json, "plugs");
	json_u64(json, "plugs", plugs->plugs);
	json_u64(json, "unplugs", plugs->unplugs);
	json_u64(json, "timer_unplugs", plugs->timer_unplugs);
	json_u64(json, "no_plug", plugs->no_plug);
	json_u64(json, "no_unplug", plugs->no_unplug);
	put_histogram(json, "plugged", &plugs->plugged_ns, "ns");
	put_histogram(json, "requests", &plugs->requests, "requests");
	put_histogram(json, "timer_requests", &plugs->timer_requests, "requests");
	json_object_end(json);
}

static void put_depth(struct json *json, const struct stats_depth *depth)
{
	json_object_begin(json, "depth");
	json_u64(json, "known_ns", depth->trusted_ns);
	json_u64(json, "busy_ns", depth->busy_ns);
	json_double(json, "driver_mean", report_depth(depth->issued_sum, depth->trusted_ns), 4);
	json_u64(json, "driver_max", depth->issued_max);
	json_double(json, "open_mean", report_depth(depth->open_sum, depth->trusted_ns), 4);
	json_u64(json, "open_max", depth->open_max);
	put_histogram(json, "idle_gaps", &depth->idle_ns, "ns");
	json_object_end(json);
}

static void put_device(struct json *json, const struct report *report,
		       const struct stats_device *device)
{
	json_object_begin(json, NULL);
	json_string(json, "name", device->name);
	json_u64(json, "recording", device->tag);
	json_u64(json, "major", blkbox_device_major(device->device));
	json_u64(json, "minor", blkbox_device_minor(device->device));
	json_u64(json, "events", device->events);
	json_u64(json, "dropped", device->dropped);
	json_u64(json, "loss_windows", device->loss_windows);
	json_u64(json, "loss_ns", device->lost_ns);
	json_u64(json, "sequence_gaps", device->gaps);
	json_u64(json, "sequence_missing", device->gap_events);
	json_u64(json, "protocol", device->protocol);
	json_u64(json, "impossible_sectors", device->impossible);
	json_bool(json, "has_queue", device->has_queue);
	json_bool(json, "has_issue", device->has_issue);
	json_bool(json, "has_completion", device->has_completion);
	json_bool(json, "bio_based", device->bio_based);
	json_object_begin(json, "all");
	put_group(json, report, &device->all, true);
	json_object_end(json);
	json_array_begin(json, "operations");
	for (unsigned i = 0; i < OPERATION_COUNT; i++) {
		if (!device->operations[i])
			continue;
		json_object_begin(json, NULL);
		json_string(json, "operation", operation_name(i));
		put_group(json, report, device->operations[i], true);
		json_object_end(json);
	}
	json_array_end(json);
	json_object_begin(json, "seek");
	put_seek(json, "queue", &device->queue_seek);
	put_seek(json, "issue", &device->issue_seek);
	json_object_end(json);
	put_plugs(json, &device->plugs);
	put_depth(json, &device->depth);
	report_json_series(report, &device->series, json);
	json_object_end(json);
}

enum kind {
	KIND_SIZE,
	KIND_PROCESS,
	KIND_CGROUP,
	KIND_CPU,
};

static void put_size(struct json *json, const struct stats_group *group)
{
	json_string(json, "operation", operation_name(group->operation));
	json_u64(json, "from_bytes", stats_size_from(group->size_class));
	if (group->size_class + 1 < STATS_SIZES)
		json_u64(json, "to_bytes", stats_size_from(group->size_class + 1) - 1);
	else
		json_null(json, "to_bytes");
}

static void put_kind(struct json *json, enum kind kind, const struct stats_group *group)
{
	json_u64(json, "recording", group->tag);
	switch (kind) {
	case KIND_SIZE:
		put_size(json, group);
		break;
	case KIND_PROCESS:
		json_string(json, "owner", owner_kind_name(group->owner));
		json_u64(json, "pid", group->pid);
		report_json_comm(json, "process", group->comm);
		break;
	case KIND_CGROUP:
		json_u64(json, "cgroup_id", group->cgroup_id);
		break;
	case KIND_CPU:
		json_u64(json, "cpu", group->cpu);
		break;
	}
}

static void put_groups(struct json *json, const struct report *report, const char *key,
		       enum kind kind, const struct stats_groups *groups)
{
	json_array_begin(json, key);
	for (size_t i = 0; i < groups->n; i++) {
		json_object_begin(json, NULL);
		json_bool(json, "others", groups->items[i]->others);
		put_kind(json, kind, groups->items[i]);
		put_group(json, report, groups->items[i], false);
		json_object_end(json);
	}
	json_array_end(json);
}

static void put_losses(struct json *json, const struct report *report)
{
	const struct recording_loss *losses = report->result->losses;
	size_t n = report->result->n_losses;

	if (report->cut) {
		losses = report->cut->losses;
		n = report->cut->n_losses;
	}
	json_array_begin(json, "losses");
	for (size_t i = 0; i < n; i++) {
		json_object_begin(json, NULL);
		json_u64(json, "recording", losses[i].tag);
		json_string(json, "device",
			    losses[i].device
				    ? recording_device_name(report->recording, losses[i].tag,
							    losses[i].device)
				    : NULL);
		if (losses[i].cpu == LOG_NO_CPU)
			json_null(json, "cpu");
		else
			json_u64(json, "cpu", losses[i].cpu);
		json_u64(json, "from_ns", report_since(report, losses[i].from_ns));
		json_u64(json, "to_ns", report_since(report, losses[i].to_ns));
		json_u64(json, "count", losses[i].count);
		json_object_end(json);
	}
	json_array_end(json);
}

static void put_head(struct json *json, const struct report *report)
{
	const struct recording_info *info = recording_info(report->recording);
	const struct stats_result *result = report->result;

	json_string(json, "file", report->name);
	json_bool(json, "complete", report->whole);
	json_string(
		json, "start",
		info->has_real
			? iso_time_format(info->start_ns + (uint64_t)info->real_offset_ns, 9).text
			: NULL);
	json_u64(json, "start_mono_ns", info->start_ns);
	json_u64(json, "from_ns", report_since(report, result->from_ns));
	json_u64(json, "to_ns", report_since(report, result->to_ns));
	json_u64(json, "events", result->events);
	json_u64(json, "late_events", result->late_events);
	json_u64(json, "dropped", info->dropped);
	json_u64(json, "untold_losses", report_untold(report));
	json_bool(json, "with_losses", result->with_losses);
}

static void put_cut(struct json *json, const struct report_cut *cut)
{
	json_object_begin(json, "cut");
	json_u64(json, "bucket_fold", cut->bucket_fold);
	json_u64(json, "devices_left_out", cut->devices_left_out);
	json_u64(json, "series_left_out", cut->series_left_out);
	json_u64(json, "groups_max", cut->groups_max);
	json_object_end(json);
}

void report_json(const struct report *report, struct json *json, const char *key)
{
	const struct stats_result *result = report->result;

	json_object_begin(json, key);
	put_head(json, report);
	if (report->cut)
		put_cut(json, report->cut);
	put_losses(json, report);
	json_array_begin(json, "devices");
	for (size_t i = 0; i < result->n_devices; i++)
		put_device(json, report, &result->devices[i]);
	json_array_end(json);
	put_groups(json, report, "sizes", KIND_SIZE, &result->sizes);
	put_groups(json, report, "processes", KIND_PROCESS, &result->processes);
	put_groups(json, report, "cgroups", KIND_CGROUP, &result->cgroups);
	put_groups(json, report, "cpus", KIND_CPU, &result->cpus);
	report_json_ios(report, json);
	json_object_end(json);
}
