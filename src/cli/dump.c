/* SPDX-License-Identifier: MIT */
#include "aside.h"
#include "cli.h"
#include "filter_args.h"
#include "reading.h"
#include "text_args.h"

#include <string.h>

/* The command's arguments. */
struct dump {
	struct filter filter;
	struct text_args text;
	char *output;
	bool force;
	char **paths;
	size_t n_paths;
};

enum {
	KEY_FORCE = 0x100
};

static const struct argp_option option_list[] = {
	{"input", 'i', "LOG", 0, "The same as LOG, as in blkparse", 0},
	{"output", 'o', "FILE", 0, "Write to FILE, not to standard output", 1},
	{"force", KEY_FORCE, NULL, 0, "Overwrite FILE", 1},
	{0},
};

static error_t parse_option(int key, char *argument, struct argp_state *state)
{
	struct dump *dump = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &dump->text;
		state->child_inputs[1] = &dump->filter;
		return 0;
	case 'o':
		dump->output = output_argument(argument, state);
		return 0;
	case KEY_FORCE:
		dump->force = true;
		return 0;
	case 'i':
	case ARGP_KEY_ARG:
		reading_add_path(&dump->paths, &dump->n_paths, argument, state);
		return 0;
	case ARGP_KEY_END:
		if (!dump->n_paths && !dump->text.legend)
			argp_error(state, "which LOG?");
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
	.args_doc = "LOG...",
	.children = children,
	.doc = "Show the events of a recording as text, in blkparse's format.\v"
	       "LOG is a blkbox log, the base name or any file of a blktrace set, a stream of "
	       "blktrace "
	       "records, or - for standard input. Several LOGs are put in line by wall clock.\n\n"
	       "Examples:\n"
	       "  blkbox dump trace.bb\n"
	       "  blkbox dump trace.bb -a issue -a complete -t\n"
	       "  blkbox dump trace.bb --process 'postgres*' --operation write --from 10 --to 12\n"
	       "  blkbox dump sda -f '%I %D %a %L %S+%n %C\\n'\n",
};

static int dump_to(int fd, const struct dump *dump, struct recording *recording, struct why *why)
{
	_cleanup_(cleanup_sink_destroy) struct sink *sink = NULL;
	struct scene scene;
	int r;

	scene_init_recording(&scene, recording);
	r = text_sink_create(fd, &dump->text.options, &scene, &sink);
	if (r < 0)
		return why_set(why, r, "no memory");
	return reading_pump("dump", recording, &dump->filter, sink, fd != STDOUT_FILENO, why);
}

static int dump_all(const struct dump *dump, struct recording *recording, struct why *why)
{
	_cleanup_(aside_deinit) struct aside aside = {.fd = -1};
	int r;

	if (!dump->output || !strcmp(dump->output, "-"))
		return dump_to(STDOUT_FILENO, dump, recording, why);
	reading_hold_signals();
	r = reading_open_aside(recording, dump->output, dump->force, &aside, why);
	if (r == 0)
		r = dump_to(aside.fd, dump, recording, why);
	if (r == 0)
		r = aside_commit(&aside, dump->force, why);
	return r;
}

static int run(struct dump *dump)
{
	_cleanup_(cleanup_recording_close) struct recording *recording = NULL;
	struct why why = {""};
	int status = reading_open("dump", dump->paths, dump->n_paths, &recording);
	int r;

	if (status != STATUS_OK)
		return status;
	if (filter_resolve(&dump->filter, recording, &why) < 0)
		return failed("dump", &why);
	if (dump->text.formats && text_formats_need_wall(dump->text.formats) &&
	    !recording_info(recording)->has_real)
		message("the recording does not tell the wall clock (no timestamp note on the "
			"clock of its events): '-' "
			"stands "
			"for it");
	r = dump_all(dump, recording, &why);
	if (r < 0)
		return output_failed("dump", dump->output, r, &why);
	return reading_status("dump", recording);
}

int cmd_dump(int argc, char **argv)
{
	struct dump dump = {0};
	int status = STATUS_OK;

	parse_arguments(&argp, argc, argv, 0, &dump);
	if (dump.text.legend)
		text_args_print_legend();
	else
		status = run(&dump);
	filter_deinit(&dump.filter);
	text_args_deinit(&dump.text);
	free(dump.paths);
	return status;
}
