/* SPDX-License-Identifier: MIT */
#include "histogram.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <math.h>
#include <time.h>

static struct histogram h;

static void tear_down(void)
{
	histogram_deinit(&h);
}

TestSuite(histogram, .fini = tear_down);

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static void expect_quantiles(uint64_t *values, size_t n)
{
	static const double quantiles[] = {0, 0.01, 0.5, 0.9, 0.95, 0.99, 0.999, 0.9999, 1};

	qsort(values, n, sizeof(*values), compare);
	for (size_t i = 0; i < sizeof(quantiles) / sizeof(quantiles[0]); i++) {
		size_t rank = (size_t)ceil(quantiles[i] * (double)n);
		double exact = (double)values[rank ? rank - 1 : 0];
		double found = (double)histogram_quantile(&h, quantiles[i]);

		cr_assert_leq(fabs(found - exact), 0.01 * exact, "q %g: %g, not %g", quantiles[i],
			      found, exact);
	}
}

Test(histogram, quantiles_are_within_one_percent_of_the_exact_ones)
{
	enum {
		N = 20000
	};
	static uint64_t values[N];
	unsigned seed = (unsigned)time(NULL);
	double sum = 0, squares = 0;

	printf("seed %u\n", seed);
	srand48(seed);
	for (int round = 0; round < 5; round++) {
		size_t n = round ? N : 3;

		histogram_deinit(&h);
		sum = squares = 0;
		for (size_t i = 0; i < n; i++) {
			/* From nanoseconds to minutes, each power of two alike. */
			values[i] = (uint64_t)exp2(drand48() * 9 * round);
			sum += (double)values[i];
			cr_assert_eq(histogram_add(&h, values[i]), 0);
		}
		for (size_t i = 0; i < n; i++)
			squares += pow((double)values[i] - sum / (double)n, 2);
		expect_quantiles(values, n);
		cr_assert_eq(h.min, values[0]);
		cr_assert_eq(h.max, values[n - 1]);
		cr_assert_float_eq(histogram_mean(&h), sum / n, 1e-9 * sum + 1e-9);
		cr_assert_float_eq(histogram_stdev(&h), sqrt(squares / n), 1e-6 * sum + 1e-6);
	}
}

/* STAT-HISTOGRAM: a value on each border of a bucket; the buckets sum up to n. */
Test(histogram, borders_belong_to_one_bucket)
{
	struct histogram_bucket bucket;
	uint64_t n = 0, next = 0;
	unsigned at = 0;

	for (uint64_t value = 1; value; value <<= 1) {
		histogram_add(&h, value - 1);
		histogram_add(&h, value);
	}
	histogram_add(&h, UINT64_MAX);
	while (histogram_next(&h, &at, &bucket)) {
		cr_assert(bucket.from >= next && bucket.from <= bucket.to);
		cr_assert_leq((double)(bucket.to - bucket.from), 0.016 * (double)bucket.from);
		next = bucket.to;
		n += bucket.n;
	}
	cr_assert_eq(n, 129);
	cr_assert_eq(h.n, 129);
	cr_assert_eq(h.min, 0);
	cr_assert_eq(h.max, UINT64_MAX);
	cr_assert_eq(histogram_quantile(&h, 1), UINT64_MAX);
}

Test(histogram, an_empty_one_has_nothing)
{
	struct histogram_bucket bucket;
	unsigned at = 0;

	cr_assert_not(histogram_next(&h, &at, &bucket));
	cr_assert_eq(histogram_quantile(&h, 0.5), 0);
	cr_assert_eq(histogram_mean(&h), 0);
	cr_assert_eq(histogram_stdev(&h), 0);
}

Test(histogram, merging_is_adding_all)
{
	struct histogram a = {0}, b = {0};

	for (uint64_t i = 0; i < 1000; i++)
		cr_assert_eq(histogram_add(i % 3 ? &a : &b, i * i), 0);
	cr_assert_eq(histogram_merge(&h, &a), 0);
	cr_assert_eq(histogram_merge(&h, &b), 0);
	cr_assert_eq(h.n, 1000);
	cr_assert_eq(h.min, 0);
	cr_assert_eq(h.max, 999 * 999);
	cr_assert_float_eq(histogram_mean(&h), 332833.5, 1e-6);
	cr_assert_eq(h.n, a.n + b.n);
	histogram_deinit(&a);
	histogram_deinit(&b);
}
