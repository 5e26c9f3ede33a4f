/* SPDX-License-Identifier: MIT */
#include "stall_args.h"

#include "cli.h"
#include "clock.h"
#include "grow.h"
#include "number.h"

#include <argp.h>
#include <limits.h>
#include <sched.h>
#include <string.h>

enum {
	DEFAULT_HZ = 10,
	HZ_MAX = 1000,
	DEFAULT_KEEP = 5,
	KEEP_MAX = 1000,
	NICE_MAX = 19,
	LEAST_FILE_BYTES = 64 << 10,
	OPT_HZ = 256,
	OPT_DISK,
	OPT_NAMES,
	OPT_PID,
	OPT_ALL,
	OPT_OUT,
	OPT_DURATION,
	OPT_COLUMNS,
	OPT_ALERT,
	OPT_DELAY,
	OPT_FORCE,
	OPT_APPEND,
	OPT_MAX_SIZE,
	OPT_KEEP,
	OPT_NICE,
	OPT_CPU,
	OPT_AS_ROOT,
};

static const struct argp_option option_list[] = {
	{NULL, 0, NULL, 0, "What to sample:", 1},
	{"hz", OPT_HZ, "N", 0, "Samples a second, 1 to 1000 (10)", 1},
	{"names", OPT_NAMES, "NAME[,NAME]", 0,
	 "Watch processes of these names, or with them in theirs; the rest is summed as 'other'",
	 1},
	{"pid", OPT_PID, "PID[,PID]", 0, "Watch these processes", 1},
	{"all", OPT_ALL, NULL, 0, "Watch every process by its own name (default)", 1},
	{"disk", OPT_DISK, "DISK[,DISK]", 0,
	 "Disks of the disk columns (default: those with a device of their own: no dm, md, loop)",
	 1},
	{"columns", OPT_COLUMNS, "WHICH", 0, "default, or all: 18 more, and a row for each disk",
	 1},
	{"enable-delayacct", OPT_DELAY, NULL, 0,
	 "Turn delay accounting on as long as this runs, if it is off", 1},
	{NULL, 0, NULL, 0, "When to end (else: with COMMAND, or on Ctrl-C):", 2},
	{"duration", OPT_DURATION, "TIME", 0, "After this time: 10, 500ms, 2m, 1h", 2},
	{NULL, 0, NULL, 0, "Where it goes:", 3},
	{"out", OPT_OUT, "FILE", 0, "A new FILE instead of standard output", 3},
	{"force", OPT_FORCE, NULL, 0, "Overwrite FILE", 3},
	{"append", OPT_APPEND, NULL, 0, "Go on behind what is in FILE", 3},
	{"max-size", OPT_MAX_SIZE, "SIZE", 0,
	 "Begin a new file when this one has that size; old ones are FILE.1, FILE.2, ...", 3},
	{"keep", OPT_KEEP, "N", 0, "Old files to keep (5)", 3},
	{NULL, 0, NULL, 0, "How:", 4},
	{"alert", OPT_ALERT, "TIME", 0,
	 "A line on standard error when a process has been blocked that long", 4},
	{"nice", OPT_NICE, "N", 0, "Lower the priority by N, 1 to 19", 4},
	{"cpu", OPT_CPU, "CPU", 0, "Run on this CPU alone", 4},
	{"as-root", OPT_AS_ROOT, NULL, 0,
	 "Through sudo: run COMMAND as root, not as the user who called sudo", 4},
	{0},
};

static const char doc[] =
	"Sample who waits for disks, and who keeps them busy, into a CSV file.\v"
	"A row for each process that wrote, was blocked or is in D, and one for the machine (SYS), "
	"many times a second. 'blkbox stall report FILE' finds the stalls in it.\n\n"
	"Examples:\n"
	"  blkbox stall --out trace.csv --enable-delayacct\n"
	"  blkbox stall --names controlsd,loggerd --disk sda --hz 100 --out trace.csv\n"
	"  blkbox stall --all --columns all --alert 200ms --out trace.csv -- make -j8\n"
	"  blkbox stall --out /var/log/stall.csv --append --max-size 100M --keep 5\n"
	"\n"
	"SIGUSR1 prints a line of status, SIGHUP opens FILE anew. Exit status: COMMAND's own if "
	"there was one; 0 done; 1 failed; 2 wrong usage; 3 done, but rows were lost.";

static void check(int r, struct argp_state *state, const char *option, const struct why *why)
{
	if (r < 0)
		argp_error(state, "%s: %s", option, why->text);
}

static uint64_t parse_number(struct argp_state *state, const char *option, const char *text,
			     uint64_t least, uint64_t most)
{
	struct why why = {""};
	uint64_t value = 0;

	check(count_parse(text, &value, &why), state, option, &why);
	if (value < least || value > most)
		argp_error(state, "%s: %s is not in %llu to %llu", option, text,
			   (unsigned long long)least, (unsigned long long)most);
	return value;
}

static uint64_t parse_time(struct argp_state *state, const char *option, const char *text)
{
	struct why why = {""};
	uint64_t ns = 0;

	check(duration_parse(text, &ns, &why), state, option, &why);
	if (!ns)
		argp_error(state, "%s: the time must be longer than 0", option);
	return ns;
}

static void no_memory(struct argp_state *state)
{
	argp_failure(state, STATUS_FAILED, ENOMEM, "cannot take the arguments");
}

/* "A,B" behind what is in the list already. */
static void add_names(struct argp_state *state, const char *option, char *text, char ***list,
		      size_t *n)
{
	char *name;

	while ((name = strsep(&text, ","))) {
		char **more = grow_list(*list, *n, sizeof(*more));

		name += strspn(name, " ");
		if (!*name)
			argp_error(state, "%s: an empty name is none", option);
		if (!more)
			no_memory(state);
		*list = more;
		more[(*n)++] = name;
	}
}

static void add_pids(struct argp_state *state, char *text, struct stall_args *args)
{
	struct watch_list *watch = &args->stall.sampler.watch;
	char *word;

	while ((word = strsep(&text, ","))) {
		pid_t *more = grow_list(args->pids, watch->n_pids, sizeof(*more));
		pid_t pid = (pid_t)parse_number(state, "--pid", word, 1, INT_MAX);
		char path[32];

		if (!more)
			no_memory(state);
		snprintf(path, sizeof(path), "/proc/%d/task/%d", pid, pid);
		if (access(path, F_OK) < 0)
			argp_error(state, "--pid: there is no process %d", pid);
		args->pids = more;
		more[watch->n_pids++] = pid;
	}
}

static void parse_columns(struct argp_state *state, const char *text, struct stall_args *args)
{
	args->stall.sampler.all_columns = !strcmp(text, "all");
	if (!args->stall.sampler.all_columns && strcmp(text, "default") != 0)
		argp_error(state, "--columns: '%s' is neither default nor all", text);
}

static void parse_max_size(struct argp_state *state, const char *text, struct stall_args *args)
{
	struct why why = {""};
	uint64_t bytes = 0;

	check(size_parse(text, 1, &bytes, &why), state, "--max-size", &why);
	if (bytes < LEAST_FILE_BYTES)
		argp_error(state, "--max-size: %s is less than 64k", text);
	args->stall.file.max_bytes = bytes;
}

static void parse_output(struct argp_state *state, char *text, struct stall_args *args)
{
	if (!*text || text[strlen(text) - 1] == '/')
		argp_error(state, "--out: '%s' is no name of a file", text);
	args->stall.file.path = strcmp(text, "-") != 0 ? text : NULL;
}

static void finish(struct argp_state *state, struct stall_args *args)
{
	struct csv_file_options *file = &args->stall.file;
	struct sampler_options *sampler = &args->stall.sampler;

	if (!file->path && (file->force || file->append || file->max_bytes))
		argp_error(state, "--force, --append and --max-size make no sense without --out");
	if (file->force && file->append)
		argp_error(state, "--force and --append: one of them");
	if (sampler->watch.everybody && (sampler->watch.n_names || sampler->watch.n_pids))
		argp_error(state, "--all makes no sense with --names or --pid");
	sampler->watch.names = (const char *const *)args->names;
	sampler->watch.pids = args->pids;
	sampler->disks = (const char *const *)args->disks;
}

/* The options about the output. False: it is none of them. */
static bool parse_file_option(int key, char *arg, struct argp_state *state)
{
	struct stall_args *args = state->input;

	switch (key) {
	case OPT_OUT:
		parse_output(state, arg, args);
		return true;
	case OPT_FORCE:
		args->stall.file.force = true;
		return true;
	case OPT_APPEND:
		args->stall.file.append = true;
		return true;
	case OPT_MAX_SIZE:
		parse_max_size(state, arg, args);
		return true;
	case OPT_KEEP:
		args->stall.file.keep = (unsigned)parse_number(state, "--keep", arg, 0, KEEP_MAX);
		return true;
	default:
		return false;
	}
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct stall_args *args = state->input;
	struct sampler_options *sampler = &args->stall.sampler;

	switch (key) {
	case OPT_HZ:
		args->stall.interval_ns = NS_PER_S / parse_number(state, "--hz", arg, 1, HZ_MAX);
		return 0;
	case OPT_DISK:
		add_names(state, "--disk", arg, &args->disks, &sampler->n_disks);
		return 0;
	case OPT_NAMES:
		add_names(state, "--names", arg, &args->names, &sampler->watch.n_names);
		return 0;
	case OPT_PID:
		add_pids(state, arg, args);
		return 0;
	case OPT_ALL:
		sampler->watch.everybody = true;
		return 0;
	case OPT_DURATION:
		args->duration_ns = parse_time(state, "--duration", arg);
		return 0;
	case OPT_COLUMNS:
		parse_columns(state, arg, args);
		return 0;
	case OPT_ALERT:
		sampler->alert_ns = parse_time(state, "--alert", arg);
		return 0;
	case OPT_DELAY:
		args->stall.enable_delay = true;
		return 0;
	case OPT_NICE:
		args->stall.nice = (int)parse_number(state, "--nice", arg, 1, NICE_MAX);
		return 0;
	case OPT_CPU:
		args->stall.cpu = (int)parse_number(state, "--cpu", arg, 0, CPU_SETSIZE - 1);
		return 0;
	case OPT_AS_ROOT:
		args->as_root = true;
		return 0;
	case ARGP_KEY_ARG:
		argp_error(state, "'%s' is one argument too many; a COMMAND stands behind --", arg);
		return 0;
	case ARGP_KEY_END:
		finish(state, args);
		return 0;
	default:
		return parse_file_option(key, arg, state) ? 0 : ARGP_ERR_UNKNOWN;
	}
}

void stall_args_parse(struct stall_args *args, int argc, char **argv)
{
	const struct argp argp = {option_list, parse_option,
				  "[-- COMMAND [ARG...]]\nreport FILE...", doc};
	int own = 1;

	*args = (struct stall_args){
		.stall = {.interval_ns = NS_PER_S / DEFAULT_HZ,
			  .cpu = -1,
			  .file = {.keep = DEFAULT_KEEP}},
	};
	/* argp would take COMMAND for arguments of ours. */
	while (own < argc && strcmp(argv[own], "--") != 0)
		own++;
	if (own < argc)
		args->command = argv + own + 1;
	parse_arguments(&argp, own, argv, 0, args);
	if (args->as_root && !args->command)
		exit(usage_error("stall", "--as-root is for a command behind '--'"));
	if (args->command && !args->command[0])
		exit(usage_error("stall", "no command behind '--'"));
}

void stall_args_deinit(struct stall_args *args)
{
	free(args->names);
	free(args->disks);
	free(args->pids);
}
