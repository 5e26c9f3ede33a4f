/* SPDX-License-Identifier: MIT */
#include "export.h"

#include "cli.h"
#include "filter_args.h"
#include "reading.h"

#include <argp.h>
#include <string.h>

static const struct export_format formats[] = {
	{"blktrace", "the kernel's records, as blktrace writes them: files NAME.blktrace.CPU",
	 export_blktrace},
	{"jsonl", "JSON, one object a line; the first one is a header with units", export_jsonl},
	{"csv", "comma-separated values (RFC 4180), one row an event", export_csv},
	{"ctf", "Common Trace Format 1.8, for babeltrace2 and Trace Compass: a folder", export_ctf},
	{"perfetto", "Chrome trace JSON, for ui.perfetto.dev: a slice for each I/O",
	 export_perfetto},
	{"sqlite", "a SQLite database: events, ios, devices, processes, losses, views",
	 export_sqlite},
};

enum {
	N_FORMATS = sizeof(formats) / sizeof(formats[0])
};

int export_events(const struct export_options *options, struct recording *recording,
		  struct sink *sink, struct why *why)
{
	return reading_pump("export", recording, &options->filter, sink, true, why);
}

enum {
	KEY_MERGED = 0x100,
	KEY_PROTOCOL,
	KEY_FORCE
};

static const struct argp_option option_list[] = {
	{"format", 'f', "FORMAT", 0, "Output format, see below (blktrace)", 0},
	{"output", 'o', "PATH", 0,
	 "Where to write; - is standard output where the format is one stream", 0},
	{"force", KEY_FORCE, NULL, 0, "Overwrite what exists", 0},
	{NULL, 0, NULL, 0, "For --format blktrace:", 1},
	{"merged", KEY_MERGED, NULL, 0, "One stream in order of time, for btt, fio and iowatcher",
	 1},
	{"protocol", KEY_PROTOCOL, "1|2", 0,
	 "Write all records in this version: blkparse, btt and fio read only 1", 1},
	{0},
};

static const struct export_format *find_format(const char *name)
{
	for (size_t i = 0; i < N_FORMATS; i++) {
		if (!strcmp(formats[i].name, name))
			return &formats[i];
	}
	return NULL;
}

static error_t parse_option(int key, char *argument, struct argp_state *state)
{
	struct export_options *options = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &options->filter;
		return 0;
	case 'f':
		options->format = find_format(argument);
		if (!options->format)
			argp_error(state, "there is no format '%s'", argument);
		return 0;
	case 'o':
		options->output = output_argument(argument, state);
		return 0;
	case KEY_FORCE:
		options->force = true;
		return 0;
	case KEY_MERGED:
		options->merged = true;
		return 0;
	case KEY_PROTOCOL:
		if (strcmp(argument, "1") != 0 && strcmp(argument, "2") != 0)
			argp_error(state, "--protocol is 1 or 2, not '%s'", argument);
		options->protocol = argument[0] - '0';
		return 0;
	case ARGP_KEY_ARGS:
		options->paths = state->argv + state->next;
		options->n_paths = (size_t)(state->argc - state->next);
		return 0;
	case ARGP_KEY_NO_ARGS:
		argp_error(state, "which LOG?");
		return 0;
	case ARGP_KEY_END:
		if (options->format->run != export_blktrace &&
		    (options->merged || options->protocol))
			argp_error(state, "--merged and --protocol are for --format blktrace");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

/* Behind the options: the formats, and examples. */
static char *help_filter(int key, const char *text, void *input)
{
	char *help = NULL;
	size_t size;
	FILE *stream;

	(void)input;
	if (key != ARGP_KEY_HELP_POST_DOC)
		return (char *)text;
	stream = open_memstream(&help, &size);
	if (!stream)
		return NULL;
	fputs("Formats:\n", stream);
	for (size_t i = 0; i < N_FORMATS; i++)
		fprintf(stream, "  %-9s %s\n", formats[i].name, formats[i].summary);
	fputs(text, stream);
	fclose(stream);
	return help;
}

static const struct argp_child children[] = {{&filter_argp, 0, NULL, 10}, {0}};

static const struct argp argp = {
	.options = option_list,
	.parser = parse_option,
	.args_doc = "LOG...",
	.children = children,
	.doc = "Write a recording in another tool's format.\v"
	       "\nExamples:\n"
	       "  blkbox export trace.bb                          NAME.blktrace.CPU, as recorded\n"
	       "  blkbox export trace.bb --protocol 1 -o old/     the same for today's blkparse\n"
	       "  blkbox export trace.bb --merged --protocol 1 -o - | btt -i /dev/stdin\n"
	       "  blkbox export trace.bb -f csv -o - --action complete | less -S\n"
	       "  blkbox export trace.bb -f sqlite -o t.db && sqlite3 t.db 'SELECT * FROM "
	       "slowest_ios LIMIT 9'\n",
	.help_filter = help_filter,
};

int cmd_export(int argc, char **argv)
{
	_cleanup_(cleanup_recording_close) struct recording *recording = NULL;
	struct export_options options = {.format = &formats[0]};
	struct why why = {""};
	int status;

	parse_arguments(&argp, argc, argv, 0, &options);
	status = reading_open("export", options.paths, options.n_paths, &recording);
	if (status != STATUS_OK)
		return status;
	if (filter_resolve(&options.filter, recording, &why) < 0) {
		status = failed("export", &why);
	} else {
		reading_hold_signals();
		status = options.format->run(&options, recording);
	}
	filter_deinit(&options.filter);
	return status != STATUS_OK ? status : reading_status("export", recording);
}
