/* SPDX-License-Identifier: MIT */
#include "report_cut.h"

#include "log_format.h"
#include "report_parts.h"

static int by_events(const void *a, const void *b)
{
	const struct stats_device *x = *(const struct stats_device *const *)a;
	const struct stats_device *y = *(const struct stats_device *const *)b;

	if (x->events != y->events)
		return (x->events < y->events) - (x->events > y->events);
	return (x > y) - (x < y);
}

static int by_place(const void *a, const void *b)
{
	const struct stats_device *x = *(const struct stats_device *const *)a;
	const struct stats_device *y = *(const struct stats_device *const *)b;

	return (x > y) - (x < y);
}

/* The busiest ones, in their order. */
static int choose_devices(const struct stats_result *all, size_t max,
			  const struct stats_device ***ret, size_t *ret_n)
{
	const struct stats_device **chosen = calloc(all->n_devices + 1, sizeof(void *));
	size_t n = all->n_devices < max ? all->n_devices : max;

	if (!chosen)
		return -ENOMEM;
	for (size_t i = 0; i < all->n_devices; i++)
		chosen[i] = &all->devices[i];
	qsort(chosen, all->n_devices, sizeof(void *), by_events);
	qsort(chosen, n, sizeof(void *), by_place);
	*ret = chosen;
	*ret_n = n;
	return 0;
}

static int cut_devices(struct cut *cut, const struct stats_result *all,
		       const struct report_limits *limits)
{
	_cleanup_free_ const struct stats_device **chosen = NULL;
	size_t n = 0, series = 0;
	int r = choose_devices(all, limits->devices, &chosen, &n);

	cut->result.devices = r < 0 ? NULL : calloc(n + 1, sizeof(struct stats_device));
	if (!cut->result.devices)
		return -ENOMEM;
	cut->result.n_devices = n;
	cut->facts.devices_left_out = all->n_devices - n;
	for (size_t i = 0; i < n && r == 0; i++) {
		struct stats_device *device = &cut->result.devices[i];

		*device = *chosen[i];
		device->series = (struct stats_series){0};
		if (!chosen[i]->series.n)
			continue;
		if (series++ < limits->series)
			r = stats_series_fold(&chosen[i]->series, limits->bucket_fold,
					      &device->series);
		else
			cut->facts.series_left_out++;
	}
	return r;
}

static int by_wait(const void *a, const void *b)
{
	return stats_compare_waits(*(struct stats_group *const *)a,
				   *(struct stats_group *const *)b);
}

/* Those that waited longest; all others are one. */
static int cut_groups(struct stats_groups *groups, const struct stats_groups *all, size_t max,
		      struct stats_group *others)
{
	int r = 0;

	groups->items = calloc(all->n + 1, sizeof(struct stats_group *));
	if (!groups->items)
		return -ENOMEM;
	for (size_t i = 0; i < all->n; i++)
		groups->items[i] = all->items[i];
	groups->n = all->n;
	if (all->n <= max)
		return 0;
	qsort(groups->items, all->n, sizeof(struct stats_group *), by_wait);
	others->others = true;
	for (size_t i = max - 1; i < all->n && r == 0; i++)
		r = stats_group_add(others, groups->items[i]);
	groups->items[max - 1] = others;
	groups->n = max;
	return r;
}

static int cut_all_groups(struct cut *cut, const struct stats_result *all, size_t max)
{
	const struct {
		struct stats_groups *to;
		const struct stats_groups *from;
	} kinds[CUT_KINDS] = {
		{&cut->result.sizes, &all->sizes},
		{&cut->result.processes, &all->processes},
		{&cut->result.cgroups, &all->cgroups},
		{&cut->result.cpus, &all->cpus},
	};
	int r = 0;

	/* What is not filled is not to be freed: it is the other report's. */
	for (unsigned i = 0; i < CUT_KINDS; i++)
		*kinds[i].to = (struct stats_groups){0};
	for (unsigned i = 0; i < CUT_KINDS && r == 0; i++)
		r = cut_groups(kinds[i].to, kinds[i].from, max, &cut->others[i]);
	return r;
}

static bool is_kept(const struct stats_result *result, const struct recording_loss *loss)
{
	for (size_t i = 0; i < result->n_devices; i++) {
		const struct stats_device *device = &result->devices[i];

		if (device->tag == loss->tag && (!loss->device || loss->device == device->device))
			return true;
	}
	return false;
}

/* Into the last window of the same device, if it is nearer than @gap_ns. */
static bool join(struct recording_loss *losses, size_t n, const struct recording_loss *loss,
		 uint64_t gap_ns)
{
	while (n--) {
		struct recording_loss *last = &losses[n];

		if (last->tag != loss->tag || last->device != loss->device)
			continue;
		if (loss->from_ns > last->to_ns && loss->from_ns - last->to_ns > gap_ns)
			return false;
		last->to_ns = loss->to_ns > last->to_ns ? loss->to_ns : last->to_ns;
		last->count += loss->count;
		if (last->cpu != loss->cpu)
			last->cpu = LOG_NO_CPU;
		return true;
	}
	return false;
}

static int cut_losses(struct cut *cut, size_t max)
{
	const struct stats_result *result = &cut->result;
	const struct recording_loss *all = result->losses;
	size_t n_all = result->n_losses, n = 0;
	uint64_t gap_ns = n_all <= max ? 0
				       : (result->to_ns - result->from_ns) /
						 (max / (2 * result->n_devices + 1) + 1);

	cut->losses = calloc(n_all + 1, sizeof(*cut->losses));
	if (!cut->losses)
		return -ENOMEM;
	for (size_t i = 0; i < n_all; i++) {
		if (!is_kept(result, &all[i]))
			continue;
		if (n_all <= max || !join(cut->losses, n, &all[i], gap_ns))
			cut->losses[n++] = all[i];
	}
	cut->facts.losses = cut->losses;
	cut->facts.n_losses = n;
	return 0;
}

int cut_create(const struct report *report, const struct report_limits *limits, struct cut **ret)
{
	_cleanup_(cleanup_cut_destroy) struct cut *cut = calloc(1, sizeof(*cut));
	int r;

	if (!cut)
		return -ENOMEM;
	cut->report = *report;
	cut->result = *report->result;
	cut->result.devices = NULL;
	cut->report.result = &cut->result;
	cut->report.cut = &cut->facts;
	cut->facts.bucket_fold = limits->bucket_fold;
	cut->facts.groups_max = limits->groups;
	if (report->slow > limits->slow)
		cut->report.slow = limits->slow;
	if (report->failed > limits->slow)
		cut->report.failed = limits->slow;
	r = cut_all_groups(cut, report->result, limits->groups);
	if (r == 0)
		r = cut_devices(cut, report->result, limits);
	if (r == 0)
		r = cut_losses(cut, limits->losses);
	if (r == 0)
		*ret = take_ptr(cut);
	return r;
}

void cut_destroy(struct cut *cut)
{
	if (!cut)
		return;
	for (size_t i = 0; cut->result.devices && i < cut->result.n_devices; i++)
		stats_series_deinit(&cut->result.devices[i].series);
	free(cut->result.devices);
	free(cut->result.sizes.items);
	free(cut->result.processes.items);
	free(cut->result.cgroups.items);
	free(cut->result.cpus.items);
	for (unsigned i = 0; i < CUT_KINDS; i++)
		stats_group_deinit(&cut->others[i]);
	free(cut->losses);
	free(cut);
}
