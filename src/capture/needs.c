/* SPDX-License-Identifier: MIT */
#include "needs.h"

#include "lockdown.h"
#include "mounts.h"
#include "tracing_state.h"
#include "tracing_users.h"

#include <limits.h>
#include <linux/capability.h>
#include <string.h>

#define NEED_TEXT_LEFT                                                                          \
	"a recorder that is dead has left its settings; the next recording, or 'blkbox stop', " \
	"puts them back"

struct need *need_add(struct preflight *preflight, const char *name, unsigned scope)
{
	struct need *needs =
		reallocarray(preflight->needs, preflight->n + 1, sizeof(*preflight->needs));

	if (!needs)
		return NULL;
	preflight->needs = needs;
	needs[preflight->n] = (struct need){.name = name, .scope = scope};
	return &needs[preflight->n++];
}

void need_fails(struct need *need, int error)
{
	need->state = NEED_NOT_MET;
	need->error = error;
}

/* Effective user and capabilities, as /proc/self/status has them. */
static int read_privilege(const struct sysroot *root, unsigned *ret_uid,
			  unsigned long long *ret_capabilities)
{
	char text[8192];
	const char *uid, *capabilities;
	int r = sysroot_read(root, text, sizeof(text), "/proc/self/status");

	if (r < 0)
		return r;
	uid = strstr(text, "\nUid:");
	capabilities = strstr(text, "\nCapEff:");
	if (!uid || sscanf(uid, "\nUid: %*u %u", ret_uid) != 1 || !capabilities ||
	    sscanf(capabilities, "\nCapEff: %llx", ret_capabilities) != 1)
		return -EINVAL;
	return 0;
}

/* Root of a user namespace is root of nothing that is asked for here. */
static bool in_user_namespace(const struct sysroot *root)
{
	unsigned inside, outside, count;
	char text[256];

	if (sysroot_read(root, text, sizeof(text), "/proc/self/uid_map") < 0 ||
	    sscanf(text, "%u %u %u", &inside, &outside, &count) != 3)
		return false;
	return inside != 0 || outside != 0 || count != UINT32_MAX;
}

static int need_privilege(const struct sysroot *root, struct preflight *preflight)
{
	struct need *need = need_add(preflight, "privilege", NEED_FOR_RELAY | NEED_FOR_FTRACE);
	unsigned long long capabilities = 0;
	unsigned uid = 0;

	if (!need)
		return -ENOMEM;
	if (read_privilege(root, &uid, &capabilities) < 0) {
		need->state = NEED_UNKNOWN;
		why_set(&need->why, 0, "/proc/self/status does not tell what this user may do");
	} else if (in_user_namespace(root)) {
		need_fails(need, -EPERM);
		why_set(&need->why, 0,
			"this is a user namespace (a container?), whose root may not trace; run "
			"blkbox outside of it");
	} else if (uid != 0 &&
		   !(capabilities & (1ull << CAP_DAC_OVERRIDE | 1ull << CAP_DAC_READ_SEARCH))) {
		need_fails(need, -EACCES);
		why_set(&need->why, 0,
			"not root, and without CAP_DAC_READ_SEARCH: debugfs and tracefs are "
			"closed; run it as root");
	} else if (!(capabilities & 1ull << CAP_SYS_ADMIN)) {
		why_set(&need->why, 0,
			"may trace, but has no CAP_SYS_ADMIN (a container?): devices cannot be "
			"flushed at the end, use --no-flush");
	} else {
		why_set(&need->why, 0, uid ? "has the capabilities" : "root");
	}
	return 0;
}

/* *@ret_path: empty if it is not there. */
static int need_debugfs(const struct sysroot *root, const struct kernel_ops *kernel,
			const char *given, struct preflight *preflight, char *ret_path, size_t size)
{
	struct need *need = need_add(preflight, "debugfs", NEED_FOR_RELAY);
	int r;

	if (!need)
		return -ENOMEM;
	r = debugfs_find(root, kernel, given, ret_path, size, &need->why);
	if (r < 0) {
		ret_path[0] = '\0';
		need_fails(need, r);
	} else {
		why_set(&need->why, 0, "mounted at %s", ret_path);
	}
	return 0;
}

static int need_lockdown(const struct sysroot *root, const struct kernel_ops *kernel,
			 const char *debugfs, struct preflight *preflight)
{
	enum lockdown level = lockdown_read(root, kernel, *debugfs ? debugfs : NULL);
	struct need *need =
		need_add(preflight, "no lockdown",
			 level == LOCKDOWN_CONFIDENTIALITY ? NEED_FOR_RELAY | NEED_FOR_FTRACE
							   : NEED_FOR_RELAY);

	if (!need)
		return -ENOMEM;
	switch (level) {
	case LOCKDOWN_NONE:
		why_set(&need->why, 0, "the kernel is not locked down");
		break;
	case LOCKDOWN_UNKNOWN:
		need->state = NEED_UNKNOWN;
		why_set(&need->why, 0,
			"cannot be told: 'mount -t securityfs securityfs /sys/kernel/security'");
		break;
	case LOCKDOWN_INTEGRITY:
		need_fails(need, -EPERM);
		why_set(&need->why, 0, NEED_TEXT_LOCKDOWN);
		break;
	case LOCKDOWN_CONFIDENTIALITY:
		need_fails(need, -EPERM);
		why_set(&need->why, 0,
			"kernel lockdown at level confidentiality forbids debugfs and tracefs, "
			"even to root");
		break;
	}
	return 0;
}

static int need_tracer_off(const struct sysroot *root, struct preflight *preflight)
{
	struct need *need = need_add(preflight, "blk tracer off", NEED_FOR_RELAY);
	char tracefs[PATH_MAX];
	int r;

	if (!need)
		return -ENOMEM;
	if (tracing_state_user(root, NULL) == 1) {
		why_set(&need->why, 0, NEED_TEXT_LEFT);
		return 0;
	}
	if (tracefs_find(root, tracefs, sizeof(tracefs), NULL) < 0) {
		need->state = NEED_UNKNOWN;
		why_set(&need->why, 0, "cannot be told without tracefs");
		return 0;
	}
	r = preflight_tracer_conflict(root, &need->why);
	if (r < 0)
		need_fails(need, r);
	else
		why_set(&need->why, 0, "relay channels get the events");
	return 0;
}

static bool has_word(const char *words, const char *word)
{
	char text[1024], *save;

	snprintf(text, sizeof(text), "%s", words);
	for (char *w = strtok_r(text, " ", &save); w; w = strtok_r(NULL, " ", &save)) {
		if (!strcmp(w, word))
			return true;
	}
	return false;
}

static int check_tracefs(const struct sysroot *root, const struct kernel_ops *kernel,
			 const char *debugfs, struct why *why)
{
	char path[PATH_MAX], tracers[1024];
	int r = tracefs_find(root, path, sizeof(path), why);

	if (r < 0)
		return r;
	r = sysroot_read(root, tracers, sizeof(tracers), "%s/available_tracers", path);
	if (r < 0)
		return why_errno(why, r, "cannot read tracefs at %s", path);
	if (!has_word(tracers, "blk"))
		return why_set(why, -ENODEV,
			       "the kernel has no blk tracer (CONFIG_BLK_DEV_IO_TRACE)");
	r = tracing_state_user(root, why);
	if (r == 1)
		return why_set(why, 0, NEED_TEXT_LEFT);
	if (r >= 0)
		r = tracing_users_check(root, kernel, path, debugfs, why);
	return r < 0 ? r : why_set(why, 0, "mounted at %s, its blk tracer is free", path);
}

static int need_tracefs(const struct sysroot *root, const struct kernel_ops *kernel,
			const char *debugfs, struct preflight *preflight)
{
	struct need *need = need_add(preflight, "tracefs", NEED_FOR_FTRACE);
	int r;

	if (!need)
		return -ENOMEM;
	r = check_tracefs(root, kernel, debugfs, &need->why);
	if (r < 0)
		need_fails(need, r);
	return 0;
}

static int need_delay_accounting(const struct sysroot *root, struct preflight *preflight)
{
	struct need *need = need_add(preflight, "delay accounting", NEED_FOR_NAMES);
	uint64_t on;
	int r;

	if (!need)
		return -ENOMEM;
	r = sysroot_read_u64(root, &on, "/proc/sys/kernel/task_delayacct");
	if (r == -ENOENT) {
		need_fails(need, r);
		why_set(&need->why, 0,
			"the kernel has no switch for it (older than 5.14, or without "
			"CONFIG_TASK_DELAY_ACCT)");
	} else if (r < 0) {
		need->state = NEED_UNKNOWN;
		why_errno(&need->why, r, "cannot read /proc/sys/kernel/task_delayacct");
	} else if (!on) {
		need_fails(need, -EOPNOTSUPP);
		why_set(&need->why, 0,
			"off; 'sysctl kernel.task_delayacct=1' switches it on, for tasks that "
			"start later; recording does not need it");
	} else {
		why_set(&need->why, 0, "on");
	}
	return 0;
}

int needs_of_machine(const struct sysroot *root, const struct kernel_ops *kernel,
		     const char *debugfs, struct preflight *preflight)
{
	char path[PATH_MAX];
	int r = need_privilege(root, preflight);

	if (r == 0)
		r = need_debugfs(root, kernel, debugfs, preflight, path, sizeof(path));
	if (r == 0)
		r = need_lockdown(root, kernel, path, preflight);
	if (r == 0)
		r = need_tracer_off(root, preflight);
	if (r == 0)
		r = need_tracefs(root, kernel, debugfs, preflight);
	if (r == 0)
		r = need_delay_accounting(root, preflight);
	return r;
}
