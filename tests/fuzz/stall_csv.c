/* SPDX-License-Identifier: MIT */
/* Samples of stall: read whole and in small pieces, which must tell the same; then the stalls in
 * them, as text and as JSON. */
#include "fuzz.h"

#include "stall_tables.h"

#include <fcntl.h>
#include <unistd.h>

struct totals {
	uint64_t rows;
	double sum;
	struct stall_finder *finder;
};

static int take_row(void *context, const struct stall_row *row)
{
	struct totals *totals = context;

	FUZZ_CHECK(memchr(row->name, 0, sizeof(row->name)));
	FUZZ_CHECK(memchr(row->thread, 0, sizeof(row->thread)));
	totals->rows++;
	for (unsigned i = 0; i < STALL_NUMBERS; i++) {
		if (stall_row_has(row, i)) {
			FUZZ_CHECK(row->numbers[i] >= 0 && row->numbers[i] <= 1e15);
			totals->sum += row->numbers[i];
		}
	}
	return totals->finder ? stall_finder_row(totals->finder, row) : 0;
}

static struct stall_csv_health read_csv(const uint8_t *data, size_t size, size_t step,
					struct totals *totals)
{
	struct stall_csv_health health;
	struct stall_csv *csv;
	int r = 0;

	FUZZ_CHECK(stall_csv_create(take_row, totals, &csv) == 0);
	for (size_t at = 0; at < size && r == 0; at += step)
		r = stall_csv_feed(csv, data + at, size - at < step ? size - at : step);
	if (r == 0)
		r = stall_csv_finish(csv);
	FUZZ_CHECK(r == 0 || r == -EBADMSG || r == -ENODATA);
	health = *stall_csv_health(csv);
	FUZZ_CHECK(health.rows == totals->rows && health.mended <= health.rows);
	FUZZ_CHECK(!health.damaged == !health.first_damaged_line);
	FUZZ_CHECK(health.first_damaged_line <= health.lines + 1);
	stall_csv_destroy(csv);
	return health;
}

static int take_stall(void *context, const struct stall_event *stall)
{
	const struct stall_report report = {
		.stalls = stall,
		.n = 1,
		.all = 1,
		.options = &(struct stall_finder_options){.threshold_ns = 1},
		.summary = stall_finder_summary(*(struct stall_finder **)context),
	};
	FILE *null = fopen("/dev/null", "w");
	struct out out;
	struct json json;

	FUZZ_CHECK(null && stall->end_ns >= stall->start_ns);
	FUZZ_CHECK(stall->n_victims <= STALL_LIST_MAX && stall->n_victims <= stall->all_victims);
	for (size_t i = 0; i < stall->n_victims; i++) {
		const struct stall_victim *v = &stall->victims[i];
		double span_ms = (double)(v->end_ns - v->start_ns) / 1e6;

		FUZZ_CHECK(v->end_ns >= v->start_ns && v->blocked_ms >= 0);
		FUZZ_CHECK(!v->measured || v->threads_add_up || v->blocked_ms <= span_ms + 10.001);
	}
	stall_report_print(&report, 1, null);
	FUZZ_CHECK(out_init(&out, fileno(null), OUT_BUFFER_BYTES) == 0);
	json_init(&json, &out, false);
	stall_report_json(&report, &json);
	json_finish(&json);
	FUZZ_CHECK(out_flush(&out) == 0);
	out_deinit(&out);
	fclose(null);
	return 0;
}

static void find_stalls(const uint8_t *data, size_t size,
			const struct stall_finder_options *options)
{
	struct stall_finder *finder;
	struct totals totals = {0};

	FUZZ_CHECK(stall_finder_create(options, take_stall, &finder, &finder) == 0);
	totals.finder = finder;
	read_csv(data, size, size ? size : 1, &totals);
	FUZZ_CHECK(stall_finder_finish(finder) == 0);
	FUZZ_CHECK(stall_finder_summary(finder)->rows == totals.rows);
	stall_finder_destroy(finder);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct totals whole = {0}, pieces = {0};
	struct stall_csv_health a = read_csv(data, size, size ? size : 1, &whole);
	struct stall_csv_health b = read_csv(data, size, 7, &pieces);

	FUZZ_CHECK(a.rows == b.rows && a.damaged == b.damaged && a.cut_line == b.cut_line);
	FUZZ_CHECK(a.first_damaged_line == b.first_damaged_line && whole.sum == pieces.sum);
	find_stalls(data, size,
		    &(struct stall_finder_options){.threshold_ns = 20000000,
						   .window_ns = 2000000000});
	find_stalls(data, size,
		    &(struct stall_finder_options){.window_ns = 500000000,
						   .at = {true, true, 1700000004000000000}});
	return 0;
}
