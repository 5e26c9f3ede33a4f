/* SPDX-License-Identifier: MIT */
#include "preflight.h"

#include "lockdown.h"
#include "mounts.h"
#include "needs.h"
#include "tracing_state.h"

#include <limits.h>
#include <string.h>

static const char tracer_conflict[] =
	"ftrace's blk tracer is on and takes the events of all traces; 'echo nop > "
	"%s/current_tracer' switches it off, and erases what it has recorded";

int preflight_tracer_conflict(const struct sysroot *root, struct why *why)
{
	char tracefs[PATH_MAX], tracer[64];

	/* Without tracefs nobody here can have switched it on, or can find out. */
	if (tracefs_find(root, tracefs, sizeof(tracefs), NULL) < 0 ||
	    sysroot_read(root, tracer, sizeof(tracer), "%s/current_tracer", tracefs) < 0 ||
	    strcmp(tracer, "blk") != 0)
		return 0;
	if (tracing_state_user(root, why) == -EBUSY)
		return -EBUSY;
	return why_set(why, -EBUSY, tracer_conflict, tracefs);
}

int preflight_relay(const struct sysroot *root, const struct kernel_ops *kernel,
		    const char *debugfs, char *ret, size_t size, struct why *why)
{
	char path[PATH_MAX];
	int r = debugfs_find(root, kernel, debugfs, path, sizeof(path), why);

	if (r == 0 && lockdown_read(root, kernel, path) >= LOCKDOWN_INTEGRITY)
		r = why_set(why, -EPERM, NEED_TEXT_LOCKDOWN);
	if (r == 0)
		r = preflight_tracer_conflict(root, why);
	if (r < 0)
		return r;
	if (strlen(path) >= size)
		return why_set(why, -ENAMETOOLONG, "the path of debugfs is too long");
	strcpy(ret, path);
	return 0;
}

int preflight_run(const struct sysroot *root, const struct kernel_ops *kernel, const char *debugfs,
		  const struct block_device *devices, size_t n_devices, struct preflight *ret,
		  struct why *why)
{
	_cleanup_(preflight_deinit) struct preflight preflight = {0};
	int r = needs_of_machine(root, kernel, debugfs, &preflight);

	if (r == 0 && !n_devices)
		r = need_any_block_tracing(root, &preflight);
	if (r == 0 && n_devices)
		r = needs_of_devices(root, kernel, debugfs, devices, n_devices, &preflight, why);
	if (r == -ENOMEM)
		return why_set(why, r, "out of memory");
	if (r < 0)
		return r;
	preflight.relay = !preflight_obstacle(&preflight, NEED_FOR_RELAY);
	preflight.ftrace = !preflight_obstacle(&preflight, NEED_FOR_FTRACE);
	*ret = preflight;
	preflight.needs = NULL;
	return 0;
}

void preflight_deinit(struct preflight *preflight)
{
	free(preflight->needs);
	*preflight = (struct preflight){0};
}

const struct need *preflight_obstacle(const struct preflight *preflight, enum need_scope scope)
{
	for (size_t i = 0; i < preflight->n; i++) {
		const struct need *need = &preflight->needs[i];

		if (need->state == NEED_NOT_MET && need->scope & scope)
			return need;
	}
	return NULL;
}

static bool is_wanted(enum source_kind kind, enum source_kind wanted, unsigned built)
{
	return (wanted == SOURCE_AUTO || wanted == kind) && built & 1u << kind;
}

int preflight_source(const struct preflight *preflight, enum source_kind wanted, unsigned built,
		     enum source_kind *ret, struct why *why)
{
	const struct need *relay = preflight_obstacle(preflight, NEED_FOR_RELAY);
	const struct need *ftrace = preflight_obstacle(preflight, NEED_FOR_FTRACE);

	if (is_wanted(SOURCE_RELAY, wanted, built) && !relay) {
		*ret = SOURCE_RELAY;
		return why_set(why, 0, "relay channels: what they need is there");
	}
	if (is_wanted(SOURCE_FTRACE, wanted, built) && !ftrace) {
		*ret = SOURCE_FTRACE;
		return relay ? why_set(why, 0, "ftrace, because relay channels cannot be had: %s",
				       relay->why.text)
			     : why_set(why, 0, "ftrace, as asked for");
	}
	if (is_wanted(SOURCE_RELAY, wanted, built) && is_wanted(SOURCE_FTRACE, wanted, built))
		return why_set(why, relay->error, "%.240s; nor can ftrace be used: %.200s",
			       relay->why.text, ftrace->why.text);
	if (is_wanted(SOURCE_RELAY, wanted, built))
		return why_set(why, relay->error, "%s", relay->why.text);
	if (is_wanted(SOURCE_FTRACE, wanted, built))
		return why_set(why, ftrace->error, "%s", ftrace->why.text);
	return why_set(why, -EOPNOTSUPP, "this version of blkbox does not record from that source");
}
