/* SPDX-License-Identifier: MIT */
#include "cli.h"

#include "json.h"
#include "state.h"
#include "traces.h"
#include "tracing_state.h"

#include <argp.h>
#include <blkbox/event.h>
#include <inttypes.h>
#include <string.h>

struct status_args {
	char **devices;
	size_t n_devices;
	bool json;
};

enum {
	KEY_JSON = 0x100
};

static const struct argp_option option_list[] = {
	{"json", KEY_JSON, NULL, 0, "As JSON", 0},
	{0},
};

static error_t parse_option(int key, char *argument, struct argp_state *state)
{
	struct status_args *args = state->input;

	(void)argument;
	switch (key) {
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
	.doc = "Which block traces run now on this machine, by which process, and how many events "
	       "each has lost.\v"
	       "A trace without an owner was left behind; 'blkbox stop' ends it. An orphan was "
	       "left by a "
	       "blkbox (whose process number is in brackets) that was killed together with its "
	       "guardian: 'blkbox stop' finishes its log, too.\n"
	       "\nExamples:\n"
	       "  blkbox status                   all of them\n"
	       "  blkbox status sda /dev/nvme0n1  the traces of these disks\n"
	       "  blkbox status --json | jq '.traces[] | select(.owner_state == \"none\")'\n",
};

static const char *kind_of(const struct running_trace *trace)
{
	if (trace->to_ftrace)
		return "ftrace";
	return trace->has_channels ? "relay" : "sysfs";
}

static const char *owner_of(const struct running_trace *trace)
{
	switch (trace->owner) {
	case TRACE_OWNER_ALIVE:
		return trace->process.name;
	case TRACE_OWNER_UNKNOWN:
		return "unknown";
	case TRACE_OWNER_NONE:
		break;
	}
	return trace->left_by ? "orphan" : "none";
}

static void print_trace(const struct running_trace *trace)
{
	char number[32] = "-", pid[16] = "-", protocol[16] = "-", dropped[24] = "-";

	if (trace->disk)
		snprintf(number, sizeof(number), "%u:%u", blkbox_device_major(trace->disk),
			 blkbox_device_minor(trace->disk));
	if (trace->owner == TRACE_OWNER_ALIVE)
		snprintf(pid, sizeof(pid), "%d", (int)trace->process.pid);
	else if (trace->left_by)
		snprintf(pid, sizeof(pid), "(%d)", (int)trace->left_by);
	if (trace->protocol)
		snprintf(protocol, sizeof(protocol), "v%u", trace->protocol);
	if (trace->dropped_known)
		snprintf(dropped, sizeof(dropped), "%" PRIu64, trace->dropped);
	put_safely(stdout, "%-16s %-8s %-7s %-16s %8s %-8s %10s\n", trace->name, number,
		   kind_of(trace), owner_of(trace), pid, protocol, dropped);
}

/* Keeps the traces of @devices, if any were named. */
static void keep_wanted(struct traces *traces, const struct block_device *devices, size_t n)
{
	size_t kept = 0;

	for (size_t i = 0; n && i < traces->n; i++) {
		bool wanted = false;

		for (size_t d = 0; d < n; d++)
			wanted = wanted || devices[d].disk == traces->items[i].disk;
		if (wanted)
			traces->items[kept++] = traces->items[i];
	}
	if (n)
		traces->n = kept;
}

static void print_traces(const struct traces *traces)
{
	if (!traces->n) {
		puts("no traces");
		return;
	}
	printf("%-16s %-8s %-7s %-16s %8s %-8s %10s\n", "device", "disk", "kind", "owner", "pid",
	       "protocol", "dropped");
	for (size_t i = 0; i < traces->n; i++)
		print_trace(&traces->items[i]);
}

static void write_known(struct json *json, const char *key, bool known, uint64_t value)
{
	if (known)
		json_u64(json, key, value);
	else
		json_null(json, key);
}

static void write_trace(struct json *json, const struct running_trace *trace)
{
	static const char *const owners[] = {
		[TRACE_OWNER_NONE] = "none",
		[TRACE_OWNER_ALIVE] = "alive",
		[TRACE_OWNER_UNKNOWN] = "unknown",
	};
	bool alive = trace->owner == TRACE_OWNER_ALIVE;

	json_object_begin(json, NULL);
	json_string(json, "device", trace->name);
	json_string(json, "disk", trace->disk ? trace->disk_name : NULL);
	write_known(json, "major", trace->disk, blkbox_device_major(trace->disk));
	write_known(json, "minor", trace->disk, blkbox_device_minor(trace->disk));
	json_string(json, "kind", kind_of(trace));
	json_string(json, "owner_state", owners[trace->owner]);
	json_string(json, "owner", alive ? trace->process.name : NULL);
	write_known(json, "pid", alive, (uint64_t)trace->process.pid);
	write_known(json, "left_by_pid", trace->left_by, (uint64_t)trace->left_by);
	json_string(json, "left_log", trace->left_log[0] ? trace->left_log : NULL);
	write_known(json, "protocol", trace->protocol, trace->protocol);
	write_known(json, "dropped", trace->dropped_known, trace->dropped);
	json_object_end(json);
}

static int write_json(const struct traces *traces, bool settings_left)
{
	_cleanup_(out_deinit) struct out out;
	struct json json;

	if (out_init(&out, STDOUT_FILENO, OUT_BUFFER_BYTES) < 0) {
		message("out of memory");
		return STATUS_FAILED;
	}
	json_init(&json, &out, true);
	json_object_begin(&json, NULL);
	json_array_begin(&json, "traces");
	for (size_t i = 0; i < traces->n; i++)
		write_trace(&json, &traces->items[i]);
	json_array_end(&json);
	json_bool(&json, "settings_left", settings_left);
	json_object_end(&json);
	json_finish(&json);
	return finish_out("status", &out, STATUS_OK);
}

int cmd_status(int argc, char **argv)
{
	_cleanup_(sysroot_close) struct sysroot root = {.fd = -1};
	_cleanup_(traces_deinit) struct traces traces = {0};
	_cleanup_free_ struct block_device *devices = NULL;
	struct status_args args = {0};
	struct why why = {""};
	size_t stale, removed;
	bool settings_left;
	int r;

	parse_arguments(&argp, argc, argv, 0, &args);
	devices = calloc(args.n_devices + 1, sizeof(*devices));
	r = devices ? sysroot_open(&root, NULL) : -ENOMEM;
	if (r < 0)
		why_errno(&why, r, "cannot start");
	for (size_t i = 0; r == 0 && i < args.n_devices; i++)
		r = device_resolve(&root, args.devices[i], &devices[i], &why);
	if (r == 0)
		r = traces_list(&root, &kernel_linux, NULL, &traces, &why);
	if (r < 0)
		return failed("status", &why);
	keep_wanted(&traces, devices, args.n_devices);
	if (traces.n && traces.no_debugfs.text[0])
		message("what debugfs tells is missing: %s", traces.no_debugfs.text);
	stale = state_remove_stale(&root, &removed);
	if (stale)
		message("%zu notes in /run/blkbox are older than the last start of the machine%s",
			stale, removed == stale ? ": removed" : "");
	settings_left = tracing_state_user(&root, NULL) == 1;
	if (settings_left)
		message("ftrace's settings are as a recorder left them that is dead; 'blkbox stop' "
			"puts "
			"them back");
	if (args.json)
		return write_json(&traces, settings_left);
	print_traces(&traces);
	return STATUS_OK;
}
