/* SPDX-License-Identifier: MIT */
#include "histogram.h"

#include <math.h>

void histogram_deinit(struct histogram *histogram)
{
	for (unsigned i = 0; i < HISTOGRAM_OCTAVES; i++)
		free(histogram->octaves[i]);
	*histogram = (struct histogram){0};
}

static uint64_t *octave_for(struct histogram *histogram, unsigned octave)
{
	if (!histogram->octaves[octave])
		histogram->octaves[octave] = calloc(HISTOGRAM_OCTAVE_BUCKETS, sizeof(uint64_t));
	return histogram->octaves[octave];
}

int histogram_add_point(struct histogram *histogram, const struct histogram_point *point)
{
	uint64_t *buckets = octave_for(histogram, point->octave);
	uint64_t value = point->value;

	if (!buckets)
		return -ENOMEM;
	buckets[point->bucket]++;
	if (!histogram->n++ || value < histogram->min)
		histogram->min = value;
	if (value > histogram->max)
		histogram->max = value;
	histogram->sum += value;
	histogram->sum_of_squares += point->square;
	return 0;
}

int histogram_add(struct histogram *histogram, uint64_t value)
{
	const struct histogram_point point = histogram_point(value);

	return histogram_add_point(histogram, &point);
}

int histogram_merge(struct histogram *histogram, const struct histogram *from)
{
	if (!from->n)
		return 0;
	/* Many have one value only. */
	if (from->n == 1)
		return histogram_add(histogram, from->min);
	for (unsigned octave = 0; octave < HISTOGRAM_OCTAVES; octave++) {
		uint64_t *buckets;

		if (!from->octaves[octave])
			continue;
		buckets = octave_for(histogram, octave);
		if (!buckets)
			return -ENOMEM;
		for (unsigned i = 0; i < HISTOGRAM_OCTAVE_BUCKETS; i++)
			buckets[i] += from->octaves[octave][i];
	}
	if (!histogram->n || from->min < histogram->min)
		histogram->min = from->min;
	if (from->max > histogram->max)
		histogram->max = from->max;
	histogram->n += from->n;
	histogram->sum += from->sum;
	histogram->sum_of_squares += from->sum_of_squares;
	return 0;
}

bool histogram_next(const struct histogram *histogram, unsigned *at, struct histogram_bucket *ret)
{
	for (unsigned i = *at; i < HISTOGRAM_OCTAVES * HISTOGRAM_OCTAVE_BUCKETS; i++) {
		unsigned octave = i / HISTOGRAM_OCTAVE_BUCKETS;
		unsigned shift = octave ? octave - 1 : 0;
		uint64_t bucket = i % HISTOGRAM_OCTAVE_BUCKETS;

		if (!histogram->octaves[octave] || !histogram->octaves[octave][bucket])
			continue;
		ret->from = (octave ? bucket + HISTOGRAM_OCTAVE_BUCKETS : bucket) << shift;
		ret->to = ret->from + ((UINT64_C(1) << shift) - 1);
		ret->n = histogram->octaves[octave][bucket];
		*at = i + 1;
		return true;
	}
	return false;
}

uint64_t histogram_quantile(const struct histogram *histogram, double q)
{
	double rank = ceil(q * (double)histogram->n);
	struct histogram_bucket bucket;
	uint64_t seen = 0, value = 0;
	unsigned at = 0;

	if (rank <= 1)
		return histogram->min;
	if (rank >= (double)histogram->n)
		return histogram->max;
	while (histogram_next(histogram, &at, &bucket)) {
		seen += bucket.n;
		value = bucket.from + (bucket.to - bucket.from) / 2;
		if ((double)seen >= rank)
			break;
	}
	if (value < histogram->min)
		value = histogram->min;
	return value > histogram->max ? histogram->max : value;
}

double histogram_mean(const struct histogram *histogram)
{
	return histogram->n ? (double)((long double)histogram->sum / (long double)histogram->n) : 0;
}

double histogram_stdev(const struct histogram *histogram)
{
	long double n = (long double)histogram->n, mean, variance;

	if (!histogram->n)
		return 0;
	mean = (long double)histogram->sum / n;
	variance = (long double)histogram->sum_of_squares / n - mean * mean;
	return variance > 0 ? (double)sqrtl(variance) : 0;
}
