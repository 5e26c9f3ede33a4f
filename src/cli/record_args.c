/* SPDX-License-Identifier: MIT */
#include "record_args.h"

#include "cli.h"
#include "mask.h"
#include "number.h"

#include <argp.h>
#include <limits.h>
#include <string.h>

enum {
	OPT_PID = 256,
	OPT_SECTORS,
	OPT_DROP_CACHES,
	OPT_NO_FLUSH,
	OPT_FORCE,
	OPT_STRICT,
	OPT_FORMAT,
	OPT_PROTOCOL,
	OPT_NO_COMPRESS,
	OPT_SOURCE,
	OPT_AS_ROOT,
	OPT_TAKEOVER,
};

static const struct argp_option options[] = {
	{NULL, 0, NULL, 0, "What to record:", 1},
	{"dev", 'd', "DEVICE", 0, "Device, as an option (may be given several times)", 1},
	{"input-devs", 'I', "FILE", 0, "Devices from FILE, one a line; '-' for standard input", 1},
	{"act-mask", 'a', "NAME[,NAME]", 0,
	 "Only these categories of events: read, write, flush, sync, queue, requeue, issue, "
	 "complete, fs, pc, notify, ahead, meta, discard, drv_data, fua; kernels with protocol 2 "
	 "also: zone_append, zone_reset, zone_reset_all, zone_finish, zone_open, zone_close, "
	 "write_zeroes",
	 1},
	{"set-mask", 'A', "HEX", 0, "The same as a hexadecimal mask", 1},
	{"pid", OPT_PID, "TID", 0,
	 "Only events in the context of this thread: its Q, G and I, seldom its D and C", 1},
	{"sectors", OPT_SECTORS, "A-B", 0, "Only events of these sectors of the whole disk", 1},
	{NULL, 0, NULL, 0, "When to end (else: with COMMAND, or on Ctrl-C):", 2},
	{"stopwatch", 'w', "SECONDS", 0, "After this time; also 500ms, 2m, 1h", 2},
	{"no-flush", OPT_NO_FLUSH, NULL, 0,
	 "Do not write out what is dirty on the device before the end", 2},
	{NULL, 0, NULL, 0, "Where it goes:", 3},
	{"output", 'o', "NAME", 0,
	 "The log (default: DEVICE.blkbox); '-' for merged records on standard output", 3},
	{"output-dir", 'D', "DIR", 0, "Directory of the output; made if it is not there", 3},
	{"format", OPT_FORMAT, "FORMAT", 0,
	 "blkbox (default), or blktrace: a file NAME.blktrace.CPU for each CPU", 3},
	{"protocol", OPT_PROTOCOL, "1|2", 0,
	 "Protocol of the records that blktrace files and '-o -' get (default: the kernel's)", 3},
	{"no-compress", OPT_NO_COMPRESS, NULL, 0, "Store the log uncompressed", 3},
	{"force", OPT_FORCE, NULL, 0, "Overwrite the output; take more memory than is reasonable",
	 3},
	{NULL, 0, NULL, 0, "How:", 4},
	{"buffer-size", 'b', "KIB", 0, "Size of a kernel sub-buffer, in KiB; also 4M", 4},
	{"num-sub-buffers", 'n', "N", 0, "Sub-buffers for each device and CPU", 4},
	{"relay", 'r', "PATH", 0, "Where debugfs is mounted, if not where it is found", 4},
	{"source", OPT_SOURCE, "SOURCE", 0, "auto (default), relay or ftrace", 4},
	{"drop-caches", OPT_DROP_CACHES, NULL, 0, "Drop the page cache before the start", 4},
	{"takeover", OPT_TAKEOVER, NULL, 0,
	 "Take over the traces of a recorder that was killed together with its guardian", 4},
	{"strict", OPT_STRICT, NULL, 0,
	 "Exit with 3, not with COMMAND's status, if events were lost", 4},
	{"as-root", OPT_AS_ROOT, NULL, 0,
	 "Through sudo: run COMMAND as root, not as the user who called sudo", 4},
	{"quiet", 'q', NULL, 0, "No progress and no table", 4},
	{0},
};

static const char doc[] =
	"Record what block devices do, until COMMAND ends, for a time, or until a signal."
	"\vDEVICE is a path, LABEL=, UUID=, PARTLABEL=, PARTUUID=, MAJOR:MINOR or a kernel name.\n"
	"\n"
	"Examples:\n"
	"  blkbox record /dev/nvme0n1 -- fio job.fio\n"
	"  blkbox record -w 10 sda sdb\n"
	"  blkbox record -a issue -a complete -o slow.blkbox UUID=1234-ABCD\n"
	"  blkbox record -o - sda | blkparse -i -\n"
	"\n"
	"Exit status: COMMAND's own if there was one; 0 done; 1 failed; 2 wrong usage; 3 done, but "
	"events were lost (with COMMAND: only with --strict).";

/* While parsing. */
struct parse {
	struct record_args *args;
	size_t n_devices;
};

static void add_device(struct parse *parse, struct argp_state *state, const char *name)
{
	char **more = reallocarray(parse->args->devices, parse->n_devices + 1, sizeof(*more));

	if (more)
		parse->args->devices = more;
	if (!more || !(more[parse->n_devices] = strdup(name)))
		argp_failure(state, STATUS_FAILED, ENOMEM, "cannot take %s", name);
	parse->n_devices++;
}

static void add_devices_of_file(struct parse *parse, struct argp_state *state, const char *path)
{
	bool is_stdin = !strcmp(path, "-");
	FILE *file = is_stdin ? stdin : fopen(path, "re");
	char line[PATH_MAX];

	if (!file)
		argp_failure(state, STATUS_FAILED, errno, "cannot read %s", path);
	errno = 0;
	/* Bounded: the file may be no text at all. */
	while (fgets(line, sizeof(line), file)) {
		char *name = line + strspn(line, " \t");

		if (!strchr(line, '\n') && !feof(file))
			argp_failure(state, STATUS_FAILED, 0,
				     "%s is no list of devices: a line is too long", path);

		name[strcspn(name, " \t\r\n")] = '\0';
		if (*name && *name != '#')
			add_device(parse, state, name);
	}
	if (ferror(file))
		argp_failure(state, STATUS_FAILED, errno, "cannot read %s", path);
	if (!is_stdin)
		fclose(file);
}

static void check(int r, struct argp_state *state, const char *option, const struct why *why)
{
	if (r < 0)
		argp_error(state, "%s: %s", option, why->text);
}

static void parse_mask(struct record_args *args, struct argp_state *state, int key, char *arg)
{
	struct why why = {""};
	uint32_t mask = 0;

	if (key == 'a')
		check(mask_parse_names(arg, &mask, &why), state, "-a", &why);
	else
		check(mask_parse_hex(arg, &mask, &why), state, "-A", &why);
	args->session.trace.mask |= mask;
}

static uint32_t parse_u32(struct argp_state *state, const char *option, const char *text)
{
	struct why why = {""};
	uint64_t value = 0;

	check(count_parse(text, &value, &why), state, option, &why);
	if (!value || value > UINT32_MAX)
		argp_error(state, "%s: %s is not between 1 and %u", option, text, UINT32_MAX);
	return (uint32_t)value;
}

static void parse_buffer_bytes(struct record_args *args, struct argp_state *state, char *arg)
{
	struct why why = {""};
	uint64_t bytes = 0;

	check(size_parse(arg, 1024, &bytes, &why), state, "-b", &why);
	if (bytes < 4096 || bytes > UINT32_MAX)
		argp_error(state, "-b: %s is not between 4 and 4194303 KiB", arg);
	args->session.trace.buffer_bytes = (uint32_t)bytes;
}

static void parse_sectors(struct record_args *args, struct argp_state *state, char *arg)
{
	struct why why = {""};
	struct sector_range range = {0};

	check(sector_range_parse(arg, &range, &why), state, "--sectors", &why);
	args->session.trace.first_sector = range.first;
	args->session.trace.last_sector = range.last;
	/* The kernel takes 0 for "to the end". */
	if (!range.last)
		argp_error(state, "--sectors: the last sector cannot be 0");
}

/* The kernel compares with one number; one that nobody has now will be anybody's. */
static void parse_pid(struct record_args *args, struct argp_state *state, char *arg)
{
	uint32_t pid = parse_u32(state, "--pid", arg);
	char path[32];

	if (args->session.trace.pid && args->session.trace.pid != pid)
		argp_error(state, "--pid: the kernel takes one thread, not two");
	snprintf(path, sizeof(path), "/proc/%u", pid);
	if (access(path, F_OK) < 0)
		argp_error(state, "--pid: there is no process or thread %u", pid);
	args->session.trace.pid = pid;
}

static void parse_time(struct record_args *args, struct argp_state *state, char *arg)
{
	struct why why = {""};

	check(duration_parse(arg, &args->time_limit_ns, &why), state, "-w", &why);
	if (!args->time_limit_ns)
		argp_error(state, "-w: the time must be longer than 0");
}

static void parse_format(struct record_args *args, struct argp_state *state, char *arg)
{
	args->format_given = true;
	if (!strcmp(arg, "blkbox"))
		args->format = RECORD_LOG;
	else if (!strcmp(arg, "blktrace"))
		args->format = RECORD_BLKTRACE;
	else
		argp_error(state, "--format: '%s' is neither blkbox nor blktrace", arg);
}

static void parse_source(struct record_args *args, struct argp_state *state, char *arg)
{
	if (source_kind_parse(arg, &args->session.source) < 0)
		argp_error(state, "--source: '%s' is none of auto, relay, ftrace", arg);
}

static void parse_protocol(struct record_args *args, struct argp_state *state, char *arg)
{
	if (strcmp(arg, "1") != 0 && strcmp(arg, "2") != 0)
		argp_error(state, "--protocol: '%s' is neither 1 nor 2", arg);
	args->protocol = arg[0] - '0';
}

/* Found out at the end, it would be too late. */
static void check_names(const struct record_args *args, struct argp_state *state)
{
	const char *output = args->output;

	if (output && (!*output || output[strlen(output) - 1] == '/'))
		argp_error(state, "-o: '%s' is no name of a file; for a directory there is -D",
			   output);
	if (args->directory && !*args->directory)
		argp_error(state, "-D: the name of the directory is empty");
	if (args->directory && output && *output == '/')
		argp_error(state, "-D %s makes no sense with -o %s, which says where it goes",
			   args->directory, output);
}

static void finish(struct parse *parse, struct argp_state *state)
{
	struct record_args *args = parse->args;

	if (!parse->n_devices)
		argp_error(state, "which device?");
	if (args->output && !strcmp(args->output, "-")) {
		if (args->directory)
			argp_error(state, "-D makes no sense with -o -");
		if (args->format_given)
			argp_error(state, "--format makes no sense with -o -");
		args->format = RECORD_STREAM;
	}
	check_names(args, state);
	if (args->protocol && args->format == RECORD_LOG)
		argp_error(
			state,
			"--protocol is for --format blktrace and -o -: a log keeps the kernel's");
	args->session.devices = args->devices;
	args->session.n_devices = parse->n_devices;
}

/* The options without an argument. False: it is none of them. */
static bool set_flag(struct record_args *args, int key)
{
	switch (key) {
	case 'q':
		args->quiet = true;
		return true;
	case OPT_DROP_CACHES:
		args->drop_caches = true;
		return true;
	case OPT_NO_FLUSH:
		args->flush = false;
		return true;
	case OPT_FORCE:
		args->session.force = true;
		return true;
	case OPT_TAKEOVER:
		args->session.takeover = true;
		return true;
	case OPT_STRICT:
		args->strict = true;
		return true;
	case OPT_AS_ROOT:
		args->as_root = true;
		return true;
	case OPT_NO_COMPRESS:
		args->compress = false;
		return true;
	default:
		return false;
	}
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct parse *parse = state->input;
	struct record_args *args = parse->args;

	switch (key) {
	case 'd':
	case ARGP_KEY_ARG:
		add_device(parse, state, arg);
		break;
	case 'I':
		add_devices_of_file(parse, state, arg);
		break;
	case 'a':
	case 'A':
		parse_mask(args, state, key, arg);
		break;
	case 'b':
		parse_buffer_bytes(args, state, arg);
		break;
	case 'n':
		args->session.trace.buffer_count = parse_u32(state, "-n", arg);
		if (args->session.trace.buffer_count < 2)
			argp_error(state, "-n: there must be 2 sub-buffers at least");
		break;
	case 'w':
		parse_time(args, state, arg);
		break;
	case 'o':
		args->output = output_argument(arg, state);
		break;
	case 'D':
		args->directory = arg;
		break;
	case 'r':
		args->session.trace.debugfs = arg;
		break;
	case OPT_PID:
		parse_pid(args, state, arg);
		break;
	case OPT_SECTORS:
		parse_sectors(args, state, arg);
		break;
	case OPT_FORMAT:
		parse_format(args, state, arg);
		break;
	case OPT_PROTOCOL:
		parse_protocol(args, state, arg);
		break;
	case OPT_SOURCE:
		parse_source(args, state, arg);
		break;
	case ARGP_KEY_END:
		finish(parse, state);
		break;
	default:
		return set_flag(args, key) ? 0 : ARGP_ERR_UNKNOWN;
	}
	return 0;
}

void record_args_parse(struct record_args *args, int argc, char **argv)
{
	const struct argp argp = {options, parse_option, "DEVICE... [-- COMMAND [ARG...]]", doc};
	struct parse parse = {.args = args};
	int own = 1;

	*args = (struct record_args){.flush = true, .compress = true};
	/* argp would take COMMAND for more devices. */
	while (own < argc && strcmp(argv[own], "--") != 0)
		own++;
	if (own < argc)
		args->command = argv + own + 1;
	parse_arguments(&argp, own, argv, 0, &parse);
	if (args->as_root && !args->command)
		exit(usage_error("record", "--as-root is for a command behind '--'"));
	if (args->command && !args->command[0])
		exit(usage_error("record", "no command behind '--'"));
}

void record_args_deinit(struct record_args *args)
{
	for (size_t i = 0; i < args->session.n_devices; i++)
		free(args->devices[i]);
	free(args->devices);
}
