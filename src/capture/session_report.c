/* SPDX-License-Identifier: MIT */
#include "session_parts.h"

#include "blktrace.h"

#include <stdlib.h>
#include <sys/sysmacros.h>

/* Fields of /sys/dev/block/M:m/stat, from 0: completed reads, writes, discards, flushes. */
static const unsigned io_fields[] = {0, 4, 11, 15};

static uint64_t sum_ios(const char *text)
{
	uint64_t fields[16] = {0}, sum = 0;
	char *end;

	/* Old kernels have fewer fields: those stay 0. */
	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
		fields[i] = strtoull(text, &end, 10);
		if (end == text)
			break;
		text = end;
	}
	for (size_t i = 0; i < sizeof(io_fields) / sizeof(io_fields[0]); i++)
		sum += fields[io_fields[i]];
	return sum;
}

void session_count_ios(const struct session *session, uint64_t *ret)
{
	for (size_t i = 0; i < session->n_devices; i++) {
		dev_t number = session->devices[i].number;
		char text[512];

		ret[i] = 0;
		if (sysroot_read(session->root, text, sizeof(text), "/sys/dev/block/%u:%u/stat",
				 major(number), minor(number)) >= 0)
			ret[i] = sum_ios(text);
	}
}

static void add_remark(struct session *session, const struct why *text)
{
	if (session->remarks.n < COLLECTOR_REMARKS_MAX)
		session->remarks.text[session->remarks.n++] = *text;
}

/* The cheapest of all checks: the device worked, so something must have been seen of it. */
static bool moved_unseen(const struct session *session, size_t i)
{
	const struct trace_options *trace = &session->trace;
	bool narrow = trace->pid || trace->first_sector || trace->last_sector;
	uint32_t wide = BT_QUEUE | BT_ISSUE | BT_COMPLETE;

	if (trace->mask && (trace->mask & wide) != wide)
		narrow = true;
	return !narrow && session->ios_after[i] > session->ios_before[i] &&
	       !session->device_reports[i].events && !session->device_reports[i].dropped;
}

static void add_total(struct device_report *device, const struct log_total *total)
{
	device->events += total->events;
	device->notes += total->notes;
	device->bytes += total->bytes;
}

/* A channel that all devices share: its source knows whose the events are. */
static void report_shared(struct session *session, struct channel_report *channel)
{
	struct trace_source *source = session->source;

	for (uint32_t i = 0; i < session->n_devices; i++) {
		struct log_total total;

		source->ops->count(source, channel->id.cpu, i, &total);
		channel->total.events += total.events;
		channel->total.notes += total.notes;
		channel->total.bytes += total.bytes;
		if (session->device_reports)
			add_total(&session->device_reports[i], &total);
	}
}

static void report_channels(struct session *session, struct session_report *report)
{
	struct channel *const *channels;
	size_t n = collector_channels(session->collector, &channels);

	session->channel_reports = calloc(n + 1, sizeof(*session->channel_reports));
	if (!session->channel_reports)
		return;
	for (size_t i = 0; i < n; i++) {
		struct channel_report *channel = &session->channel_reports[i];
		size_t device = channels[i]->id.device_index;

		channel->id = channels[i]->id;
		session->sink->total(session->sink->context, (uint32_t)i, &channel->total);
		channel->full_waits = channels[i]->full_waits;
		report->full_waits += channel->full_waits;
		if (session->source->ops->count) {
			/* Records, not the pages that they came in. */
			channel->total = (struct log_total){.channel = channel->total.channel};
			report_shared(session, channel);
		} else if (device < session->n_devices && session->device_reports) {
			add_total(&session->device_reports[device], &channel->total);
		}
	}
	report->channels = session->channel_reports;
	report->n_channels = n;
}

static void report_devices(struct session *session, struct session_report *report)
{
	struct drop_tracker *drops = &session->source->drops;

	session->device_reports = calloc(session->n_devices, sizeof(*session->device_reports));
	if (!session->device_reports)
		return;
	for (size_t i = 0; i < session->n_devices; i++) {
		struct device_report *device = &session->device_reports[i];

		device->device = session->log_devices[i];
		device->dropped = drop_tracker_sum(drops, (uint32_t)i, false);
		device->dropped_at_stop = drop_tracker_sum(drops, (uint32_t)i, true);
		report->dropped += device->dropped;
	}
	report->dropped += drop_tracker_sum(drops, LOG_NO_CHANNEL, false);
	report->devices = session->device_reports;
	report->n_devices = session->n_devices;
}

void session_make_report(struct session *session, enum log_end_reason reason, int failure,
			 const struct why *stop_why, const struct why *audit_why,
			 struct session_report *ret)
{
	*ret = (struct session_report){.reason = reason, .source = session->source->ops->name};
	session->remarks = *collector_remarks(session->collector);
	report_devices(session, ret);
	report_channels(session, ret);
	if (stop_why && (!session->remarks.n || reason == LOG_END_FOREIGN))
		add_remark(session, stop_why);
	if (audit_why)
		add_remark(session, audit_why);
	for (size_t i = 0; session->device_reports && i < session->n_devices; i++) {
		struct why unseen;

		if (!moved_unseen(session, i))
			continue;
		why_set(&unseen, 0,
			"%s completed %llu I/Os meanwhile, but the kernel reported no event of it",
			session->log_devices[i].name,
			(unsigned long long)(session->ios_after[i] - session->ios_before[i]));
		add_remark(session, &unseen);
	}
	ret->windows = session->source->drops.windows;
	ret->n_windows = session->source->drops.n_windows;
	ret->remarks = &session->remarks;
	ret->complete = failure >= 0 && !ret->dropped && !session->remarks.n;
}

void session_free_report(struct session *session)
{
	free(session->device_reports);
	free(session->channel_reports);
}
