/* SPDX-License-Identifier: MIT */
#include "report.h"

#include "cli.h"
#include "filter_args.h"
#include "number.h"
#include "progress.h"
#include "reading.h"
#include "report_html.h"

#include <string.h>

/* The command's arguments. */
struct report_args {
	struct filter filter;
	unsigned sections;
	size_t slow;
	size_t failed;
	bool json;
	bool with_losses;
	char *other;
	char *html;
	bool force;
	char **paths;
	size_t n_paths;
};

/* One recording with its figures. */
struct side {
	struct recording *recording;
	struct stats *stats;
	struct report report;
	int status;
};

enum {
	KEY_BY = 0x100,
	KEY_SLOW,
	KEY_FAILED,
	KEY_STAGES,
	KEY_SEEK,
	KEY_DEPTH,
	KEY_COMPARE,
	KEY_WITH_LOSSES,
	KEY_HTML,
	KEY_FORCE,
	SIGNALS_EVERY = 10000, /* events */
	LISTED = 20,	       /* I/Os in JSON and pages, and looked for anyway */
};

static const struct argp_option option_list[] = {
	{"by", KEY_BY, "WHAT", 0,
	 "A table by process, size, cpu, cgroup, device or second; several with commas", 1},
	{"slow", KEY_SLOW, "N", 0, "The N slowest I/Os, with their stages (1000 at most)", 1},
	{"failed", KEY_FAILED, "N", 0,
	 "The first N I/Os that failed, and the N that were open longest and did not complete "
	 "(1000 at most)",
	 1},
	{"stages", KEY_STAGES, NULL, 0, "All stages of an I/O, and their shares of its time", 1},
	{"seek", KEY_SEEK, NULL, 0, "Distances between I/Os, and how many are sequential", 1},
	{"depth", KEY_DEPTH, NULL, 0, "Queue depth, busy share, idle gaps, plugs", 1},
	{"compare", KEY_COMPARE, "OTHER", 0, "Beside the recording OTHER, with ratios", 2},
	{"with-losses", KEY_WITH_LOSSES, NULL, 0,
	 "Latencies also of I/Os that lost events touch; they may be wrong", 2},
	{"json", 'j', NULL, 0, "Print JSON: everything, whatever sections are asked for", 3},
	{"html", KEY_HTML, "FILE", 0,
	 "Write a page with charts for a browser: everything, in one file; - is standard output",
	 3},
	{"force", KEY_FORCE, NULL, 0, "Overwrite FILE if it exists", 3},
	{0},
};

static const struct {
	const char *name;
	unsigned section;
} by_names[] = {
	{"process", REPORT_PROCESS}, {"size", REPORT_SIZE},	{"cpu", REPORT_CPU},
	{"cgroup", REPORT_CGROUP},   {"device", REPORT_DEVICE}, {"second", REPORT_SECOND},
};

static void add_by(struct report_args *args, const char *list, struct argp_state *state)
{
	_cleanup_free_ char *copy = strdup(list);
	char *rest = copy, *piece;

	if (!copy)
		argp_failure(state, STATUS_FAILED, ENOMEM, "no memory");
	while ((piece = strsep(&rest, ","))) {
		unsigned section = 0;

		for (size_t i = 0; i < sizeof(by_names) / sizeof(by_names[0]); i++) {
			if (!strcmp(piece, by_names[i].name))
				section = by_names[i].section;
		}
		if (!section)
			argp_error(state,
				   "--by: '%s' is none of process, size, cpu, cgroup, device, "
				   "second",
				   piece);
		args->sections |= section;
	}
}

static size_t parse_number(const char *option, const char *text, struct argp_state *state)
{
	struct why why = {""};
	uint64_t n = 0;

	if (count_parse(text, &n, &why) < 0)
		argp_error(state, "%s: %s", option, why.text);
	if (!n || n > STATS_IOS_MAX)
		argp_error(state, "%s: '%s' is not from 1 to %d", option, text, STATS_IOS_MAX);
	return n;
}

static void check_together(const struct report_args *args, struct argp_state *state)
{
	if (!args->n_paths)
		argp_error(state, "which LOG?");
	if (args->filter.n_actions)
		argp_error(state, "--action: a report is of whole I/Os, not of events");
	if (args->html && !*args->html)
		argp_error(state, "--html: the name of the output is empty");
	if (args->other && (args->sections || ((args->slow || args->failed) && !args->json)))
		argp_error(state, "--compare is by operation: --by, --slow, --failed, --stages, "
				  "--seek and --depth do not go with it");
	if (args->html && args->json)
		argp_error(state, "--html and --json do not go together");
	if (args->html && args->other)
		argp_error(state, "--html and --compare do not go together");
	if (args->force && !args->html)
		argp_error(state, "--force is for --html");
}

static error_t parse_option(int key, char *argument, struct argp_state *state)
{
	struct report_args *args = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &args->filter;
		return 0;
	case KEY_BY:
		add_by(args, argument, state);
		return 0;
	case KEY_SLOW:
		args->slow = parse_number("--slow", argument, state);
		return 0;
	case KEY_FAILED:
		args->failed = parse_number("--failed", argument, state);
		return 0;
	case KEY_STAGES:
		args->sections |= REPORT_STAGES;
		return 0;
	case KEY_SEEK:
		args->sections |= REPORT_SEEK;
		return 0;
	case KEY_DEPTH:
		args->sections |= REPORT_DEPTH;
		return 0;
	case KEY_COMPARE:
		args->other = argument;
		return 0;
	case KEY_WITH_LOSSES:
		args->with_losses = true;
		return 0;
	case 'j':
		args->json = true;
		return 0;
	case KEY_HTML:
		args->html = argument;
		return 0;
	case KEY_FORCE:
		args->force = true;
		return 0;
	case ARGP_KEY_ARG:
		reading_add_path(&args->paths, &args->n_paths, argument, state);
		return 0;
	case ARGP_KEY_END:
		check_together(args, state);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp_child children[] = {{&filter_io_argp, 0, NULL, 10}, {0}};

static const struct argp argp = {
	.options = option_list,
	.parser = parse_option,
	.args_doc = "LOG...",
	.children = children,
	.doc = "Tell how the devices behaved: throughput, latencies, the slowest I/Os, who "
	       "waited.\v"
	       "LOG is a blkbox log, the base name or any file of a blktrace set, a stream of "
	       "blktrace "
	       "records, or - for standard input. Several LOGs are put in line by wall clock. The "
	       "filters select I/Os by the process that queued them, and by when they began.\n\n"
	       "Examples:\n"
	       "  blkbox report nvme0n1.blkbox\n"
	       "  blkbox report nvme0n1.blkbox --by process,size --slow 20\n"
	       "  blkbox report before.blkbox --compare after.blkbox\n"
	       "  blkbox report nvme0n1.blkbox --html nvme0n1.html\n"
	       "  blkbox report sda.blkbox --operation read --json | jq .devices[].all.latency\n",
};

static int read_events(struct side *side, struct why *why)
{
	struct progress progress;
	struct merge_item item;
	uint64_t n = 0;
	int r;

	progress_init(&progress, recording_info(side->recording));
	while ((r = recording_next(side->recording, &item, why)) > 0) {
		r = stats_event(side->stats, &item);
		if (r < 0) {
			r = why_set(why, r, "no memory");
			break;
		}
		progress_step(&progress);
		/* Held for a page only, which is half written. */
		if (++n % SIGNALS_EVERY == 0 && reading_check_signals(why) < 0) {
			r = -EINTR;
			break;
		}
	}
	progress_end(&progress);
	if (r == 0 && stats_finish(side->stats) < 0)
		r = why_set(why, -ENOMEM, "no memory");
	return r;
}

static void side_deinit(struct side *side)
{
	stats_destroy(side->stats);
	recording_close(side->recording);
}

static int side_open(struct side *side, struct report_args *args, char *const *paths, size_t n)
{
	struct why why = {""};
	int status = reading_open("report", paths, n, &side->recording);

	if (status == STATUS_OK && filter_resolve(&args->filter, side->recording, &why) < 0)
		status = failed("report", &why);
	side->report.name = paths[0];
	return status;
}

/* Completions of nothing are no I/Os that were asked for: whose they are is not known. */
static bool has_begun(const struct stats_group *group)
{
	uint64_t ended = 0;

	for (int i = 0; i < TRACK_ENDS; i++)
		ended += group->ended[i] + group->ended_requests[i];
	return group->queued || group->issued || group->ios || group->errors || ended;
}

static bool has_ios(const struct stats_result *result)
{
	for (size_t i = 0; i < result->n_devices; i++) {
		for (unsigned o = 0; o < OPERATION_COUNT; o++) {
			const struct stats_group *group = result->devices[i].operations[o];

			if (group && has_begun(group))
				return true;
		}
	}
	return false;
}

static bool has_impossible(const struct stats_result *result)
{
	for (size_t i = 0; i < result->n_devices; i++) {
		if (result->devices[i].impossible)
			return true;
	}
	return false;
}

/* STATUS_OK if the figures are there; what is wrong with the recording is in @side->status. */
static int side_read(struct side *side, const struct report_args *args)
{
	const struct stats_options options = {
		.filter = &args->filter,
		.slowest = args->slow > LISTED ? args->slow : LISTED,
		.failed = args->failed > LISTED ? args->failed : LISTED,
		.with_losses = args->with_losses,
	};
	bool is_listed = args->json || args->html;
	struct why why = {""};

	if (stats_create(&options, side->recording, &side->stats) < 0) {
		why_set(&why, -ENOMEM, "no memory");
		return failed("report", &why);
	}
	if (read_events(side, &why) < 0)
		return failed("report", &why);
	side->status = reading_status("report", side->recording);
	if (recording_info(side->recording)->events && filter_is_set(&args->filter) &&
	    !has_ios(stats_result(side->stats)))
		put_safely(stderr, "blkbox report: no I/O in %s is one of those asked for\n",
			   side->report.name);
	if (side->status == STATUS_OK && has_impossible(stats_result(side->stats))) {
		message("report: %s has events of sectors that no device has, which are left out: "
			"it is damaged",
			side->report.name);
		side->status = STATUS_INCOMPLETE;
	}
	side->report.recording = side->recording;
	side->report.result = stats_result(side->stats);
	side->report.whole = side->status == STATUS_OK;
	side->report.sections = args->sections;
	/* What programs and browsers get has a list of them anyway. */
	side->report.slow = args->slow || !is_listed ? args->slow : LISTED;
	side->report.failed = args->failed || !is_listed ? args->failed : LISTED;
	return STATUS_OK;
}

static int print_json(const struct side *a, const struct side *b)
{
	_cleanup_(out_deinit) struct out out = {0};
	struct json json;
	int r = out_init(&out, STDOUT_FILENO, OUT_BUFFER_BYTES);

	if (r < 0)
		return STATUS_FAILED;
	json_init(&json, &out, false);
	if (b)
		r = report_json_comparison(&a->report, &b->report, &json);
	else
		report_json(&a->report, &json, NULL);
	json_finish(&json);
	if (r < 0)
		message("report: no memory");
	return finish_out("report", &out, r < 0 ? STATUS_FAILED : STATUS_OK);
}

static int print(const struct report_args *args, const struct side *a, const struct side *b)
{
	int r;

	if (args->json)
		return print_json(a, b);
	r = b ? report_print_comparison(&a->report, &b->report, stdout)
	      : report_print(&a->report, stdout);
	if (r < 0)
		message("report: no memory");
	return r < 0 ? STATUS_FAILED : STATUS_OK;
}

static int run_page(struct report_args *args)
{
	_cleanup_(aside_deinit) struct aside aside = {.fd = -1};
	_cleanup_(side_deinit) struct side side = {0};
	int status;

	reading_hold_signals();
	status = side_open(&side, args, args->paths, args->n_paths);
	if (status == STATUS_OK)
		status = report_html_open(&aside, args->html, args->force, side.recording);
	if (status == STATUS_OK)
		status = side_read(&side, args);
	if (status == STATUS_OK)
		status = report_html_write(&aside, args->html, args->force, &side.report);
	return status == STATUS_OK ? side.status : status;
}

static int run(struct report_args *args)
{
	_cleanup_(side_deinit) struct side a = {0};
	_cleanup_(side_deinit) struct side b = {0};
	int status = side_open(&a, args, args->paths, args->n_paths);

	if (status == STATUS_OK)
		status = side_read(&a, args);
	if (status == STATUS_OK && args->other)
		status = side_open(&b, args, &args->other, 1);
	if (status == STATUS_OK && args->other)
		status = side_read(&b, args);
	if (status == STATUS_OK)
		status = print(args, &a, args->other ? &b : NULL);
	if (status != STATUS_OK)
		return status;
	return a.status != STATUS_OK ? a.status : b.status;
}

int cmd_report(int argc, char **argv)
{
	struct report_args args = {0};
	int status;

	parse_arguments(&argp, argc, argv, 0, &args);
	status = args.html ? run_page(&args) : run(&args);
	filter_deinit(&args.filter);
	free(args.paths);
	return status;
}
