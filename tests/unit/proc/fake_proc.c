/* SPDX-License-Identifier: MIT */
#include "fake_proc.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void remove_tree(const struct fake_proc *fake, const char *path)
{
	char command[PATH_MAX + 128];

	snprintf(command, sizeof(command), "rm -rf '%s/%s'", fake->path, path);
	cr_assert_eq(system(command), 0, "%s", command);
}

void fake_proc_make(struct fake_proc *fake)
{
	strcpy(fake->path, "/tmp/blkbox-fake-proc-XXXXXX");
	cr_assert_not_null(mkdtemp(fake->path));
	fake->root_fd = open(fake->path, O_RDONLY | O_DIRECTORY);
	mkdirat(fake->root_fd, "proc", 0700);
	mkdirat(fake->root_fd, "sys", 0700);
	fake->proc_fd = openat(fake->root_fd, "proc", O_RDONLY | O_DIRECTORY);
	fake->sys_fd = openat(fake->root_fd, "sys", O_RDONLY | O_DIRECTORY);
}

void fake_proc_remove(struct fake_proc *fake)
{
	remove_tree(fake, "");
	close(fake->root_fd);
	close(fake->proc_fd);
	close(fake->sys_fd);
}

void fake_put(struct fake_proc *fake, const char *path, const char *text)
{
	char part[PATH_MAX];
	int fd;

	for (const char *slash = path; (slash = strchr(slash, '/')); slash++) {
		snprintf(part, sizeof(part), "%.*s", (int)(slash - path), path);
		mkdirat(fake->root_fd, part, 0700);
	}
	fd = openat(fake->root_fd, path, O_CREAT | O_WRONLY | O_TRUNC, 0600);
	cr_assert_geq(fd, 0, "%s", path);
	cr_assert_eq(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	close(fd);
}

void fake_remove(struct fake_proc *fake, const char *path)
{
	remove_tree(fake, path);
}

void fake_task(struct fake_proc *fake, const struct fake_task *task)
{
	char path[64], text[512];

	/* As a kernel writes it: fields 1 to 52. */
	snprintf(
		text, sizeof(text),
		"%d (%s) %c %d 9 9 0 -1 4194304 100 200 %u 4 50 60 7 8 20 0 %u 0 %llu 1000000 200 "
		"18446744073709551615 1 1 0 0 0 0 0 0 17 0 0 0 17 1 0 0 %llu 0 0 1 2 3 4 5 6 7 0\n",
		task->pid, task->name, task->state, task->parent, task->major_faults,
		task->threads ? task->threads : 1, task->start_ticks, task->blkio_ticks);
	snprintf(path, sizeof(path), "proc/%d/task/%d/stat", task->pid,
		 task->tid ? task->tid : task->pid);
	fake_put(fake, path, text);
}

void fake_io(struct fake_proc *fake, pid_t pid, const struct fake_io *io)
{
	char path[64], text[512];

	snprintf(text, sizeof(text),
		 "rchar: %llu\nwchar: %llu\nsyscr: 10\nsyscw: 10\nread_bytes: %llu\n"
		 "write_bytes: %llu\ncancelled_write_bytes: 0\n",
		 io->rchar, io->wchar, io->read_bytes, io->write_bytes);
	snprintf(path, sizeof(path), "proc/%d/io", pid);
	fake_put(fake, path, text);
}

void fake_end(struct fake_proc *fake, pid_t pid)
{
	char path[64];

	snprintf(path, sizeof(path), "proc/%d", pid);
	fake_remove(fake, path);
}
