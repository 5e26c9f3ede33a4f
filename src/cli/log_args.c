/* SPDX-License-Identifier: MIT */
#include "info.h"

#include "cli.h"

#include <argp.h>

static error_t parse_option(int key, char *argument, struct argp_state *state)
{
	struct log_args *args = state->input;

	switch (key) {
	case 'j':
		args->json = true;
		return 0;
	case ARGP_KEY_ARG:
		if (args->path)
			argp_error(state, "one LOG at a time; '%s' is too many", argument);
		args->path = argument;
		return 0;
	case ARGP_KEY_NO_ARGS:
		argp_error(state, "which LOG?");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

void log_args_parse(int argc, char **argv, const char *doc, struct log_args *ret)
{
	static const struct argp_option options[] = {
		{"json", 'j', NULL, 0, "Print JSON", 0},
		{0},
	};
	const struct argp argp = {
		.options = options,
		.parser = parse_option,
		.args_doc = "LOG",
		.doc = doc,
	};

	*ret = (struct log_args){0};
	parse_arguments(&argp, argc, argv, 0, ret);
}
