/* SPDX-License-Identifier: MIT */
#include "record_report.h"

#include "cli.h"
#include "clock.h"
#include "number.h"

#include <inttypes.h>
#include <string.h>

void record_report_start(const struct session *session, const struct record_args *args)
{
	const struct trace_options *trace = session_trace_options(session);
	const struct block_device *devices;
	size_t n = session_devices(session, &devices);

	fputs("blkbox: recording ", stderr);
	for (size_t i = 0; i < n; i++)
		fprintf(stderr, "%s%s", i ? ", " : "", devices[i].name);
	fprintf(stderr, " (%s, %u x %s for each CPU%s)%s\n", session_source_name(session),
		trace->buffer_count, size_format(trace->buffer_bytes).text,
		n > 1 && !strcmp(session_source_name(session), "relay") ? " and device" : "",
		args->command || args->time_limit_ns ? "" : "; Ctrl-C ends it");
	if (session_notice(session))
		message("%s", session_notice(session));
}

void record_report_progress(const struct session *session, uint64_t started_ns)
{
	double elapsed = (double)(clock_mono_ns() - started_ns) / NS_PER_S;
	struct progress progress;

	session_progress(session, &progress);
	fprintf(stderr,
		"\r\033[K%.0f s  %" PRIu64 " events  %.0f/s  %s  dropped %" PRIu64 "  ring %u%%",
		elapsed, progress.events, elapsed > 0 ? (double)progress.events / elapsed : 0.0,
		size_format(progress.bytes).text, progress.dropped, progress.fill_percent);
	fflush(stderr);
}

void record_report_clear_line(void)
{
	fputs("\r\033[K", stderr);
}

static int by_cpu(const void *a, const void *b)
{
	uint32_t x = ((const struct channel_report *)a)->id.cpu;
	uint32_t y = ((const struct channel_report *)b)->id.cpu;

	return (x > y) - (x < y);
}

static void print_channels(const struct session_report *report, size_t device)
{
	_cleanup_free_ struct channel_report *sorted =
		calloc(report->n_channels + 1, sizeof(*sorted));

	if (!sorted)
		return;
	memcpy(sorted, report->channels, report->n_channels * sizeof(*sorted));
	qsort(sorted, report->n_channels, sizeof(*sorted), by_cpu);
	for (size_t i = 0; i < report->n_channels; i++) {
		if (sorted[i].id.device_index != device)
			continue;
		fprintf(stderr, "%-16s %5u %14" PRIu64 " %12.1f\n", "", sorted[i].id.cpu,
			sorted[i].total.events, (double)sorted[i].total.bytes / 1024);
	}
}

/* One buffer for all devices: what it lost cannot be told by device. */
static void print_shared(const struct session_report *report)
{
	uint64_t events = 0, bytes = 0;

	if (!report->n_channels || report->channels[0].id.device_index != LOG_NO_CHANNEL)
		return;
	print_channels(report, LOG_NO_CHANNEL);
	for (size_t i = 0; i < report->n_channels; i++) {
		events += report->channels[i].total.events;
		bytes += report->channels[i].total.bytes;
	}
	fprintf(stderr, "%-16s %5s %14" PRIu64 " %12.1f %10" PRIu64 "\n", "trace buffer", "all",
		events, (double)bytes / 1024, report->dropped);
}

static void print_table(const struct session_report *report)
{
	fprintf(stderr, "%-16s %5s %14s %12s %10s\n", "device", "CPU", "events", "KiB", "dropped");
	for (size_t i = 0; i < report->n_devices; i++) {
		const struct device_report *device = &report->devices[i];

		print_channels(report, i);
		fprintf(stderr, "%-16s %5s %14" PRIu64 " %12.1f %10" PRIu64 "\n",
			device->device.name, "all", device->events, (double)device->bytes / 1024,
			device->dropped);
	}
	print_shared(report);
}

/* Which of the two it was: a ring that was full shows an output that could not keep up. */
static void print_advice(const struct session_report *report)
{
	uint64_t events = 0;
	size_t windows = 0;

	for (size_t i = 0; i < report->n_devices; i++)
		events += report->devices[i].events;
	for (size_t i = 0; i < report->n_windows; i++)
		windows += !(report->windows[i].flags & LOG_DROPS_AT_STOP);
	fprintf(stderr,
		"blkbox: %" PRIu64 " events were lost (%.2f %% of all), in %zu windows of time.\n",
		report->dropped,
		100.0 * (double)report->dropped / (double)(report->dropped + events), windows);
	if (report->full_waits)
		fprintf(stderr,
			"blkbox: the output was too slow (readers waited for it %" PRIu64
			" times): write to a faster disk, record less (-a issue,complete), or take "
			"larger buffers (-b, -n) if the load comes in bursts.\n",
			report->full_waits);
	else
		fputs("blkbox: the kernel's buffers were too small: take larger ones (-n, then "
		      "-b), "
		      "or record less (-a issue,complete).\n",
		      stderr);
}

void record_report_end(const struct session_report *report, const struct record_args *args,
		       const struct record_output *output, uint64_t duration_ns)
{
	if (!args->quiet)
		print_table(report);
	for (size_t i = 0; i < report->remarks->n; i++)
		message("%s", report->remarks->text[i].text);
	if (!args->quiet) {
		put_safely(stderr, "blkbox: %.1f s recorded to %s", (double)duration_ns / NS_PER_S,
			   record_output_name(output));
		if (record_output_bytes(output))
			fprintf(stderr, " (%s)", size_format(record_output_bytes(output)).text);
		fputc('\n', stderr);
	}
	/* A log's figures are of what is in it. */
	if (report->reason == LOG_END_FAILURE && !output->log)
		message("these figures are of what was read from the kernel, not of what is in the "
			"output");
	/* Once the output has failed nobody reads any more: no buffer could have held it. */
	if (report->dropped && report->reason != LOG_END_FAILURE)
		print_advice(report);
	if (output->counts.bent || output->counts.left_out)
		message("protocol v1 has no words for %" PRIu64
			" events, which were written as plain writes, and for %" PRIu64
			", which were left out",
			output->counts.bent, output->counts.left_out);
	if (args->format == RECORD_STREAM && !args->protocol && report->n_devices &&
	    report->devices[0].device.protocol == 2)
		message("the stream is protocol v2; for blkparse 1.x, which reads v1 only, add "
			"--protocol 1");
}
