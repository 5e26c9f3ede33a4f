/* SPDX-License-Identifier: MIT */
#include "cli.h"
#include "filter_args.h"
#include "record_args.h"
#include "text_args.h"

#include <string.h>

/* The command's arguments. */
struct live {
	struct filter filter;
	struct text_args text;
	char **devices;
	size_t n_devices;
	enum source_kind source;
	const char *debugfs;
};

enum {
	KEY_SOURCE = 0x100
};

static const struct argp_option option_list[] = {
	{"dev", 'd', "DEVICE", 0, "Device, as an option (may be given several times)", 1},
	{"source", KEY_SOURCE, "SOURCE", 0, "auto (default), relay or ftrace", 1},
	{"relay", 'r', "PATH", 0, "Where debugfs is mounted, if not where it is found", 1},
	{0},
};

static void add_device(struct live *live, char *name, struct argp_state *state)
{
	char **more = reallocarray(live->devices, live->n_devices + 1, sizeof(*more));

	if (!more)
		argp_failure(state, STATUS_FAILED, ENOMEM, "cannot take %s", name);
	live->devices = more;
	more[live->n_devices++] = name;
}

static error_t parse_option(int key, char *argument, struct argp_state *state)
{
	struct live *live = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &live->text;
		state->child_inputs[1] = &live->filter;
		return 0;
	case 'd':
	case ARGP_KEY_ARG:
		add_device(live, argument, state);
		return 0;
	case 'r':
		live->debugfs = argument;
		return 0;
	case KEY_SOURCE:
		if (source_kind_parse(argument, &live->source) < 0)
			argp_error(state, "--source: '%s' is none of auto, relay, ftrace",
				   argument);
		return 0;
	case ARGP_KEY_END:
		if (!live->n_devices && !live->text.legend)
			argp_error(state, "which device?");
		if (live->filter.to.is_set && !live->filter.to.is_wall && !live->filter.to.ns)
			argp_error(state, "-w: the time must be longer than 0");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp_child children[] = {{&text_argp, 0, NULL, 5},
					     {&filter_argp, 0, NULL, 10},
					     {0}};

static const struct argp argp = {
	.options = option_list,
	.parser = parse_option,
	.args_doc = "DEVICE...",
	.children = children,
	.doc = "Show what block devices do, as it happens, in blkparse's format.\v"
	       "Lines come in the order of time, about a tenth of a second late. An event that "
	       "comes "
	       "later than that all the same is marked. Nothing is written to a log, and the "
	       "device "
	       "is not flushed at the end.\n\n"
	       "Examples:\n"
	       "  blkbox live /dev/sda\n"
	       "  blkbox live sda --action D,C -w 10\n"
	       "  blkbox live nvme0n1 --process 'postgres*' -t -q\n",
};

int cmd_live(int argc, char **argv)
{
	struct live live = {0};
	struct record_args args = {.format = RECORD_TEXT, .quiet = true};
	int status = STATUS_OK;

	parse_arguments(&argp, argc, argv, 0, &live);
	args.session.devices = live.devices;
	args.session.n_devices = live.n_devices;
	args.session.source = live.source;
	args.session.trace.debugfs = live.debugfs;
	args.filter = &live.filter;
	args.text = live.text.options;
	/* Behind the last event that is wanted there is nothing to wait for. */
	if (live.filter.to.is_set && !live.filter.to.is_wall)
		args.time_limit_ns = live.filter.to.ns;
	if (live.text.legend)
		text_args_print_legend();
	else
		status = record_run("live", &args, argc, argv);
	filter_deinit(&live.filter);
	text_args_deinit(&live.text);
	free(live.devices);
	return status;
}
