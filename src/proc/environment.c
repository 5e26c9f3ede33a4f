/* SPDX-License-Identifier: MIT */
#include "environment.h"

#include "io_counters.h"

#include <fcntl.h>
#include <sys/vfs.h>

/* stat(1) writes the number of a file system that it has no name for. */
static void name_label(struct environment *environment)
{
	const struct file_system *fs = &environment->file_system;

	if (fs->label)
		snprintf(environment->label, sizeof(environment->label), "%s", fs->label);
	else
		snprintf(environment->label, sizeof(environment->label), "UNKNOWN (0x%llx)",
			 (unsigned long long)fs->magic);
}

int environment_read(int proc_fd, int dir_fd, struct environment *ret, struct why *why)
{
	struct environment environment = {.page_bytes = sysconf(_SC_PAGESIZE)};
	_cleanup_close_ int program = openat(proc_fd, "self/exe", O_RDONLY | O_CLOEXEC);
	struct io_counters own;
	struct statfs fs;
	int r;

	if (uname(&environment.machine) < 0 || fstatfs(dir_fd, &fs) < 0)
		return why_errno(why, -errno, "cannot tell where this is");
	environment.file_system = file_system_by_magic((uint32_t)fs.f_type);
	name_label(&environment);
	if (program >= 0)
		file_digest(program, environment.program);
	r = io_counters_read(proc_fd, getpid(), 0, &own, why);
	if (r < 0)
		return r;
	environment.accounting = true;
	*ret = environment;
	return 0;
}
