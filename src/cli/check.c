/* SPDX-License-Identifier: MIT */
#include "cli.h"

#include "json.h"
#include "preflight.h"

#include <argp.h>

struct check_args {
	char **devices;
	size_t n_devices;
	const char *debugfs;
	bool json;
};

enum {
	KEY_JSON = 0x100
};

static const struct argp_option option_list[] = {
	{"relay", 'r', "PATH", 0, "Where debugfs is mounted (looked for)", 0},
	{"json", KEY_JSON, NULL, 0, "As JSON", 0},
	{0},
};

static error_t parse_option(int key, char *argument, struct argp_state *state)
{
	struct check_args *args = state->input;

	switch (key) {
	case 'r':
		args->debugfs = argument;
		return 0;
	case KEY_JSON:
		args->json = true;
		return 0;
	case ARGP_KEY_ARGS:
		args->devices = state->argv + state->next;
		args->n_devices = (size_t)(state->argc - state->next);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp argp = {
	.options = option_list,
	.parser = parse_option,
	.args_doc = "[DEVICE...]",
	.doc = "Look at everything that a recording needs, and tell which source 'blkbox record' "
	       "would use. Nothing is changed.\v"
	       "The exit status is 0 if a recording would work, else 1.\n"
	       "\nExamples:\n"
	       "  blkbox check                    what this machine can do\n"
	       "  blkbox check sda /dev/nvme0n1   whether these disks can be recorded now\n",
};

static const char *state_name(enum need_state state)
{
	static const char *const names[] = {
		[NEED_MET] = "yes",
		[NEED_NOT_MET] = "NO",
		[NEED_UNKNOWN] = "unknown",
	};

	return names[state];
}

/* What a recording would do. */
struct verdict {
	int error; /* 0, or the -errno that it would fail with */
	enum source_kind source;
	struct why why;
};

static void print_text(const struct preflight *preflight, const struct verdict *verdict)
{
	for (size_t i = 0; i < preflight->n; i++) {
		const struct need *need = &preflight->needs[i];

		put_safely(stdout, "%-16s %-10s %-8s %s\n", need->name, need->device,
			   state_name(need->state), need->why.text);
	}
	put_safely(stdout,
		   verdict->error < 0 ? "\nA recording would fail: %s.\n"
				      : "\nA recording would use %s.\n",
		   verdict->why.text);
}

static void write_need(struct json *json, const struct need *need)
{
	static const char *const names[] = {
		[NEED_MET] = "met",
		[NEED_NOT_MET] = "not met",
		[NEED_UNKNOWN] = "unknown",
	};

	json_object_begin(json, NULL);
	json_string(json, "need", need->name);
	json_string(json, "device", need->device[0] ? need->device : NULL);
	json_string(json, "state", names[need->state]);
	json_string(json, "explanation", need->why.text);
	json_object_end(json);
}

static int write_json(const struct preflight *preflight, const struct verdict *verdict, int status)
{
	_cleanup_(out_deinit) struct out out;
	struct json json;

	if (out_init(&out, STDOUT_FILENO, OUT_BUFFER_BYTES) < 0) {
		message("out of memory");
		return STATUS_FAILED;
	}
	json_init(&json, &out, true);
	json_object_begin(&json, NULL);
	json_bool(&json, "ready", verdict->error == 0);
	json_string(&json, "source",
		    verdict->error < 0		      ? NULL
		    : verdict->source == SOURCE_RELAY ? "relay"
						      : "ftrace");
	json_string(&json, "explanation", verdict->why.text);
	json_array_begin(&json, "needs");
	for (size_t i = 0; i < preflight->n; i++)
		write_need(&json, &preflight->needs[i]);
	json_array_end(&json);
	json_object_end(&json);
	json_finish(&json);
	return finish_out("check", &out, status);
}

int cmd_check(int argc, char **argv)
{
	_cleanup_(sysroot_close) struct sysroot root = {.fd = -1};
	_cleanup_(preflight_deinit) struct preflight preflight = {0};
	_cleanup_free_ struct block_device *devices = NULL;
	struct verdict verdict = {.source = SOURCE_AUTO};
	struct check_args args = {0};
	struct why why = {""};
	int status, r;

	parse_arguments(&argp, argc, argv, 0, &args);
	devices = calloc(args.n_devices + 1, sizeof(*devices));
	r = devices ? sysroot_open(&root, NULL) : -ENOMEM;
	if (r < 0)
		why_errno(&why, r, "cannot start");
	else
		r = devices_resolve(&root, args.devices, args.n_devices, devices, &why);
	if (r == 0)
		r = preflight_run(&root, &kernel_linux, args.debugfs, devices, args.n_devices,
				  &preflight, &why);
	if (r < 0)
		return failed("check", &why);
	verdict.error = preflight_source(&preflight, SOURCE_AUTO, SOURCES_BUILT, &verdict.source,
					 &verdict.why);
	status = verdict.error < 0 ? STATUS_FAILED : STATUS_OK;
	if (args.json)
		return write_json(&preflight, &verdict, status);
	print_text(&preflight, &verdict);
	return status;
}
