/* SPDX-License-Identifier: MIT */
#include "stall_keeper.h"

#include "delay_switch.h"

#include <string.h>
#include <sys/mman.h>

static void turn_back(struct stall_shared *shared)
{
	if (!shared->delay_enabled)
		return;
	/* If that fails, the guardian has another try. */
	if (delay_switch_turn(shared->proc_fd, false, NULL) == 0)
		shared->delay_enabled = false;
}

/* In the guardian. */
static void restore(void *context)
{
	struct stall_shared *shared = context;

	turn_back(shared);
	if (shared->path[0])
		csv_file_mend(shared->path, &shared->identity);
}

int stall_keeper_start(struct stall_keeper *keeper, int proc_fd, const char *path, bool enables,
		       struct why *why)
{
	struct stall_shared *shared;
	int keep[] = {proc_fd};

	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		      0);
	if (shared == MAP_FAILED)
		return why_errno(why, -errno, "no memory");
	keeper->shared = shared;
	shared->proc_fd = proc_fd;
	/* It may be looked for from another directory. */
	if (path && path[0] == '/')
		snprintf(shared->path, sizeof(shared->path), "%s", path);
	else if (path && getcwd(shared->path, sizeof(shared->path))) {
		size_t n = strlen(shared->path);

		snprintf(shared->path + n, sizeof(shared->path) - n, "/%s", path);
	}
	/* There is nothing to be left behind otherwise. */
	if (!path && !enables)
		return 0;
	return guardian_start(&keeper->guardian, restore, shared, keep, 1, why);
}

int stall_keeper_enable_delay(struct stall_keeper *keeper, struct why *why)
{
	struct delay_switch delay;
	int r;

	delay_switch_init(&delay, keeper->shared->proc_fd, 0);
	if (delay.state == DELAY_ON)
		return 0;
	/* First, so that it is turned back if we die in between. */
	keeper->shared->delay_enabled = true;
	r = delay_switch_turn(keeper->shared->proc_fd, true, why);
	keeper->enabled = r == 0;
	if (r < 0)
		keeper->shared->delay_enabled = false;
	return r;
}

void stall_keeper_end(struct stall_keeper *keeper)
{
	if (!keeper->shared)
		return;
	turn_back(keeper->shared);
	if (keeper->shared->delay_enabled)
		guardian_leave(&keeper->guardian);
	else
		guardian_release(&keeper->guardian);
	munmap(keeper->shared, sizeof(*keeper->shared));
	keeper->shared = NULL;
}
