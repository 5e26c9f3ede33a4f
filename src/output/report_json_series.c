/* SPDX-License-Identifier: MIT */
/* What charts and heat maps are drawn from. */
#include "report_parts.h"

/* A column of the buckets. */
#define PUT_COLUMN(json, series, key, expression)                              \
	do {                                                                   \
		json_array_begin(json, key);                                   \
		for (size_t i_ = 0; i_ < (series)->n; i_++) {                  \
			const struct stats_bucket *b = &(series)->buckets[i_]; \
			json_u64(json, NULL, expression);                      \
		}                                                              \
		json_array_end(json);                                          \
	} while (0)

static void put_means(struct json *json, const char *key, const struct stats_series *series,
		      bool open)
{
	json_array_begin(json, key);
	for (size_t i = 0; i < series->n; i++) {
		const struct stats_bucket *b = &series->buckets[i];
		double sum = open ? b->open_sum : b->issued_sum;

		json_double(json, NULL, b->trusted_ns ? sum / (double)b->trusted_ns : NAN, 3);
	}
	json_array_end(json);
}

/* Rows from @row on that are not zero, of one bucket. */
static unsigned run_of(const uint32_t *rows, unsigned row, unsigned n_rows)
{
	unsigned n = 0;

	while (row + n < n_rows && rows[row + n])
		n++;
	return n;
}

/* What is not zero, as [bucket, row, n, n of the next row ...]. */
static void put_map(struct json *json, const char *key, const uint32_t *map, size_t n,
		    unsigned n_rows)
{
	json_array_begin(json, key);
	for (size_t bucket = 0; bucket < n; bucket++) {
		const uint32_t *rows = map + bucket * n_rows;

		for (unsigned row = 0, run; row < n_rows; row += run + 1) {
			run = run_of(rows, row, n_rows);
			if (!run)
				continue;
			json_array_begin(json, NULL);
			json_u64(json, NULL, bucket);
			json_u64(json, NULL, row);
			for (unsigned i = 0; i < run; i++)
				json_u64(json, NULL, rows[row + i]);
			json_array_end(json);
		}
	}
	json_array_end(json);
}

static void put_columns(struct json *json, const struct stats_series *series)
{
	PUT_COLUMN(json, series, "queued", b->queued);
	PUT_COLUMN(json, series, "reads", b->ios[SERIES_READ]);
	PUT_COLUMN(json, series, "writes", b->ios[SERIES_WRITE]);
	PUT_COLUMN(json, series, "others", b->ios[SERIES_OTHER]);
	PUT_COLUMN(json, series, "read_bytes", b->bytes[SERIES_READ]);
	PUT_COLUMN(json, series, "write_bytes", b->bytes[SERIES_WRITE]);
	PUT_COLUMN(json, series, "other_bytes", b->bytes[SERIES_OTHER]);
	PUT_COLUMN(json, series, "errors", b->errors);
	PUT_COLUMN(json, series, "q2c_n", b->q2c_n);
	PUT_COLUMN(json, series, "q2c_sum_ns", b->q2c_sum_ns);
	PUT_COLUMN(json, series, "q2c_max_ns", b->q2c_max_ns);
	PUT_COLUMN(json, series, "d2c_n", b->d2c_n);
	PUT_COLUMN(json, series, "d2c_sum_ns", b->d2c_sum_ns);
	PUT_COLUMN(json, series, "d2c_max_ns", b->d2c_max_ns);
	PUT_COLUMN(json, series, "known_ns", b->trusted_ns);
	PUT_COLUMN(json, series, "busy_ns", b->busy_ns);
	PUT_COLUMN(json, series, "driver_max", b->issued_max);
	PUT_COLUMN(json, series, "open_max", b->open_max);
	put_means(json, "driver_mean", series, false);
	put_means(json, "open_mean", series, true);
}

void report_json_series(const struct report *report, const struct stats_series *series,
			struct json *json)
{
	if (!series->n) {
		json_null(json, "series");
		return;
	}
	json_object_begin(json, "series");
	json_u64(json, "from_ns", report_since(report, series->from_ns));
	json_u64(json, "width_ns", series->width_ns);
	json_u64(json, "buckets", series->n);
	put_columns(json, series);
	json_array_begin(json, "heat_from_ns");
	for (unsigned row = 0; row < STATS_HEAT_ROWS; row++)
		json_u64(json, NULL, stats_heat_from_ns(row));
	json_array_end(json);
	put_map(json, "q2c_heat", series->heat[0], series->n, STATS_HEAT_ROWS);
	put_map(json, "d2c_heat", series->heat[1], series->n, STATS_HEAT_ROWS);
	json_u64(json, "offset_row_sectors", series->row_sectors);
	put_map(json, "read_offsets", series->offsets[0], series->n, STATS_OFFSET_ROWS);
	put_map(json, "write_offsets", series->offsets[1], series->n, STATS_OFFSET_ROWS);
	json_object_end(json);
}
