/* SPDX-License-Identifier: MIT */
#include "stall_keeper.h"

#include "delay_lease.h"
#include "delay_switch.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>

static void turn_back(struct stall_shared *shared)
{
	if (!shared->delay_enabled)
		return;
	/* If that fails, the guardian has another try. */
	if (delay_lease_give(shared->lease_fd, shared->proc_fd) == 0)
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

static int open_lease(void)
{
	_cleanup_close_ int run_fd = open("/run", O_PATH | O_DIRECTORY | O_CLOEXEC);

	return run_fd < 0 ? -1 : delay_lease_open(run_fd);
}

int stall_keeper_start(struct stall_keeper *keeper, int proc_fd, const char *path, bool enables,
		       struct why *why)
{
	struct stall_shared *shared;
	int keep[2] = {proc_fd};

	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		      0);
	if (shared == MAP_FAILED)
		return why_errno(why, -errno, "no memory");
	keeper->shared = shared;
	shared->proc_fd = proc_fd;
	shared->lease_fd = enables ? open_lease() : -1;
	keep[1] = shared->lease_fd;
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
	return guardian_start(&keeper->guardian, restore, shared, keep,
			      shared->lease_fd < 0 ? 1 : 2, why);
}

int stall_keeper_enable_delay(struct stall_keeper *keeper, struct why *why)
{
	struct stall_shared *shared = keeper->shared;
	int r = delay_lease_take(shared->lease_fd, shared->proc_fd, &shared->delay_enabled, why);

	keeper->enabled = r == 0 && shared->delay_enabled;
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
	close_keep_errno(keeper->shared->lease_fd);
	munmap(keeper->shared, sizeof(*keeper->shared));
	keeper->shared = NULL;
}
