/* SPDX-License-Identifier: MIT */
#include "stall_report.h"

#include "cli.h"
#include "filter_args.h"
#include "grow.h"
#include "iso_time.h"
#include "number.h"
#include "progress.h"
#include "reading.h"
#include "stall_inputs.h"

#include "stall_tables.h"

#include <inttypes.h>
#include <string.h>

enum {
	KEY_AT = 0x100,
	KEY_WINDOW,
	KEY_THRESHOLD,
	KEY_LOG,
	SHOWN = 5,	  /* stalls that are told in full */
	STALLS_MAX = 500, /* the longest ones that are kept */
	WINDOW_MAX_S = 60,
};

/* Seconds above this are since 1970: no machine runs for 30 years. */
#define EPOCH_MIN_NS UINT64_C(1000000000000000000)

static const char name[] = "stall report";

struct report_args {
	struct stall_finder_options options;
	char **paths, **logs;
	size_t n_paths, n_logs;
	bool json;
};

struct stalls {
	struct stall_event *items;
	size_t n;
	uint64_t all;
};

static const struct argp_option option_list[] = {
	{"at", KEY_AT, "TIME", 0,
	 "What was at this time: 2026-11-30T15:48:36Z, or seconds of either clock", 1},
	{"window", KEY_WINDOW, "TIME", 0,
	 "The lead-in of a stall; with --at, before and behind it (default 2s)", 1},
	{"threshold", KEY_THRESHOLD, "TIME", 0,
	 "A process was blocked for this long (default 100ms)", 1},
	{"log", KEY_LOG, "LOG", 0,
	 "Beside this recording of the block layer: which requests were in flight", 2},
	{"json", 'j', NULL, 0, "Print JSON: all stalls, in full", 3},
	{0},
};

static uint64_t parse_duration(const char *option, const char *text, uint64_t max_ns,
			       struct argp_state *state)
{
	struct why why = {""};
	uint64_t ns = 0;

	if (duration_parse(text, &ns, &why) < 0)
		argp_error(state, "%s: %s", option, why.text);
	if (!ns || ns > max_ns)
		argp_error(state, "%s: '%s' is not from 1ns to %" PRIu64 "s", option, text,
			   max_ns / 1000000000);
	return ns;
}

static void set_at(struct report_args *args, const char *text, struct argp_state *state)
{
	struct moment moment = {0};
	struct why why = {""};

	if (moment_parse(text, &moment, &why) < 0)
		argp_error(state, "--at: %s", why.text);
	args->options.at = (struct stall_moment){
		.is_set = true,
		.is_wall = moment.is_wall || moment.ns >= EPOCH_MIN_NS,
		.ns = moment.ns,
	};
}

static error_t parse_option(int key, char *argument, struct argp_state *state)
{
	struct report_args *args = state->input;

	switch (key) {
	case KEY_AT:
		set_at(args, argument, state);
		return 0;
	case KEY_WINDOW:
		args->options.window_ns =
			parse_duration("--window", argument, UINT64_C(1000000000) * WINDOW_MAX_S,
				       state);
		return 0;
	case KEY_THRESHOLD:
		args->options.threshold_ns =
			parse_duration("--threshold", argument, STALL_PIECE_NS, state);
		return 0;
	case KEY_LOG:
		reading_add_path(&args->logs, &args->n_logs, argument, state);
		return 0;
	case 'j':
		args->json = true;
		return 0;
	case ARGP_KEY_ARG:
		reading_add_path(&args->paths, &args->n_paths, argument, state);
		return 0;
	case ARGP_KEY_NO_ARGS:
		argp_error(state, "which FILE?");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp argp = {
	.options = option_list,
	.parser = parse_option,
	.args_doc = "FILE...",
	.doc = "Find the stalls in the samples of 'blkbox stall': who was blocked, who wrote, what "
	       "of the kernel's own mechanisms moved.\v"
	       "FILE is CSV as 'blkbox stall' writes it, or - for standard input; files that were "
	       "rotated away (FILE.1 ...) are found. The CSV of io_stall_tracer.py is read as "
	       "well.\n\n"
	       "Examples:\n"
	       "  blkbox stall report stall.csv\n"
	       "  blkbox stall report stall.csv --at 2026-11-30T15:48:36.5Z --window 5s\n"
	       "  blkbox stall report stall.csv --log sda.blkbox\n"
	       "  blkbox stall report stall.csv --threshold 500ms --json | jq .stalls[].victims\n",
};

/* The shortest one gives way. */
static int keep(void *context, const struct stall_event *stall)
{
	struct stalls *stalls = context;
	struct stall_event *items;
	size_t shortest = 0;

	stalls->all++;
	if (stalls->n < STALLS_MAX) {
		items = grow_list(stalls->items, stalls->n, sizeof(*items));
		if (!items)
			return -ENOMEM;
		stalls->items = items;
		items[stalls->n++] = *stall;
		return 0;
	}
	for (size_t i = 1; i < stalls->n; i++) {
		if (stall_longest_ms(&stalls->items[i]) <
		    stall_longest_ms(&stalls->items[shortest]))
			shortest = i;
	}
	if (stall_longest_ms(stall) <= stall_longest_ms(&stalls->items[shortest]))
		return 0;
	items = &stalls->items[shortest];
	memmove(items, items + 1, (stalls->n - shortest - 1) * sizeof(*items));
	stalls->items[stalls->n - 1] = *stall;
	return 0;
}

/* What rows go into. */
struct reader {
	struct stall_finder *finder;
	struct progress progress;
};

static int take_row(void *context, const struct stall_row *row)
{
	struct reader *reader = context;

	progress_step(&reader->progress);
	return stall_finder_row(reader->finder, row);
}

static int read_inputs(struct stall_inputs *inputs, struct stall_finder *finder, struct why *why)
{
	struct reader reader = {.finder = finder};
	int r = 0;

	progress_init(&reader.progress, &(struct recording_info){0});
	reader.progress.unit = "rows";
	for (size_t i = 0; i < inputs->n && r == 0; i++) {
		if (!inputs->items[i].follows)
			r = stall_finder_break(finder);
		if (r == 0)
			r = stall_input_read(&inputs->items[i], take_row, &reader, why);
	}
	progress_end(&reader.progress);
	if (r == 0)
		r = stall_finder_finish(finder);
	return r < 0 && !*why->text ? why_set(why, r, "no memory") : r;
}

static void tell(const struct why *why)
{
	fprintf(stderr, "blkbox %s: ", name);
	put_sentence(stderr, why->text);
}

/* Tells what is wrong with the files. */
static int inputs_status(const struct stall_inputs *inputs)
{
	int status = STATUS_OK;

	for (size_t i = 0; i < inputs->n; i++) {
		const struct stall_csv_health *health = &inputs->items[i].health;
		struct why why;

		if (health->damaged) {
			why_set(&why, 0,
				"%s: %" PRIu64 " of %" PRIu64
				" rows are damaged and were left out; the first is in line %" PRIu64
				": %s",
				inputs->items[i].path, health->damaged,
				health->damaged + health->rows, health->first_damaged_line,
				health->first_fault.text);
			tell(&why);
			status = STATUS_INCOMPLETE;
		}
		if (health->cut_line) {
			why_set(&why, 0, "%s was cut off in the middle of line %" PRIu64,
				inputs->items[i].path, health->cut_line);
			tell(&why);
			status = STATUS_INCOMPLETE;
		}
	}
	return status;
}

/* -ENODATA if there is nothing to report of. */
static int check_found(const struct report_args *args, const struct stall_finder *finder,
		       struct why *why)
{
	const struct stall_summary *s = stall_finder_summary(finder);

	if (!s->ticks)
		return why_set(why, -ENODATA, "there is not one row of samples");
	if (!args->options.at.is_set || stall_finder_has_moment(finder))
		return 0;
	if (!args->options.at.is_wall)
		return why_set(
			why, -ENODATA,
			"--at: there is no sample of that time; they are from %.3f to %.3f s "
			"of the monotonic clock",
			(double)s->first_ns / 1e9, (double)s->last_ns / 1e9);
	return why_set(why, -ENODATA,
		       "--at: there is no sample of that time; they are from %s to %s",
		       iso_time_format(s->first_wall_ns, 3).text,
		       iso_time_format(s->last_wall_ns, 3).text);
}

static int print(const struct report_args *args, const struct stall_report *report)
{
	_cleanup_(out_deinit) struct out out = {0};
	struct json json;

	if (!args->json) {
		stall_report_print(report, SHOWN, stdout);
		return STATUS_OK;
	}
	if (out_init(&out, STDOUT_FILENO, OUT_BUFFER_BYTES) < 0) {
		message("stall report: no memory");
		return STATUS_FAILED;
	}
	json_init(&json, &out, false);
	stall_report_json(report, &json);
	json_finish(&json);
	return finish_out(name, &out, STATUS_OK);
}

/* With the recording beside the stalls, if one was given. */
static int report_stalls(const struct report_args *args, const struct stalls *stalls,
			 struct stall_report *report)
{
	_cleanup_(cleanup_recording_close) struct recording *recording = NULL;
	_cleanup_free_ struct stall_requests *requests = NULL;
	struct why why = {""};
	int status, printed;

	if (!args->n_logs)
		return print(args, report);
	status = reading_open(name, args->logs, args->n_logs, &recording);
	if (status != STATUS_OK)
		return status;
	requests = calloc(stalls->n ? stalls->n : 1, sizeof(*requests));
	if (!requests)
		why_set(&why, -ENOMEM, "no memory");
	if (!requests || stall_join(recording, stalls->items, stalls->n, requests, &why) < 0)
		return failed(name, &why);
	report->log = args->logs[0];
	report->recording = recording;
	report->requests = requests;
	status = reading_status(name, recording);
	printed = print(args, report);
	return printed != STATUS_OK ? printed : status;
}

static int run(const struct report_args *args, struct stall_inputs *inputs, struct stalls *stalls)
{
	_cleanup_(cleanup_stall_finder_destroy) struct stall_finder *finder = NULL;
	_cleanup_free_ struct stall_file *files = calloc(inputs->n, sizeof(*files));
	struct stall_report report = {.options = &args->options, .files = files};
	struct why why = {""};
	int status, reported;

	if (!files || stall_finder_create(&args->options, keep, stalls, &finder) < 0) {
		why_set(&why, -ENOMEM, "no memory");
		return failed(name, &why);
	}
	if (read_inputs(inputs, finder, &why) < 0 || check_found(args, finder, &why) < 0)
		return failed(name, &why);
	for (size_t i = 0; i < inputs->n; i++)
		files[i] = (struct stall_file){inputs->items[i].path, inputs->items[i].health};
	report.n_files = inputs->n;
	report.summary = stall_finder_summary(finder);
	report.stalls = stalls->items;
	report.n = stalls->n;
	report.all = stalls->all;
	status = inputs_status(inputs);
	reported = report_stalls(args, stalls, &report);
	return reported != STATUS_OK ? reported : status;
}

int command_stall_report(int argc, char **argv)
{
	struct report_args args = {
		.options = {.threshold_ns = 100000000, .window_ns = 2000000000},
	};
	struct stall_inputs inputs = {0};
	struct stalls stalls = {0};
	int status = STATUS_FAILED;

	argv[0] = (char *)name;
	parse_arguments(&argp, argc, argv, 0, &args);
	if (stall_inputs_init(&inputs, args.paths, args.n_paths) < 0)
		message("stall report: no memory");
	else
		status = run(&args, &inputs, &stalls);
	stall_inputs_deinit(&inputs);
	free(stalls.items);
	free(args.paths);
	free(args.logs);
	return status;
}
