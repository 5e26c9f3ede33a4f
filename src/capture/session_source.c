/* SPDX-License-Identifier: MIT */
#include "session_parts.h"

#include "state.h"

int session_choose_source(struct session *session, struct trace_source **ret, struct why *why)
{
	(void)session;
	return relay_source_create(ret) < 0 ? why_errno(why, -ENOMEM, "cannot start a recording")
					    : 0;
}

int session_write_state(struct session *session, struct why *why)
{
	int result = 0;

	for (size_t i = 0; i < session->n_devices; i++) {
		int r = state_write(session->root, &session->devices[i],
				    session->log_devices[i].protocol, session->source->ops->name,
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
