/* SPDX-License-Identifier: MIT */
#include "cli.h"

#include "aside.h"
#include "clock.h"
#include "loop_fs.h"
#include "number.h"
#include "out.h"
#include "privileges.h"
#include "taskio_table.h"
#include "taskio_truth.h"

#include <argp.h>
#include <string.h>
#include <sys/stat.h>

enum {
	DEFAULT_REPETITIONS = 5,
	DEFAULT_MIB = 4,
	DEFAULT_TIMEOUT_S = 60,
	KEY_REPETITIONS = 0x100,
	KEY_MIB,
	KEY_TEMP_DIR,
	KEY_SUITE,
	KEY_DEVICE_TRUTH,
	KEY_TABLE,
	KEY_TIMEOUT,
};

struct taskio_args {
	struct taskio_options options;
	const char *output; /* NULL or "-": standard output */
	uint64_t timeout_ns;
	bool table;
};

static const struct argp_option option_list[] = {
	{"repetitions", KEY_REPETITIONS, "N", 0, "Make each experiment 1 to 20 times (5)", 1},
	{"mib", KEY_MIB, "MIB", 0, "Payload of an experiment, 1 to 16 MiB (4)", 1},
	{"temp-dir", KEY_TEMP_DIR, "DIR", 0,
	 "An existing directory, on the file system in question ($TMPDIR, or /tmp)", 1},
	{"suite", KEY_SUITE, "SUITE", 0, "basic (four experiments; default) or extended", 1},
	{"device-truth", KEY_DEVICE_TRUTH, "FSTYPE", OPTION_ARG_OPTIONAL,
	 "On a fresh file system (ext4, xfs or btrfs) on a loop device, which is recorded "
	 "meanwhile",
	 1},
	{"timeout", KEY_TIMEOUT, "TIME", 0, "Give up after that (60 s)", 1},
	{"output", 'o', "FILE", 0, "Write to a new FILE instead of standard output", 2},
	{"table", KEY_TABLE, NULL, 0, "Tables for people instead of JSON", 2},
	{0},
};

/* A whole number of @least to @most. */
static unsigned parse_count(struct argp_state *state, const char *option, const char *text,
			    unsigned least, unsigned most)
{
	struct why why = {""};
	uint64_t value = 0;

	if (count_parse(text, &value, &why) < 0)
		argp_error(state, "%s: %s", option, why.text);
	else if (value < least || value > most)
		argp_error(state, "%s: %s is not in %u to %u", option, text, least, most);
	return (unsigned)value;
}

static void parse_suite(struct argp_state *state, const char *text, bool *ret_extended)
{
	*ret_extended = !strcmp(text, "extended");
	if (!*ret_extended && strcmp(text, "basic") != 0)
		argp_error(state, "--suite: '%s' is neither basic nor extended", text);
}

static void parse_timeout(struct argp_state *state, const char *text, uint64_t *ret_ns)
{
	struct why why = {""};

	if (duration_parse(text, ret_ns, &why) < 0)
		argp_error(state, "--timeout: %s", why.text);
	else if (!*ret_ns)
		argp_error(state, "--timeout: there is no time at all in %s", text);
}

static const char *parse_output(struct argp_state *state, const char *path)
{
	if (!*path)
		argp_error(state, "--output: an empty name is none");
	else if (path[strlen(path) - 1] == '/')
		argp_error(state, "--output: %s is the name of a directory, not of a file", path);
	return path;
}

static error_t parse_option(int key, char *argument, struct argp_state *state)
{
	struct taskio_args *args = state->input;
	struct taskio_options *options = &args->options;

	switch (key) {
	case KEY_REPETITIONS:
		options->repetitions =
			parse_count(state, "--repetitions", argument, 1, REPETITIONS_MAX);
		return 0;
	case KEY_MIB:
		options->payload_bytes =
			(size_t)parse_count(state, "--mib", argument, 1, PAYLOAD_MIB_MAX) << 20;
		return 0;
	case KEY_TEMP_DIR:
		options->temp_dir = argument;
		return 0;
	case KEY_SUITE:
		parse_suite(state, argument, &options->extended);
		return 0;
	case KEY_DEVICE_TRUTH:
		options->truth_fs = argument ? argument : "ext4";
		if (!loop_fs_is_type(options->truth_fs))
			argp_error(state, "--device-truth: '%s' is none of ext4, xfs, btrfs",
				   options->truth_fs);
		return 0;
	case KEY_TIMEOUT:
		parse_timeout(state, argument, &args->timeout_ns);
		return 0;
	case 'o':
		args->output = parse_output(state, argument);
		return 0;
	case KEY_TABLE:
		args->table = true;
		return 0;
	case ARGP_KEY_ARG:
		argp_error(state, "'%s' is one argument too many", argument);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp argp = {
	.options = option_list,
	.parser = parse_option,
	.doc = "Measure what the kernel's per-task I/O accounting (/proc/PID/io) counts.\v"
	       "Worker processes of its own, stopped before and after, do one thing each with new "
	       "files in a private directory; their counters are read from outside. The result "
	       "is a JSON document, with each expectation: met, not met, or not decidable here, "
	       "and why.\n\n"
	       "Examples:\n"
	       "  blkbox taskio --table\n"
	       "  blkbox taskio --suite extended --temp-dir /srv/data -o accounting.json\n"
	       "  blkbox taskio --suite extended --device-truth=xfs --repetitions 1 --table\n",
};

static bool to_stdout(const struct taskio_args *args)
{
	return !args->output || !strcmp(args->output, "-");
}

static int write_to(int fd, const struct taskio_args *args, const struct taskio *taskio)
{
	_cleanup_(out_deinit) struct out out = {.fd = -1};
	_cleanup_free_ char *text = NULL;
	size_t n = 0;
	FILE *table;
	int r = out_init(&out, fd, OUT_BUFFER_BYTES);

	if (r < 0)
		return r;
	if (!args->table) {
		taskio_write_json(taskio, &out);
		return out_flush(&out);
	}
	table = open_memstream(&text, &n);
	if (!table)
		return -ENOMEM;
	r = taskio_print_tables(taskio, table);
	if (fclose(table) != 0 || r < 0)
		return -ENOMEM;
	out_bytes(&out, text, n);
	return out_flush(&out);
}

static int write_result(struct aside *aside, const struct taskio_args *args,
			const struct taskio *taskio, struct why *why)
{
	bool is_stdout = to_stdout(args);
	int r = write_to(is_stdout ? STDOUT_FILENO : aside->fd, args, taskio);

	if (r < 0)
		return why_errno(why, r, "cannot write %s",
				 is_stdout ? "to standard output" : args->output);
	return is_stdout ? 0 : aside_commit(aside, false, why);
}

static int run(const struct taskio_args *args, struct why *why, bool *ret_complete)
{
	_cleanup_(cleanup_taskio_destroy) struct taskio *taskio = NULL;
	_cleanup_(aside_deinit) struct aside aside = {.fd = -1};
	_cleanup_(watch_deinit) struct watch watch = {.signal_fd = -1, .timer_fd = -1};
	_cleanup_(taskio_truth_deinit) struct taskio_truth truth = {0};
	struct taskio_options options = args->options;
	/* What is made here is its owner's alone, and the owner's in full. */
	mode_t mask = umask(077);
	int r = watch_init(&watch, args->timeout_ns, why);

	if (r == 0 && !to_stdout(args))
		r = aside_open_unnamed(&aside, args->output, why);
	if (r < 0)
		return r;
	/* But its figures tell nothing of anybody. (What is written to where it is, is not ours.)
	 */
	if (aside.unnamed || aside.part)
		fchmod(aside.fd, 0600 | (0666 & ~mask));
	r = privileges_keep(KEEP_FOR_FILES |
				    (args->options.truth_fs ? KEEP_FOR_MOUNTS | KEEP_FOR_TRACE : 0),
			    why);
	if (r < 0)
		return r;
	taskio_truth_init(&truth);
	options.recorder = &truth.recorder;
	r = taskio_run(&options, &watch, &taskio, why);
	if (r < 0)
		return r;
	*ret_complete = !taskio->truth || taskio->truth->recording.complete;
	return write_result(&aside, args, taskio, why);
}

int cmd_taskio(int argc, char **argv)
{
	struct taskio_args args = {
		.options = {.repetitions = DEFAULT_REPETITIONS,
			    .payload_bytes = (size_t)DEFAULT_MIB << 20},
		.timeout_ns = (uint64_t)DEFAULT_TIMEOUT_S * NS_PER_S,
	};
	struct why why = {""};
	bool complete = true;
	int r;

	parse_arguments(&argp, argc, argv, 0, &args);
	r = run(&args, &why, &complete);
	if (r < 0)
		return output_failed("taskio", args.output, r, &why);
	if (!complete)
		message("events of the device were lost: device truth is incomplete");
	return complete ? STATUS_OK : STATUS_INCOMPLETE;
}
