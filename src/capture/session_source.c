/* SPDX-License-Identifier: MIT */
#include "session_parts.h"

#include "orphan.h"
#include "preflight.h"
#include "state.h"
#include "tracing_state.h"

#include <string.h>
#include <sys/stat.h>

/* Relay where it can be had; what speaks against it becomes the session's notice. */
static int choose_kind(struct session *session, enum source_kind *ret, struct why *why)
{
	_cleanup_(preflight_deinit) struct preflight preflight = {0};
	struct why reason = {""};
	int r;

	r = preflight_run(session->root, session->kernel, session->trace.debugfs, session->devices,
			  session->n_devices, &preflight, why);
	if (r >= 0)
		r = preflight_source(&preflight, SOURCE_AUTO, SOURCES_BUILT, ret, &reason);
	if (r < 0)
		return reason.text[0] ? why_set(why, r, "%s", reason.text) : r;
	if (*ret == SOURCE_FTRACE)
		why_set(&session->notice, 0, "recording through %s", reason.text);
	return 0;
}

int session_choose_source(struct session *session, struct trace_source **ret, struct why *why)
{
	const struct orphan_search search = {
		.root = session->root,
		.kernel = session->kernel,
		.debugfs = session->trace.debugfs,
		.news = &session->news,
	};
	enum source_kind kind = session->kind;
	struct why reason = {""};
	int r;

	/* A recorder that died may have left the tracer on, or a trace. */
	r = orphans_settle(&search, session->devices, session->n_devices, session->takeover, why);
	if (r < 0)
		return r;
	/* One that lives takes all events. */
	if (tracing_state_user(session->root, &reason) == -EBUSY)
		return why_set(why, -EBUSY, "%s", reason.text);
	r = kind == SOURCE_AUTO ? choose_kind(session, &kind, why) : 0;
	if (r < 0)
		return r;
	r = kind == SOURCE_FTRACE ? ftrace_source_create(ret) : relay_source_create(ret);
	return r < 0 ? why_errno(why, r, "cannot start a recording") : 0;
}

/* An absolute path; one that a line cannot hold is left out. */
static void describe_log(const struct log_rescue *log, struct trace_state *state)
{
	_cleanup_free_ char *path = log ? realpath(log->part, NULL) : NULL;
	struct stat st;

	if (!path || strlen(path) >= sizeof(state->output) || strchr(path, '\n') ||
	    fstat(log->fd, &st) < 0)
		return;
	strcpy(state->output, path);
	state->output_device = st.st_dev;
	state->output_inode = st.st_ino;
}

int session_write_state(struct session *session, struct why *why)
{
	struct trace_source *source = session->source;
	struct trace_state state = {.guardian_pid = source->guardian.pid};
	int result = 0;

	snprintf(state.source, sizeof(state.source), "%s", source->ops->name);
	describe_log(source->rescue, &state);

	for (size_t i = 0; i < session->n_devices; i++) {
		int r;

		if (!session->set_up && state_of_another(session->root, session->devices[i].disk))
			continue;
		state.protocol = session->log_devices[i].protocol;
		state.trace_inode =
			source->ops->trace_inode ? source->ops->trace_inode(source, i) : 0;
		r = state_write(session->root, &session->devices[i], &state,
				result < 0 ? NULL : why);
		if (r < 0)
			result = r;
	}
	return result;
}

void session_remove_state(struct session *session)
{
	/* What stays behind names a process that is gone, so that nobody is fooled by it. */
	for (size_t i = 0; i < session->n_devices; i++)
		state_remove(session->root, session->devices[i].disk);
}

int source_kind_parse(const char *text, enum source_kind *ret)
{
	static const char *const names[] = {
		[SOURCE_AUTO] = "auto", [SOURCE_RELAY] = "relay", [SOURCE_FTRACE] = "ftrace"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (!strcmp(text, names[i])) {
			*ret = (enum source_kind)i;
			return 0;
		}
	}
	return -EINVAL;
}
