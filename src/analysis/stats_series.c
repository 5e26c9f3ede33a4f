/* SPDX-License-Identifier: MIT */
#include "stats_private.h"

/* The least nice width (1, 2, 5, 10 ...) with which the span fits. */
static uint64_t width_for(uint64_t span_ns)
{
	static const uint64_t steps[] = {1, 2, 5};
	uint64_t power = 1;

	for (;; power *= 10) {
		for (unsigned i = 0; i < 3; i++) {
			if (span_ns / (power * steps[i]) < STATS_BUCKETS_MAX)
				return power * steps[i];
		}
	}
}

static int allocate(struct stats_series *series, size_t n)
{
	series->buckets = calloc(n, sizeof(*series->buckets));
	for (int i = 0; i < 2; i++) {
		series->heat[i] = calloc(n * STATS_HEAT_ROWS, sizeof(uint32_t));
		series->offsets[i] = calloc(n * STATS_OFFSET_ROWS, sizeof(uint32_t));
		if (!series->heat[i] || !series->offsets[i])
			return -ENOMEM;
	}
	series->n = n;
	return series->buckets ? 0 : -ENOMEM;
}

int series_create(struct stats_series *series, uint64_t from_ns, uint64_t to_ns)
{
	if (to_ns < from_ns)
		return 0;
	series->from_ns = from_ns;
	series->width_ns = width_for(to_ns - from_ns);
	series->row_sectors = 1;
	return allocate(series, (to_ns - from_ns) / series->width_ns + 1);
}

void stats_series_deinit(struct stats_series *series)
{
	free(series->buckets);
	for (int i = 0; i < 2; i++) {
		free(series->heat[i]);
		free(series->offsets[i]);
	}
	*series = (struct stats_series){0};
}

static uint64_t greater(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

void stats_bucket_add(struct stats_bucket *to, const struct stats_bucket *from)
{
	for (unsigned kind = 0; kind < SERIES_KINDS; kind++) {
		to->ios[kind] += from->ios[kind];
		to->bytes[kind] += from->bytes[kind];
	}
	to->errors += from->errors;
	to->queued += from->queued;
	to->q2c_n += from->q2c_n;
	to->q2c_sum_ns += from->q2c_sum_ns;
	to->q2c_max_ns = greater(to->q2c_max_ns, from->q2c_max_ns);
	to->d2c_n += from->d2c_n;
	to->d2c_sum_ns += from->d2c_sum_ns;
	to->d2c_max_ns = greater(to->d2c_max_ns, from->d2c_max_ns);
	to->issued_sum += from->issued_sum;
	to->open_sum += from->open_sum;
	to->trusted_ns += from->trusted_ns;
	to->busy_ns += from->busy_ns;
	to->issued_max = greater(to->issued_max, from->issued_max);
	to->open_max = greater(to->open_max, from->open_max);
}

static void add_rows(uint32_t *to, const uint32_t *from, size_t rows)
{
	for (size_t i = 0; i < rows; i++)
		to[i] += from[i];
}

int stats_series_fold(const struct stats_series *series, size_t factor, struct stats_series *ret)
{
	struct stats_series folded = {.from_ns = series->from_ns,
				      .width_ns = series->width_ns * factor,
				      .row_sectors = series->row_sectors};

	if (series->n && allocate(&folded, (series->n + factor - 1) / factor) < 0) {
		stats_series_deinit(&folded);
		return -ENOMEM;
	}
	for (size_t i = 0; i < series->n; i++) {
		size_t to = i / factor;

		stats_bucket_add(&folded.buckets[to], &series->buckets[i]);
		for (int map = 0; map < 2; map++) {
			add_rows(folded.heat[map] + to * STATS_HEAT_ROWS,
				 series->heat[map] + i * STATS_HEAT_ROWS, STATS_HEAT_ROWS);
			add_rows(folded.offsets[map] + to * STATS_OFFSET_ROWS,
				 series->offsets[map] + i * STATS_OFFSET_ROWS, STATS_OFFSET_ROWS);
		}
	}
	*ret = folded;
	return 0;
}

/* The bucket of a moment; -1 = outside. */
static ssize_t bucket_at(struct stats_series *series, uint64_t time_ns)
{
	uint64_t i = series->last;

	if (!series->n || time_ns < series->from_ns)
		return -1;
	/* A division less, mostly. */
	if (time_ns - series->from_ns - i * series->width_ns >= series->width_ns)
		i = (time_ns - series->from_ns) / series->width_ns;
	if (i >= series->n)
		return -1;
	series->last = i;
	return (ssize_t)i;
}

void series_queued(struct stats_series *series, uint64_t time_ns)
{
	ssize_t i = bucket_at(series, time_ns);

	if (i >= 0)
		series->buckets[i].queued++;
}

/* Two rows become one until the sector is in the map. */
static void widen(struct stats_series *series, uint64_t sector)
{
	while (sector / series->row_sectors >= STATS_OFFSET_ROWS) {
		for (size_t i = 0; i < 2 * series->n; i++) {
			uint32_t *rows = series->offsets[i & 1] + i / 2 * STATS_OFFSET_ROWS;

			for (unsigned row = 0; row < STATS_OFFSET_ROWS; row++) {
				uint32_t n = rows[row];

				rows[row] = 0;
				rows[row / 2] += n;
			}
		}
		series->row_sectors *= 2;
	}
}

void series_io(struct stats_series *series, const struct track_io *io)
{
	ssize_t i = bucket_at(series, io->times.completed_ns);
	int kind = io->operation == OPERATION_READ    ? SERIES_READ
		   : io->operation == OPERATION_WRITE ? SERIES_WRITE
						      : SERIES_OTHER;

	if (i < 0)
		return;
	if (io->error) {
		series->buckets[i].errors++;
		return;
	}
	series->buckets[i].ios[kind]++;
	series->buckets[i].bytes[kind] += io->bytes;
	/* A broken record may name a sector that no disk has. */
	if (kind == SERIES_OTHER || io->sector > UINT64_MAX >> 9)
		return;
	widen(series, io->sector);
	series->offsets[kind][(size_t)i * STATS_OFFSET_ROWS + io->sector / series->row_sectors]++;
}

void series_latency(struct stats_series *series, int stage, uint64_t time_ns, uint64_t latency_ns)
{
	ssize_t i = bucket_at(series, time_ns);
	struct stats_bucket *bucket;

	if (i < 0)
		return;
	bucket = &series->buckets[i];
	series->heat[stage][(size_t)i * STATS_HEAT_ROWS + stats_heat_row(latency_ns)]++;
	if (stage == 0) {
		bucket->q2c_n++;
		bucket->q2c_sum_ns += latency_ns;
		if (latency_ns > bucket->q2c_max_ns)
			bucket->q2c_max_ns = latency_ns;
	} else {
		bucket->d2c_n++;
		bucket->d2c_sum_ns += latency_ns;
		if (latency_ns > bucket->d2c_max_ns)
			bucket->d2c_max_ns = latency_ns;
	}
}

void series_depth(struct stats_series *series, uint64_t from_ns, uint64_t to_ns,
		  const struct stats_depth *depth, bool busy)
{
	ssize_t first = bucket_at(series, from_ns);

	for (ssize_t i = first; i >= 0 && i < (ssize_t)series->n && from_ns < to_ns; i++) {
		struct stats_bucket *bucket = &series->buckets[i];
		uint64_t end_ns = series->from_ns + (uint64_t)(i + 1) * series->width_ns;
		uint64_t ns = (end_ns < to_ns ? end_ns : to_ns) - from_ns;

		bucket->trusted_ns += ns;
		bucket->busy_ns += busy ? ns : 0;
		bucket->issued_sum += (double)depth->issued * (double)ns;
		bucket->open_sum += (double)depth->open * (double)ns;
		if (depth->issued > bucket->issued_max)
			bucket->issued_max = depth->issued;
		if (depth->open > bucket->open_max)
			bucket->open_max = depth->open;
		from_ns += ns;
	}
}
