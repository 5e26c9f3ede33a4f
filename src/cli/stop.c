/* SPDX-License-Identifier: MIT */
#include "cli.h"

#include "orphan.h"
#include "state.h"
#include "traces.h"
#include "tracing_state.h"

#include <argp.h>

struct stop_args {
	char **devices;
	size_t n_devices;
	bool force;
};

enum {
	KEY_FORCE = 0x100
};

static const struct argp_option option_list[] = {
	{"force", KEY_FORCE, NULL, 0, "Take the trace away from an owner who is alive", 0},
	{0},
};

static error_t parse_option(int key, char *argument, struct argp_state *state)
{
	struct stop_args *args = state->input;

	(void)argument;
	switch (key) {
	case KEY_FORCE:
		args->force = true;
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
	.doc = "End a trace that was left behind. Events that nobody read are gone, unless it was "
	       "a "
	       "blkbox that was killed: then its log is finished with them. Without a "
	       "DEVICE: only put back what a dead recorder had changed of ftrace's settings.\v"
	       "A trace whose owner is alive is left alone: a signal to the owner (blkbox status "
	       "names it) ends it in good order.\n"
	       "\nExamples:\n"
	       "  blkbox stop sda\n"
	       "  blkbox stop --force /dev/nvme0n1\n",
};

static void tell_news(struct news *news)
{
	struct why text;

	while (news_take(news, &text))
		message("%s", text.text);
}

static int stop_one(const struct orphan_search *search, const char *spec, bool force,
		    struct why *why)
{
	const struct sysroot *root = search->root;
	struct trace_state orphan;
	_cleanup_(traces_deinit) struct traces traces = {0};
	const struct running_trace *trace;
	struct block_device device;
	int r = device_resolve(root, spec, &device, why);

	if (r == 0 && orphan_find(search, device.disk, &orphan))
		return orphan_take(search, orphan.pid, why);
	if (r == 0)
		r = traces_list(root, &kernel_linux, NULL, &traces, why);
	if (r < 0)
		return r;
	trace = traces_find(&traces, device.disk);
	if (!trace) {
		state_remove_dead(root, device.disk);
		message("%s has no trace", device.name);
		return 0;
	}
	r = trace_end(root, &kernel_linux, trace, &device, force, why);
	if (r == 0)
		message("ended the trace of %s", trace->name);
	return r;
}

/* An owner who is alive is told of with the trace of each device. */
static int put_settings_back(const struct orphan_search *search, size_t n_devices)
{
	_cleanup_(tracing_state_deinit) struct tracing_state state = {0};
	const struct sysroot *root = search->root;
	struct why why = {""};
	int r = tracing_state_user(root, &why);

	if (r == -EBUSY && n_devices)
		r = 0;
	if (r == 1)
		r = tracing_state_load(root, &state);
	if (r == 0 && state.pid)
		r = orphan_take(search, state.pid, &why);
	if (r < 0)
		return failed("stop", &why);
	if (r > 0)
		message("put back what a dead recorder had changed of ftrace's settings");
	else if (!n_devices)
		return usage_error("stop", "which DEVICE? 'blkbox status' names the traces");
	return STATUS_OK;
}

int cmd_stop(int argc, char **argv)
{
	_cleanup_(sysroot_close) struct sysroot root = {.fd = -1};
	struct stop_args args = {0};
	_cleanup_(news_deinit) struct news news = {.fd = -1};
	struct orphan_search search = {.root = &root, .kernel = &kernel_linux, .news = &news};
	struct why why = {""};
	int status = STATUS_OK, r;

	parse_arguments(&argp, argc, argv, 0, &args);
	r = sysroot_open(&root, NULL);
	if (r >= 0)
		r = news_init(&news);
	if (r < 0) {
		why_errno(&why, r, "cannot open /");
		return failed("stop", &why);
	}
	status = put_settings_back(&search, args.n_devices);
	for (size_t i = 0; i < args.n_devices; i++) {
		if (stop_one(&search, args.devices[i], args.force, &why) < 0)
			status = failed("stop", &why);
	}
	tell_news(&news);
	return status;
}
