/* SPDX-License-Identifier: MIT */
/**
 * @file
 * A histogram of any 64-bit values (latencies, distances) whose quantiles are at most 0.8 % off.
 *
 * Log-linear: values below 64 are exact, every power of two above is cut into 64 equal buckets.
 * Count, sum, least and greatest are exact. A power of two takes memory once it has a value.
 */
#ifndef BLKBOX_BASE_HISTOGRAM_H
#define BLKBOX_BASE_HISTOGRAM_H

#include "cleanup.h"

#include <stdbool.h>
#include <stdint.h>

enum {
	HISTOGRAM_OCTAVE_BITS = 6,
	HISTOGRAM_OCTAVE_BUCKETS = 1 << HISTOGRAM_OCTAVE_BITS,
	HISTOGRAM_OCTAVES = 59,
};

struct histogram {
	uint64_t n;
	uint64_t min;
	uint64_t max;
	unsigned __int128 sum;
	unsigned __int128 sum_of_squares;
	uint64_t *octaves[HISTOGRAM_OCTAVES]; /* NULL = empty */
};

/** All zero is an empty histogram. */
void histogram_deinit(struct histogram *histogram);

/** A value and its place, which is the same in every histogram. */
struct histogram_point {
	unsigned __int128 square;
	uint64_t value;
	uint8_t octave; /* 0: values below 64; k: those from 64 << (k - 1) on */
	uint8_t bucket; /* of the octave: in steps of 1 << (k - 1) */
};

/** For one value that goes into several histograms. */
static inline struct histogram_point histogram_point(uint64_t value)
{
	unsigned bits = 64 - (unsigned)__builtin_clzll(value | (HISTOGRAM_OCTAVE_BUCKETS - 1));
	unsigned octave = value < HISTOGRAM_OCTAVE_BUCKETS ? 0 : bits - HISTOGRAM_OCTAVE_BITS;
	unsigned shift = octave ? octave - 1 : 0;

	return (struct histogram_point){
		.square = (unsigned __int128)value * value,
		.value = value,
		.octave = (uint8_t)octave,
		.bucket = (uint8_t)(value >> shift) % HISTOGRAM_OCTAVE_BUCKETS,
	};
}

/** -ENOMEM: the value is not counted. */
int histogram_add_point(struct histogram *histogram, const struct histogram_point *point);
int histogram_add(struct histogram *histogram, uint64_t value);
/** Adds all values of @from. -ENOMEM: some may be missing. */
int histogram_merge(struct histogram *histogram, const struct histogram *from);

/**
 * The nearest-rank quantile: the least value for which at least the share @q (0 to 1) of all values
 * is not greater, as the middle of its bucket. 0 if there are no values.
 */
uint64_t histogram_quantile(const struct histogram *histogram, double q);
double histogram_mean(const struct histogram *histogram);
/** Standard deviation of all values (of a population, not of a sample). */
double histogram_stdev(const struct histogram *histogram);

/** A bucket that is not empty. */
struct histogram_bucket {
	uint64_t from; /* the least value that belongs here */
	uint64_t to;   /* the greatest */
	uint64_t n;
};

/**
 * The first bucket at or behind position @at that is not empty: true, and @ret is set and @at is
 * behind it. Start with *@at = 0.
 */
bool histogram_next(const struct histogram *histogram, unsigned *at, struct histogram_bucket *ret);

#endif
