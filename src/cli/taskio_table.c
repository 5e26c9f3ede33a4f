/* SPDX-License-Identifier: MIT */
#include "taskio_table.h"

#include "table.h"

#include <string.h>

enum {
	CELL_BYTES = 64,
	N_TRUTH_COLUMNS = 10
};

/* The same check over all repetitions. */
struct row {
	const struct check *check; /* of the first that has it */
	int64_t least, most;
	enum verdict_state worst;
	unsigned n;
};

static const struct check *find_check(const struct observation *observation,
				      const struct check *like)
{
	for (size_t i = 0; i < observation->n_checks; i++) {
		const struct check *check = &observation->checks[i];

		if (check->counter == like->counter && !strcmp(check->subject, like->subject))
			return check;
	}
	return NULL;
}

static bool is_worse(enum verdict_state a, enum verdict_state b)
{
	static const int rank[] = {
		[VERDICT_MET] = 0,
		[VERDICT_UNDECIDABLE] = 1,
		[VERDICT_NOT_MET] = 2,
	};

	return rank[a] > rank[b];
}

static struct row make_row(const struct taskio *taskio, size_t experiment,
			   const struct check *check)
{
	struct row row = {.check = check, .least = check->observed, .most = check->observed};

	for (size_t k = 0; k < taskio->options.repetitions; k++) {
		const struct check *other =
			find_check(taskio_observation(taskio, k, experiment), check);

		if (!other)
			continue;
		row.least = other->observed < row.least ? other->observed : row.least;
		row.most = other->observed > row.most ? other->observed : row.most;
		row.worst = is_worse(other->state, row.worst) ? other->state : row.worst;
		row.n++;
	}
	return row;
}

static int add_row(struct table *table, const char *experiment, const struct row *row)
{
	static const char *const signs[] = {"", ">= ", "<= "};
	char expected[CELL_BYTES], observed[CELL_BYTES];
	const char *cells[] = {experiment, row->check->subject,	    row->check->counter, expected,
			       observed,   verdict_name(row->worst)};

	snprintf(expected, sizeof(expected), "%s%lld", signs[row->check->relation],
		 (long long)row->check->expected);
	if (row->least == row->most)
		snprintf(observed, sizeof(observed), "%lld", (long long)row->least);
	else
		snprintf(observed, sizeof(observed), "%lld..%lld", (long long)row->least,
			 (long long)row->most);
	return table_add(table, cells);
}

static int add_experiment(struct table *table, const struct taskio *taskio, size_t experiment)
{
	const struct observation *first = taskio_observation(taskio, 0, experiment);
	const char *name = taskio->experiments[experiment]->name;
	int r = 0;

	if (first->skipped) {
		const char *cells[] = {name, NULL, NULL,
				       NULL, NULL, verdict_name(VERDICT_UNDECIDABLE)};

		return table_add(table, cells);
	}
	for (size_t i = 0; i < first->n_checks && r == 0; i++) {
		struct row row = make_row(taskio, experiment, &first->checks[i]);

		r = add_row(table, i ? NULL : name, &row);
	}
	return r;
}

static int print_checks(const struct taskio *taskio, FILE *out)
{
	static const struct table_column columns[] = {
		{"EXPERIMENT", false}, {"WHOSE", false},   {"COUNTER", false},
		{"EXPECTED", true},    {"OBSERVED", true}, {"RESULT", false},
	};
	_cleanup_(cleanup_table_destroy) struct table *table = NULL;
	int r = table_create(columns, sizeof(columns) / sizeof(columns[0]), &table);

	for (size_t i = 0; i < taskio->n_experiments && r == 0; i++)
		r = add_experiment(table, taskio, i);
	return r < 0 ? r : table_print(table, out);
}

/* What each experiment shows; and where it does not, why. */
static void print_words(const struct taskio *taskio, FILE *out)
{
	fputc('\n', out);
	for (size_t i = 0; i < taskio->n_experiments; i++) {
		const char *said = "";

		fprintf(out, "%s: %s\n", taskio->experiments[i]->name,
			taskio->experiments[i]->expectation);
		for (size_t k = 0; k < taskio->options.repetitions; k++) {
			const struct observation *observation = taskio_observation(taskio, k, i);
			const char *reason;
			enum verdict_state state = observation_verdict(observation, &reason);

			if (state != VERDICT_MET && strcmp(reason, said) != 0)
				fprintf(out, "    %s: %s\n", verdict_name(state), reason);
			said = reason ? reason : said;
		}
	}
}

static void format_factor(char *text, uint64_t device, uint64_t accounted)
{
	if (accounted)
		snprintf(text, CELL_BYTES, "%.3f", (double)device / (double)accounted);
	else
		snprintf(text, CELL_BYTES, "-");
}

static int add_window(struct table *table, const char *name, const struct io_counters *accounted,
		      const struct truth_bytes *device)
{
	const uint64_t *value = accounted->value;
	uint64_t net = value[IO_WRITE_BYTES] > value[IO_CANCELLED_WRITE_BYTES]
			       ? value[IO_WRITE_BYTES] - value[IO_CANCELLED_WRITE_BYTES]
			       : 0;
	const uint64_t numbers[] = {value[IO_READ_BYTES],    device->completed_read,
				    value[IO_WRITE_BYTES],   value[IO_CANCELLED_WRITE_BYTES],
				    device->completed_write, device->queued_metadata,
				    device->queued_readahead};
	char text[9][CELL_BYTES];
	const char *cells[] = {name,	text[0], text[1], text[7], text[2],
			       text[3], text[4], text[8], text[5], text[6]};

	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		snprintf(text[i], CELL_BYTES, "%llu", (unsigned long long)numbers[i]);
	format_factor(text[7], device->completed_read, value[IO_READ_BYTES]);
	format_factor(text[8], device->completed_write, net);
	return table_add(table, cells);
}

static int print_truth(const struct taskio *taskio, FILE *out)
{
	static const struct table_column columns[N_TRUTH_COLUMNS] = {
		{"EXPERIMENT", false},	{"READ_BYTES", true},  {"DEVICE READ", true},
		{"FACTOR", true},	{"WRITE_BYTES", true}, {"CANCELLED", true},
		{"DEVICE WRITE", true}, {"FACTOR", true},      {"METADATA", true},
		{"READAHEAD", true},
	};
	_cleanup_(cleanup_table_destroy) struct table *table = NULL;
	int r = table_create(columns, N_TRUTH_COLUMNS, &table);

	for (size_t i = 0; i < taskio->truth->n && r == 0; i++) {
		const char *name = taskio->experiments[i % taskio->n_experiments]->name;
		const char *not_made[N_TRUTH_COLUMNS] = {name};

		if (taskio->observations[i].skipped)
			r = table_add(table, not_made);
		else
			r = add_window(table, name, &taskio->observations[i].total,
				       &taskio->truth->windows[i].total);
	}
	if (r < 0)
		return r;
	fprintf(out,
		"\nThe tasks' accounts, and what %s did until all was written back, in bytes:\n\n",
		taskio->truth->recording.device);
	return table_print(table, out);
}

int taskio_print_tables(const struct taskio *taskio, FILE *out)
{
	const struct environment *environment = &taskio->environment;
	int r;

	fprintf(out, "Linux %s, %s, %s; payload %zu bytes, %u repetitions\n\n",
		environment->machine.release, environment->machine.machine,
		environment->file_system.name, taskio->options.payload_bytes,
		taskio->options.repetitions);
	r = print_checks(taskio, out);
	if (r < 0)
		return r;
	print_words(taskio, out);
	return taskio->truth ? print_truth(taskio, out) : 0;
}
