/* SPDX-License-Identifier: MIT */
/* The first screen. */
#include "report.h"

#include "escape.h"
#include "iso_time.h"
#include "report_parts.h"
#include "table.h"

#include <inttypes.h>
#include <string.h>

enum {
	SCREEN_ROWS = 5, /* of I/Os and of processes */
	BAR_COLUMNS = 40,
};

static void print_name(const char *name, FILE *out)
{
	size_t n = strlen(name);
	_cleanup_free_ char *safe = malloc(ESCAPE_FACTOR * n + 1);

	if (safe) {
		safe[escape_text(safe, name, n)] = '\0';
		fputs(safe, out);
	}
}

static void print_loss(const struct report *report, const struct stats_device *device, FILE *out)
{
	const struct stats_group *all = &device->all;
	uint64_t overdue = report_overdue(device);

	fputs("  ", out);
	print_name(device->name, out);
	if (device->dropped)
		fprintf(out, ": %s dropped in %s, %s in all",
			figure_some(device->dropped, "event").text,
			figure_some(device->loss_windows, "window").text,
			figure_ns(device->lost_ns).text);
	/* v2 counts dropped events, too; so does v1 since Linux 6.19, and nobody knows. */
	if (device->gap_events > (device->protocol == 2 ? device->dropped : 0))
		fprintf(out, "%s %s missing in %s of sequence numbers%s",
			device->dropped ? ";" : ":", figure_some(device->gap_events, "event").text,
			figure_some(device->gaps, "gap").text,
			device->dropped && device->protocol != 2
				? " (since Linux 6.19, the dropped ones are among them)"
				: "");
	fprintf(out, ";\n    %s cut off by that, %" PRIu64 " more touched: %s\n",
		figure_some(all->ended[TRACK_END_LOSS], "I/O").text, all->touched,
		report->result->with_losses
			? "they are in the latencies, which may be wrong (--with-losses)"
			: "they are in no latency below");
	if (overdue)
		fprintf(out, "    %s missing elsewhere: depth and BUSY are too high\n",
			figure_some(overdue, "completion").text);
}

static bool print_lost_events(const struct report *report, FILE *out)
{
	const struct stats_result *result = report->result;
	bool any = false;

	for (size_t i = 0; i < result->n_devices; i++) {
		const struct stats_device *device = &result->devices[i];

		if (!device->dropped && !device->gap_events)
			continue;
		if (!any)
			fputs("LOST EVENTS\n", out);
		any = true;
		print_loss(report, device, out);
	}
	return any;
}

static void print_losses(const struct report *report, FILE *out)
{
	uint64_t untold = report_untold(report);
	bool any = print_lost_events(report, out);

	if (!any && !report->result->events)
		fputs("No event was recorded.\n", out);
	else if (untold)
		fprintf(out,
			"No loss is told%s, but %s %s missing: events were lost untold\n"
			"(blktrace does that), or writes overlapped. The latencies may be wrong, "
			"and depth and "
			"BUSY too high:\n"
			"an I/O without a completion counts as in flight.\n",
			any ? " of the other devices" : "", figure_some(untold, "completion").text,
			untold == 1 ? "is" : "are");
	else if (!any)
		fputs(report->whole ? "No event was lost.\n"
				    : "No event was dropped, but the recording is cut off or "
				      "damaged.\n",
		      out);
}

void report_print_head(const struct report *report, FILE *out)
{
	const struct recording_info *info = recording_info(report->recording);
	const struct stats_result *result = report->result;

	print_name(report->name, out);
	if (recording_inputs(report->recording) > 1)
		fprintf(out, " and %zu more", recording_inputs(report->recording) - 1);
	fprintf(out, ": %.6f s", report_seconds(report));
	if (result->from_ns > info->start_ns)
		fprintf(out, " from %.6f s on", (double)(result->from_ns - info->start_ns) / 1e9);
	if (info->has_real)
		fprintf(out, ", recorded at %s",
			iso_time_format(info->start_ns + (uint64_t)info->real_offset_ns, 3).text);
	fprintf(out, ", %s\n", figure_some(result->events, "event").text);
	print_losses(report, out);
}

static unsigned count_operations(const struct stats_device *device)
{
	unsigned n = 0;

	for (unsigned i = 0; i < OPERATION_COUNT; i++)
		n += device->operations[i] != NULL;
	return n;
}

static void print_unqueued(const struct stats_device *device, FILE *out)
{
	print_name(device->name, out);
	fprintf(out,
		": %" PRIu64
		" I/Os were not seen queued: they are in no Q2C and have no owner. From "
		"Linux 6.19\n  on, protocol 1 (blktrace) leaves out the queue events of FUA "
		"writes.\n",
		device->all.no_queue);
}

/* What must not be overlooked when figures are missing. */
static void print_remarks(const struct report *report, FILE *out)
{
	const struct stats_result *result = report->result;

	for (size_t i = 0; i < result->n_devices; i++) {
		const struct stats_device *device = &result->devices[i];

		/* Nothing of it passed the filter. */
		if (!count_operations(device) && !device->impossible)
			continue;
		if (device->has_queue && device->protocol == 1 && device->all.no_queue)
			print_unqueued(device, out);
		if (device->has_queue && device->has_completion && !device->has_issue) {
			print_name(device->name, out);
			fputs(": no issue events on this device, so no D2C: it is a stacked device "
			      "(then the\n  underlying device has them), or they were not "
			      "recorded. Q2C stands.\n",
			      out);
		}
		if (device->impossible) {
			print_name(device->name, out);
			fprintf(out, ": %s left out, with a sector that no device has (damaged?)\n",
				figure_some(device->impossible, "event").text);
		}
		if (!device->has_completion) {
			print_name(device->name, out);
			fputs(": no completions were recorded, so nothing has a latency.\n", out);
		}
		if (!device->has_queue && device->has_issue) {
			print_name(device->name, out);
			fputs(": no queue events were recorded: no Q2C, and no owners.\n", out);
		}
	}
}

static double per_second(const struct report *report, double n)
{
	double seconds = report_seconds(report);

	return seconds > 0 ? n / seconds : NAN;
}

static uint64_t sum_of(const uint64_t *n, size_t count)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < count; i++)
		sum += n[i];
	return sum;
}

static int add_throughput(const struct report *report, const struct stats_device *device,
			  const struct stats_group *group, struct table *table)
{
	const struct stats_depth *depth = &device->depth;
	struct figure busy = {""};
	struct figure cells[] = {
		figure_count(group->ios),
		figure_rate(per_second(report, (double)group->ios)),
		figure_mib(report_data_bytes(group)),
		figure_rate(per_second(report, (double)report_data_bytes(group) / (1 << 20))),
		figure_count(sum_of(group->merges, TRACK_UNANNOUNCED + 1)),
		figure_count(group->requests),
		figure_count(group->requeues),
		figure_count(group->errors),
	};
	const char *row[11];

	row[0] = device->name;
	row[1] = group == &device->all ? "all" : operation_name(group->operation);
	for (size_t i = 0; i < 8; i++)
		row[2 + i] = cells[i].text;
	if (group == &device->all && depth->trusted_ns)
		snprintf(busy.text, sizeof(busy.text), "%.1f%%",
			 100.0 * (double)depth->busy_ns / (double)depth->trusted_ns);
	row[10] = busy.text;
	return table_add(table, row);
}

/* An operation of which only pieces were seen. */
static bool is_shown(const struct stats_group *group)
{
	return group && (group->queued || group->ios || group->errors || group->issued);
}

static int print_throughput(const struct report *report, FILE *out)
{
	static const struct table_column columns[] = {
		{"DEVICE", false},  {"OPERATION", false}, {"I/Os", true},   {"IOPS", true},
		{"MiB", true},	    {"MiB/s", true},	  {"MERGED", true}, {"REQUESTS", true},
		{"REQUEUED", true}, {"FAILED", true},	  {"BUSY", true},
	};
	_cleanup_(cleanup_table_destroy) struct table *table = NULL;
	const struct stats_result *result = report->result;
	int r = table_create(columns, 11, &table);

	for (size_t i = 0; i < result->n_devices && r == 0; i++) {
		const struct stats_device *device = &result->devices[i];

		for (unsigned o = 0; o < OPERATION_COUNT && r == 0; o++) {
			if (is_shown(device->operations[o]))
				r = add_throughput(report, device, device->operations[o], table);
		}
		if (r == 0 && count_operations(device))
			r = add_throughput(report, device, &device->all, table);
	}
	fputc('\n', out);
	return r < 0 ? r : table_print(table, out);
}

static int add_latency(const char *device, const struct stats_group *group, enum stats_stage stage,
		       struct table *table)
{
	const struct histogram *h = group->stages[stage];
	struct figure cells[] = {
		h ? figure_count(h->n) : (struct figure){"0"},
		h && h->n ? figure_ns(h->min) : (struct figure){"-"},
		figure_latency(h, -1),
		figure_latency(h, 0.5),
		figure_latency(h, 0.9),
		figure_latency(h, 0.99),
		figure_latency(h, 0.999),
		figure_latency(h, 1),
	};
	const char *row[11] = {device, operation_name(group->operation),
			       stage == STAGE_Q2C   ? "Q2C"
			       : stage == STAGE_D2C ? "D2C"
						    : "D2C of requests"};

	for (size_t i = 0; i < 8; i++)
		row[3 + i] = cells[i].text;
	return table_add(table, row);
}

static int add_operation(const struct stats_device *device, const struct stats_group *group,
			 struct table *table)
{
	int r = 0;

	/* A class without a latency has its row, too; a bio-based device has no D2C. */
	if (device->has_queue && group->operation != OPERATION_PASSTHROUGH)
		r = add_latency(device->name, group, STAGE_Q2C, table);
	if (r == 0 && group->operation == OPERATION_FLUSH)
		return device->has_issue
			       ? add_latency(device->name, group, STAGE_REQUEST_D2C, table)
			       : 0;
	if (r == 0 && device->has_issue)
		r = add_latency(device->name, group, STAGE_D2C, table);
	return r;
}

static int print_latencies(const struct report *report, FILE *out)
{
	static const struct table_column columns[] = {
		{"DEVICE", false}, {"OPERATION", false}, {"LATENCY", false}, {"N", true},
		{"MIN", true},	   {"MEAN", true},	 {"P50", true},	     {"P90", true},
		{"P99", true},	   {"P99.9", true},	 {"MAX", true},
	};
	_cleanup_(cleanup_table_destroy) struct table *table = NULL;
	const struct stats_result *result = report->result;
	int r = table_create(columns, 11, &table);

	for (size_t i = 0; i < result->n_devices && r == 0; i++) {
		const struct stats_device *device = &result->devices[i];

		for (unsigned o = 0; o < OPERATION_COUNT && r == 0; o++) {
			if (is_shown(device->operations[o]))
				r = add_operation(device, device->operations[o], table);
		}
	}
	fputs("\nLatency: Q2C from queue to completion, D2C from issue to completion (the "
	      "device)\n",
	      out);
	return r < 0 ? r : table_print(table, out);
}

static void print_unmatched(const struct report *report, FILE *out)
{
	const struct stats_result *result = report->result;
	uint64_t flight = 0, lost = 0, strays[TRACK_STRAYS] = {0}, errors = 0, inverted = 0;
	uint64_t no_queue = 0;

	for (size_t i = 0; i < result->n_devices; i++) {
		const struct stats_group *all = &result->devices[i].all;

		flight += all->ended[TRACK_END_IN_FLIGHT];
		lost += all->ended[TRACK_END_REUSED] + all->ended[TRACK_END_AGED];
		inverted += all->inverted;
		no_queue += all->no_queue;
		for (unsigned s = 0; s < TRACK_STRAYS; s++)
			strays[s] += all->strays[s];
		/* Passthrough, too. */
		for (unsigned o = 0; o < OPERATION_COUNT; o++)
			errors += result->devices[i].operations[o]
					  ? result->devices[i].operations[o]->errors
					  : 0;
	}
	fprintf(out, "Not in the latencies:");
	fprintf(out, " %" PRIu64 " in flight at the end", flight);
	fprintf(out, ", %s of I/Os whose begin was not recorded",
		figure_some(strays[TRACK_STRAY_EARLY], "completion").text);
	if (errors)
		fprintf(out, ", %" PRIu64 " failed", errors);
	if (no_queue)
		fprintf(out, ", %" PRIu64 " not seen queued (in no Q2C)", no_queue);
	if (lost)
		fprintf(out, ", %" PRIu64 " whose completion is missing", lost);
	if (strays[TRACK_STRAY_LOSS])
		fprintf(out, ", %s behind losses",
			figure_some(strays[TRACK_STRAY_LOSS], "completion").text);
	if (strays[TRACK_STRAY_OTHER])
		fprintf(out, ", %s whose issue is missing",
			figure_some(strays[TRACK_STRAY_OTHER], "completion").text);
	if (inverted)
		fprintf(out, ", %" PRIu64 " whose times are not in order", inverted);
	fputs(".\n", out);
}

static int by_wait(const void *a, const void *b)
{
	return stats_compare_waits(*(struct stats_group *const *)a,
				   *(struct stats_group *const *)b);
}

/* The five that waited longest. */
static int print_waits(const struct report *report, FILE *out)
{
	static const struct table_column columns[] = {
		{"PROCESS", false}, {"I/Os", true}, {"MiB", true}, {"WAITED IN ALL", true},
		{"MEAN", true},	    {"P99", true},  {"MAX", true},
	};
	_cleanup_(cleanup_table_destroy) struct table *table = NULL;
	const struct stats_groups *groups = &report->result->processes;
	size_t n_rows = 0;
	int r = table_create(columns, 7, &table);

	if (groups->n)
		qsort(groups->items, groups->n, sizeof(struct stats_group *), by_wait);
	for (size_t i = 0; i < groups->n && i < SCREEN_ROWS && r == 0; i++) {
		const struct stats_group *group = groups->items[i];
		const struct histogram *h = group->stages[STAGE_Q2C];

		if (!h || !h->n)
			break;
		n_rows++;
		struct owner_text owner = owner_text(group->owner, group->pid, group->comm);
		struct figure cells[] = {
			figure_count(group->ios),
			figure_mib(report_data_bytes(group)),
			h ? figure_ns((uint64_t)h->sum) : (struct figure){"-"},
			figure_latency(h, -1),
			figure_latency(h, 0.99),
			figure_latency(h, 1),
		};

		r = table_add(table, (const char *[]){group->others ? "others" : owner.text,
						      cells[0].text, cells[1].text, cells[2].text,
						      cells[3].text, cells[4].text, cells[5].text});
	}
	if (r < 0 || !n_rows)
		return r;
	fputs("\nWho waited longest (Q2C added up, also of I/Os in parallel)\n", out);
	return table_print(table, out);
}

static struct figure row_border(unsigned row)
{
	uint64_t us = row ? UINT64_C(1) << (row - 1) : 0;
	struct figure figure;

	if (us >= 1 << 20)
		snprintf(figure.text, sizeof(figure.text), "%" PRIu64 "M", us >> 20);
	else if (us >= 1 << 10)
		snprintf(figure.text, sizeof(figure.text), "%" PRIu64 "K", us >> 10);
	else
		snprintf(figure.text, sizeof(figure.text), "%" PRIu64, us);
	return figure;
}

static void print_bars(const uint64_t *rows, const char *title, FILE *out)
{
	unsigned first = 0, end = STATS_LOG2_ROWS;
	uint64_t most = 0;

	while (end && !rows[end - 1])
		end--;
	while (first < end && !rows[first])
		first++;
	for (unsigned i = first; i < end; i++)
		most = rows[i] > most ? rows[i] : most;
	if (!most)
		return;
	fprintf(out, "\n%s, microseconds (K = 1024)\n", title);
	for (unsigned i = first; i < end; i++) {
		int bar = (int)(rows[i] * BAR_COLUMNS / most);
		char range[72];

		snprintf(range, sizeof(range), "[%s, %s)", row_border(i).text,
			 row_border(i + 1).text);
		fprintf(out, "%-14s %10" PRIu64 " |%.*s%*s|\n", range, rows[i], bar,
			"@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@", BAR_COLUMNS - bar, "");
	}
}

static void print_histogram(const struct report *report, FILE *out)
{
	uint64_t rows[2][STATS_LOG2_ROWS] = {0};
	const struct stats_result *result = report->result;
	bool has_q2c = false;
	char title[64];

	for (size_t i = 0; i < result->n_devices; i++) {
		for (unsigned row = 0; row < STATS_LOG2_ROWS; row++) {
			rows[0][row] += result->devices[i].all.log2_us[0][row];
			rows[1][row] += result->devices[i].all.log2_us[1][row];
			has_q2c |= rows[0][row] != 0;
		}
	}
	snprintf(title, sizeof(title), "%s of all I/Os%s", has_q2c ? "Q2C" : "D2C",
		 result->n_devices > 1 ? ", on each device" : "");
	print_bars(rows[!has_q2c], title, out);
}

int report_print(const struct report *report, FILE *out)
{
	int r;

	report_print_head(report, out);
	print_remarks(report, out);
	r = print_throughput(report, out);
	if (r == 0)
		r = print_latencies(report, out);
	if (r == 0) {
		print_unmatched(report, out);
		r = report_failed(report, report->failed ? report->failed : SCREEN_ROWS, out);
	}
	if (r == 0)
		r = report_unfinished(report, report->failed ? report->failed : SCREEN_ROWS,
				      report->failed != 0, out);
	if (r == 0)
		r = report_slowest(report, report->slow ? report->slow : SCREEN_ROWS, out);
	if (r == 0)
		r = print_waits(report, out);
	if (r < 0)
		return r;
	print_histogram(report, out);
	return report_sections(report, out);
}
