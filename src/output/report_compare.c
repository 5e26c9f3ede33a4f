/* SPDX-License-Identifier: MIT */
/* Two recordings side by side. */
#include "report_parts.h"
#include "table.h"

enum {
	METRICS = 12,
	COMPARISON_COLUMNS = 5,
};

/* A figure of one side; NaN where there is none. */
struct metric {
	const char *name; /* in JSON */
	const char *title;
	double value;
	bool is_ns;
};

static double latency(const struct stats_group *group, enum stats_stage stage, double q)
{
	const struct histogram *h = group->stages[stage];

	if (!h || !h->n)
		return NAN;
	return q < 0 ? histogram_mean(h) : (double)histogram_quantile(h, q);
}

static void measure(const struct report *report, const struct stats_group *group,
		    struct metric ret[static METRICS])
{
	double seconds = report_seconds(report);
	const struct metric metrics[METRICS] = {
		{"ios", "I/Os", (double)group->ios, false},
		{"iops", "IOPS", seconds > 0 ? (double)group->ios / seconds : NAN, false},
		{"bytes_per_second", "MiB/s", seconds > 0 ? (double)group->bytes / seconds : NAN,
		 false},
		{"q2c_mean", "Q2C mean", latency(group, STAGE_Q2C, -1), true},
		{"q2c_p50", "Q2C p50", latency(group, STAGE_Q2C, 0.5), true},
		{"q2c_p99", "Q2C p99", latency(group, STAGE_Q2C, 0.99), true},
		{"q2c_p99.9", "Q2C p99.9", latency(group, STAGE_Q2C, 0.999), true},
		{"q2c_max", "Q2C max", latency(group, STAGE_Q2C, 1), true},
		{"d2c_mean", "D2C mean", latency(group, STAGE_D2C, -1), true},
		{"d2c_p50", "D2C p50", latency(group, STAGE_D2C, 0.5), true},
		{"d2c_p99", "D2C p99", latency(group, STAGE_D2C, 0.99), true},
		{"d2c_max", "D2C max", latency(group, STAGE_D2C, 1), true},
	};

	for (unsigned i = 0; i < METRICS; i++)
		ret[i] = metrics[i];
}

static double ratio(const struct metric *a, const struct metric *b)
{
	return a->value > 0 ? b->value / a->value : NAN;
}

static struct figure figure_metric(const struct metric *metric)
{
	if (!isfinite(metric->value))
		return (struct figure){"-"};
	if (metric->is_ns)
		return figure_ns((uint64_t)(metric->value + 0.5));
	if (metric->title[0] == 'M')
		return figure_rate(metric->value / (1 << 20));
	return figure_rate(metric->value);
}

/* What is done with both sides of an operation. */
typedef int (*compare_one)(void *context, enum operation operation, const struct metric *a,
			   const struct metric *b);

static int compare_operation(const struct report *a, const struct report *b,
			     enum operation operation, compare_one one, void *context)
{
	_cleanup_(stats_group_deinit) struct stats_group of_a = {0};
	_cleanup_(stats_group_deinit) struct stats_group of_b = {0};
	struct metric metrics_a[METRICS], metrics_b[METRICS];
	int r = report_sum(a, operation, &of_a);

	if (r == 0)
		r = report_sum(b, operation, &of_b);
	if (r < 0 || (!of_a.ios && !of_b.ios))
		return r;
	measure(a, &of_a, metrics_a);
	measure(b, &of_b, metrics_b);
	return one(context, operation, metrics_a, metrics_b);
}

static int compare(const struct report *a, const struct report *b, compare_one one, void *context)
{
	int r = 0;

	for (unsigned operation = 0; operation < OPERATION_COUNT && r == 0; operation++)
		r = compare_operation(a, b, operation, one, context);
	return r;
}

static int add_rows(void *context, enum operation operation, const struct metric *a,
		    const struct metric *b)
{
	int r = 0;

	for (unsigned i = 0; i < METRICS && r == 0; i++) {
		struct figure cells[] = {figure_metric(&a[i]), figure_metric(&b[i]), {"-"}};

		if (isfinite(ratio(&a[i], &b[i])))
			snprintf(cells[2].text, sizeof(cells[2].text), "%.3f", ratio(&a[i], &b[i]));
		r = table_add(context,
			      (const char *[]){operation_name(operation), a[i].title, cells[0].text,
					       cells[1].text, cells[2].text});
	}
	return r;
}

int report_print_comparison(const struct report *a, const struct report *b, FILE *out)
{
	static const struct table_column columns[COMPARISON_COLUMNS] = {
		{"OPERATION", false}, {"", false}, {"A", true}, {"B", true}, {"B/A", true},
	};
	_cleanup_(cleanup_table_destroy) struct table *table = NULL;
	int r = table_create(columns, COMPARISON_COLUMNS, &table);

	if (r == 0)
		r = compare(a, b, add_rows, table);
	if (r < 0)
		return r;
	fputs("A  ", out);
	report_print_head(a, out);
	fputs("B  ", out);
	report_print_head(b, out);
	fputc('\n', out);
	return table_print(table, out);
}

static int put_ratios(void *context, enum operation operation, const struct metric *a,
		      const struct metric *b)
{
	struct json *json = context;

	json_object_begin(json, NULL);
	json_string(json, "operation", operation_name(operation));
	for (unsigned i = 0; i < METRICS; i++)
		json_double(json, a[i].name, ratio(&a[i], &b[i]), 4);
	json_object_end(json);
	return 0;
}

int report_json_comparison(const struct report *a, const struct report *b, struct json *json)
{
	int r;

	json_object_begin(json, NULL);
	report_json(a, json, "a");
	report_json(b, json, "b");
	json_array_begin(json, "ratios");
	r = compare(a, b, put_ratios, json);
	json_array_end(json);
	json_object_end(json);
	return r;
}
