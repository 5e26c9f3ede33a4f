/* SPDX-License-Identifier: MIT */
/* The sections that are shown on request. */
#include "number.h"
#include "report_parts.h"
#include "table.h"

#include <inttypes.h>

enum {
	GROUP_COLUMNS = 12,
	SEEK_COLUMNS = 7,
	DEPTH_COLUMNS = 10,
	STAGE_COLUMNS = 14,
	SECOND_COLUMNS = 10,
};

static const struct table_column group_columns[GROUP_COLUMNS] = {
	{"", false},	   {"I/Os", true},    {"IOPS", true},	  {"MiB", true},
	{"MiB/s", true},   {"FAILED", true},  {"Q2C MEAN", true}, {"Q2C P50", true},
	{"Q2C P99", true}, {"Q2C MAX", true}, {"D2C P50", true},  {"D2C P99", true},
};

static int add_group(const struct report *report, struct table *table, const char *name,
		     const struct stats_group *group)
{
	const struct histogram *q2c = group->stages[STAGE_Q2C], *d2c = group->stages[STAGE_D2C];
	double seconds = report_seconds(report);
	struct figure cells[] = {
		figure_count(group->ios),
		figure_rate(seconds > 0 ? (double)group->ios / seconds : NAN),
		figure_mib(report_data_bytes(group)),
		figure_rate(seconds > 0 ? (double)report_data_bytes(group) / seconds / (1 << 20)
					: NAN),
		figure_count(group->errors),
		figure_latency(q2c, -1),
		figure_latency(q2c, 0.5),
		figure_latency(q2c, 0.99),
		figure_latency(q2c, 1),
		figure_latency(d2c, 0.5),
		figure_latency(d2c, 0.99),
	};
	const char *row[GROUP_COLUMNS] = {group->others ? "others" : name};

	for (size_t i = 0; i + 1 < GROUP_COLUMNS; i++)
		row[i + 1] = cells[i].text;
	return table_add(table, row);
}

struct name {
	char text[128];
};

static struct name name_process(const struct stats_group *group)
{
	struct name name;

	snprintf(name.text, sizeof(name.text), "%s",
		 owner_text(group->owner, group->pid, group->comm).text);
	return name;
}

static struct name name_size(const struct stats_group *group)
{
	uint64_t from = stats_size_from(group->size_class);
	struct name name;

	if (!from)
		snprintf(name.text, sizeof(name.text), "%s, no data",
			 operation_name(group->operation));
	else if (from == 1)
		snprintf(name.text, sizeof(name.text), "%s, below 4 KiB",
			 operation_name(group->operation));
	else
		snprintf(name.text, sizeof(name.text), "%s, from %s",
			 operation_name(group->operation), size_format(from).text);
	return name;
}

static struct name name_cpu(const struct stats_group *group)
{
	struct name name;

	snprintf(name.text, sizeof(name.text), "CPU %u", group->cpu);
	return name;
}

static struct name name_cgroup(const struct stats_group *group)
{
	struct name name;

	snprintf(name.text, sizeof(name.text), "cgroup %" PRIu64, group->cgroup_id);
	return name;
}

static int by_order(const void *a, const void *b)
{
	const struct stats_group *x = *(struct stats_group *const *)a;
	const struct stats_group *y = *(struct stats_group *const *)b;

	if (x->operation != y->operation)
		return (x->operation > y->operation) - (x->operation < y->operation);
	if (x->size_class != y->size_class)
		return (x->size_class > y->size_class) - (x->size_class < y->size_class);
	if (x->cpu != y->cpu)
		return (x->cpu > y->cpu) - (x->cpu < y->cpu);
	return (x->cgroup_id > y->cgroup_id) - (x->cgroup_id < y->cgroup_id);
}

/* @sorted: in their own order; else as they are. */
static int print_groups(const struct report *report, const char *title,
			const struct stats_groups *groups,
			struct name (*name_of)(const struct stats_group *), bool sorted, FILE *out)
{
	_cleanup_(cleanup_table_destroy) struct table *table = NULL;
	int r = table_create(group_columns, GROUP_COLUMNS, &table);

	if (sorted && groups->n)
		qsort(groups->items, groups->n, sizeof(struct stats_group *), by_order);
	for (size_t i = 0; i < groups->n && r == 0; i++)
		r = add_group(report, table, name_of(groups->items[i]).text, groups->items[i]);
	if (r < 0)
		return r;
	fprintf(out, "\n%s\n", title);
	if (!groups->n) {
		fputs("none\n", out);
		return 0;
	}
	return table_print(table, out);
}

static int print_devices(const struct report *report, FILE *out)
{
	_cleanup_(cleanup_table_destroy) struct table *table = NULL;
	const struct stats_result *result = report->result;
	int r = table_create(group_columns, GROUP_COLUMNS, &table);

	for (size_t i = 0; i < result->n_devices && r == 0; i++)
		r = add_group(report, table, result->devices[i].name, &result->devices[i].all);
	if (r < 0)
		return r;
	fputs("\nBy device\n", out);
	return table_print(table, out);
}

/* So many buckets are a row: a second, if they are shorter. */
static size_t buckets_of_row(const struct stats_series *series)
{
	return series->width_ns < 1000000000 ? 1000000000 / series->width_ns : 1;
}

/* The row that begins with bucket @first. */
static int add_second(const struct report *report, struct table *table,
		      const struct stats_device *device, size_t first)
{
	const struct stats_series *series = &device->series;
	uint64_t from_ns = series->from_ns + first * series->width_ns;
	uint64_t to_ns = from_ns + buckets_of_row(series) * series->width_ns;
	struct stats_bucket b = {0};
	double seconds;
	char at[32];

	for (size_t i = first; i < first + buckets_of_row(series) && i < series->n; i++)
		stats_bucket_add(&b, &series->buckets[i]);
	if (to_ns > report->result->to_ns)
		to_ns = report->result->to_ns;
	seconds = to_ns > from_ns ? (double)(to_ns - from_ns) / 1e9 : NAN;
	const struct figure cells[] = {
		figure_rate((double)b.ios[SERIES_READ] / seconds),
		figure_rate((double)b.ios[SERIES_WRITE] / seconds),
		figure_rate((double)b.ios[SERIES_OTHER] / seconds),
		figure_rate((double)b.bytes[SERIES_READ] / seconds / (1 << 20)),
		figure_rate((double)b.bytes[SERIES_WRITE] / seconds / (1 << 20)),
		b.q2c_n ? figure_ns(b.q2c_sum_ns / b.q2c_n) : (struct figure){"-"},
		b.q2c_n ? figure_ns(b.q2c_max_ns) : (struct figure){"-"},
		figure_rate(b.trusted_ns ? (device->has_issue ? b.issued_sum : b.open_sum) /
						   (double)b.trusted_ns
					 : NAN),
	};
	const char *row[SECOND_COLUMNS] = {device->name, at};

	snprintf(at, sizeof(at), "%.6g", (double)(from_ns - series->from_ns) / 1e9);
	for (size_t c = 0; c < 8; c++)
		row[c + 2] = cells[c].text;
	return table_add(table, row);
}

static int print_seconds(const struct report *report, FILE *out)
{
	static const struct table_column columns[SECOND_COLUMNS] = {
		{"DEVICE", false},     {"AT", true},	     {"READ IOPS", true},
		{"WRITE IOPS", true},  {"OTHER IOPS", true}, {"READ MiB/s", true},
		{"WRITE MiB/s", true}, {"Q2C MEAN", true},   {"Q2C MAX", true},
		{"DEPTH", true},
	};
	_cleanup_(cleanup_table_destroy) struct table *table = NULL;
	const struct stats_result *result = report->result;
	uint64_t width_ns = 0;
	int r = table_create(columns, SECOND_COLUMNS, &table);

	for (size_t i = 0; i < result->n_devices; i++) {
		const struct stats_device *device = &result->devices[i];

		if (device->series.n)
			width_ns = device->series.width_ns * buckets_of_row(&device->series);
		for (size_t b = 0; b < device->series.n && r == 0;
		     b += buckets_of_row(&device->series))
			r = add_second(report, table, device, b);
	}
	if (r < 0)
		return r;
	fprintf(out, "\nOver time (AT: seconds; a row is %s)\n", figure_ns(width_ns).text);
	return table_print(table, out);
}

static int add_stage(struct table *table, const struct stats_device *device,
		     const struct stats_group *group, enum stats_stage stage)
{
	static const double quantiles[] = {0.5, 0.9, 0.95, 0.99, 0.999, 0.9999};
	const struct histogram *h = group->stages[stage];
	struct figure cells[11];
	const char *row[STAGE_COLUMNS] = {device->name,
					  group == &device->all ? "all"
								: operation_name(group->operation),
					  stats_stage_name(stage)};

	if (!h || !h->n)
		return 0;
	cells[0] = figure_count(h->n);
	cells[1] = figure_ns(h->min);
	cells[2] = figure_latency(h, -1);
	cells[3] = figure_ns((uint64_t)(histogram_stdev(h) + 0.5));
	for (size_t i = 0; i < 6; i++)
		cells[4 + i] = figure_latency(h, quantiles[i]);
	cells[10] = figure_ns(h->max);
	for (size_t i = 0; i < 11; i++)
		row[3 + i] = cells[i].text;
	return table_add(table, row);
}

static int add_stages(struct table *table, const struct stats_device *device,
		      const struct stats_group *group)
{
	int r = 0;

	for (unsigned stage = 0; stage < STAGES && r == 0; stage++)
		r = add_stage(table, device, group, stage);
	return r;
}

/* Shares of the time from queue to completion: 100 % of it. */
static void print_shares(const struct stats_device *device, FILE *out)
{
	const struct stats_group *all = &device->all;
	uint64_t sum = 0;

	for (unsigned i = 0; i < SHARES; i++)
		sum += all->share_ns[i];
	if (!sum)
		return;
	fprintf(out, "Of the Q2C of %s:", device->name);
	for (unsigned i = 0; i < SHARES; i++) {
		if (all->share_ns[i])
			fprintf(out, " %s %.4f%%", stats_share_name(i),
				100.0 * (double)all->share_ns[i] / (double)sum);
	}
	fputc('\n', out);
}

static int print_stages(const struct report *report, FILE *out)
{
	static const struct table_column columns[STAGE_COLUMNS] = {
		{"DEVICE", false}, {"OPERATION", false}, {"STAGE", false}, {"N", true},
		{"MIN", true},	   {"MEAN", true},	 {"STDEV", true},  {"P50", true},
		{"P90", true},	   {"P95", true},	 {"P99", true},	   {"P99.9", true},
		{"P99.99", true},  {"MAX", true},
	};
	_cleanup_(cleanup_table_destroy) struct table *table = NULL;
	const struct stats_result *result = report->result;
	int r = table_create(columns, STAGE_COLUMNS, &table);

	for (size_t i = 0; i < result->n_devices && r == 0; i++) {
		const struct stats_device *device = &result->devices[i];

		for (unsigned o = 0; o < OPERATION_COUNT && r == 0; o++) {
			if (device->operations[o])
				r = add_stages(table, device, device->operations[o]);
		}
		if (r == 0)
			r = add_stages(table, device, &device->all);
	}
	if (r < 0)
		return r;
	fputs("\nStages (Q queue, G request allocated, M merged, I inserted, D issued, C "
	      "completed)\n",
	      out);
	r = table_print(table, out);
	for (size_t i = 0; i < result->n_devices; i++)
		print_shares(&result->devices[i], out);
	return r;
}

static int add_seek(struct table *table, const char *device, const char *what,
		    const struct stats_seek *seek)
{
	const struct histogram *h = &seek->distance;
	struct figure cells[5] = {
		figure_count(h->n),
		h->n ? figure_rate(histogram_mean(h)) : (struct figure){"-"},
		h->n ? figure_count(histogram_quantile(h, 0.5)) : (struct figure){"-"},
		h->n ? figure_count(h->max) : (struct figure){"-"},
		{"-"},
	};

	if (h->n)
		snprintf(cells[4].text, sizeof(cells[4].text), "%.1f%%",
			 100.0 * (double)seek->sequential / (double)h->n);
	return table_add(table, (const char *[]){device, what, cells[0].text, cells[1].text,
						 cells[2].text, cells[3].text, cells[4].text});
}

static int print_seeks(const struct report *report, FILE *out)
{
	static const struct table_column columns[SEEK_COLUMNS] = {
		{"DEVICE", false}, {"BETWEEN", false}, {"N", true},	     {"MEAN", true},
		{"MEDIAN", true},  {"MAX", true},      {"SEQUENTIAL", true},
	};
	_cleanup_(cleanup_table_destroy) struct table *table = NULL;
	const struct stats_result *result = report->result;
	int r = table_create(columns, SEEK_COLUMNS, &table);

	for (size_t i = 0; i < result->n_devices && r == 0; i++) {
		const struct stats_device *device = &result->devices[i];

		r = add_seek(table, device->name, "queued I/Os", &device->queue_seek);
		if (r == 0)
			r = add_seek(table, device->name, "issued requests", &device->issue_seek);
	}
	if (r < 0)
		return r;
	fputs("\nSeeks, sectors (from the end of one to the start of the next)\n", out);
	return table_print(table, out);
}

static int add_depth(struct table *table, const struct stats_device *device)
{
	const struct stats_depth *d = &device->depth;
	struct figure cells[9] = {
		figure_rate(report_depth(d->issued_sum, d->trusted_ns)),
		figure_count(d->issued_max),
		figure_rate(report_depth(d->open_sum, d->trusted_ns)),
		figure_count(d->open_max),
		{"-"},
		figure_count(d->idle_ns.n),
		figure_latency(&d->idle_ns, -1),
		d->idle_ns.n ? figure_ns(d->idle_ns.max) : (struct figure){"-"},
		figure_ns(d->trusted_ns),
	};
	const char *row[DEPTH_COLUMNS] = {device->name};

	if (d->trusted_ns)
		snprintf(cells[4].text, sizeof(cells[4].text), "%.2f%%",
			 100.0 * (double)d->busy_ns / (double)d->trusted_ns);
	for (size_t i = 0; i < 9; i++)
		row[i + 1] = cells[i].text;
	return table_add(table, row);
}

static int print_depth(const struct report *report, FILE *out)
{
	static const struct table_column columns[DEPTH_COLUMNS] = {
		{"DEVICE", false}, {"DRIVER MEAN", true}, {"MAX", true},       {"OPEN MEAN", true},
		{"MAX", true},	   {"BUSY", true},	  {"IDLE GAPS", true}, {"MEAN", true},
		{"LONGEST", true}, {"KNOWN FOR", true},
	};
	_cleanup_(cleanup_table_destroy) struct table *table = NULL;
	const struct stats_result *result = report->result;
	int r = table_create(columns, DEPTH_COLUMNS, &table);

	for (size_t i = 0; i < result->n_devices && r == 0; i++)
		r = add_depth(table, &result->devices[i]);
	if (r < 0)
		return r;
	fputs("\nQueue depth (requests in the driver; I/Os open from queue to completion)\n", out);
	r = table_print(table, out);
	for (size_t i = 0; i < result->n_devices; i++) {
		const struct stats_plugs *p = &result->devices[i].plugs;

		fprintf(out, "%s: %s, held for %s each; %s, %" PRIu64 " by the scheduler (UT)\n",
			result->devices[i].name, figure_some(p->plugs, "plug").text,
			figure_latency(&p->plugged_ns, -1).text,
			figure_some(p->unplugs, "unplug").text, p->timer_unplugs);
	}
	return r;
}

int report_sections(const struct report *report, FILE *out)
{
	const struct stats_result *result = report->result;
	int r = 0;

	if (r == 0 && report->sections & REPORT_DEVICE)
		r = print_devices(report, out);
	if (r == 0 && report->sections & REPORT_PROCESS)
		r = print_groups(report, "By process (thread that queued)", &result->processes,
				 name_process, false, out);
	if (r == 0 && report->sections & REPORT_SIZE)
		r = print_groups(report, "By operation and size", &result->sizes, name_size, true,
				 out);
	if (r == 0 && report->sections & REPORT_CPU)
		r = print_groups(report, "By CPU that queued", &result->cpus, name_cpu, true, out);
	if (r == 0 && report->sections & REPORT_CGROUP)
		r = print_groups(report, "By cgroup", &result->cgroups, name_cgroup, true, out);
	if (r == 0 && report->sections & REPORT_SECOND)
		r = print_seconds(report, out);
	if (r == 0 && report->sections & REPORT_STAGES)
		r = print_stages(report, out);
	if (r == 0 && report->sections & REPORT_SEEK)
		r = print_seeks(report, out);
	if (r == 0 && report->sections & REPORT_DEPTH)
		r = print_depth(report, out);
	return r;
}
