/* SPDX-License-Identifier: MIT */
#include "text_args.h"

#include "letters.h"

enum {
	KEY_LEGEND = 0x300
};

static const struct argp_option options[] = {
	{NULL, 0, NULL, 0, "How they are shown:", 5},
	{"format", 'f', "FORMAT", 0, "Format of a line, for all actions; \\n ends a line", 5},
	{"format-spec", 'F', "ACTION,FORMAT", 0, "Format of a line, for one action", 5},
	{"track-ios", 't', NULL, 0, "Show how long each I/O was in its stages", 5},
	{"per-program-stats", 's', NULL, 0, "At the end, counters of each process", 5},
	{"hash-by-name", 'h', NULL, 0, "With -s, processes of one name are one", 5},
	{"quiet", 'q', NULL, 0, "No summary of devices and CPUs at the end", 5},
	{"legend", KEY_LEGEND, NULL, 0, "Explain all letters", 5},
	{0},
};

static void add_format(struct text_args *args, int key, const char *text, struct argp_state *state)
{
	struct why why = {"no memory"};
	int r = args->formats ? 0 : text_formats_create(&args->formats);

	if (r == 0)
		r = key == 'f' ? text_formats_all(args->formats, text, &why)
			       : text_formats_one(args->formats, text, &why);
	if (r < 0)
		argp_error(state, "-%c: %s", key, why.text);
	args->options.formats = args->formats;
}

static error_t parse_option(int key, char *argument, struct argp_state *state)
{
	struct text_args *args = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		args->options.summary = true;
		return 0;
	case 'f':
	case 'F':
		add_format(args, key, argument, state);
		return 0;
	case 't':
		args->options.track = true;
		return 0;
	case 's':
		args->options.per_process = true;
		return 0;
	case 'h':
		args->options.by_name = true;
		return 0;
	case 'q':
		args->options.summary = false;
		return 0;
	case KEY_LEGEND:
		args->legend = true;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

const struct argp text_argp = {.options = options, .parser = parse_option};

void text_args_deinit(struct text_args *args)
{
	text_formats_destroy(args->formats);
}

void text_args_print_legend(void)
{
	printf("%s\n%s", letters_legend, text_format_legend);
}
