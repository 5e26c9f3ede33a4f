/* SPDX-License-Identifier: MIT */
#include "privileges.h"

#include <cap-ng.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/prctl.h>

/* Each is here because something fails without it: tests/live/privileges.sh shows what. */
static const struct {
	int capability;
	unsigned needs;
} kept[] = {
	/* The ioctls of a trace, BLKFLSBUF, mount(2), kernel.task_delayacct. */
	{CAP_SYS_ADMIN, KEEP_FOR_TRACE | KEEP_FOR_MOUNTS | KEEP_FOR_SWITCHES},
	/* Devices and tracefs may belong to somebody but root; the output's folder is a user's. */
	{CAP_DAC_OVERRIDE, KEEP_FOR_TRACE | KEEP_FOR_FILES | KEEP_FOR_MOUNTS},
	{CAP_DAC_READ_SEARCH, KEEP_FOR_PROCESSES},
	/* /proc/PID/io; who holds a trace; names, where /proc is mounted with hidepid. */
	{CAP_SYS_PTRACE, KEEP_FOR_TRACE | KEEP_FOR_PROCESSES},
	/* A file given to the user is to be renamed in a sticky folder. */
	{CAP_FOWNER, KEEP_FOR_FILES},
	{CAP_CHOWN, KEEP_FOR_FILES},
	{CAP_KILL, KEEP_FOR_CHILD},
	{CAP_IPC_LOCK, KEEP_FOR_MEMORY},
	{CAP_NET_ADMIN, KEEP_FOR_TASKSTATS},
};

static bool is_needed(int capability, unsigned needs)
{
	for (size_t i = 0; i < sizeof(kept) / sizeof(kept[0]); i++) {
		if (kept[i].capability == capability)
			return kept[i].needs & needs;
	}
	return false;
}

int privileges_keep(unsigned needs, struct why *why)
{
	capng_select_t sets = CAPNG_SELECT_CAPS;
	int r;

	if (capng_get_caps_process() < 0)
		return why_set(why, -EIO, "cannot find out which capabilities this process has");
	if (capng_have_capability(CAPNG_EFFECTIVE, CAP_SETPCAP))
		sets = CAPNG_SELECT_BOTH;
	for (int i = 0; i <= CAP_LAST_CAP; i++) {
		if (!is_needed(i, needs))
			capng_update(CAPNG_DROP,
				     CAPNG_EFFECTIVE | CAPNG_PERMITTED | CAPNG_BOUNDING_SET,
				     (unsigned)i);
	}
	capng_update(CAPNG_DROP, CAPNG_INHERITABLE, CAP_SYS_ADMIN);
	r = capng_apply(sets);
	if (r < 0)
		return why_set(why, -EPERM, "cannot give up capabilities (step %d)", -r);
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return why_errno(why, -errno, "cannot set no_new_privs");
	return 0;
}
