/* SPDX-License-Identifier: MIT */
#include "scratch.h"

#include "cgroup.h"
#include "invoker.h"

#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>

enum {
	REMOVE_TRIES = 100,
	REMOVE_PAUSE_US = 10000
};

/* Files only: there are no directories but the file system's own (lost+found). */
int directory_empty(int fd)
{
	/* An open file description of its own: dup() would share the place that it is read at. */
	int own = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	_cleanup_closedir_ DIR *dir = own < 0 ? NULL : fdopendir(own);
	struct dirent *entry;
	int r = 0;

	if (!dir) {
		r = -errno;
		close_keep_errno(own);
		return r;
	}
	while ((entry = readdir(dir))) {
		if (unlinkat(fd, entry->d_name, 0) < 0 && errno != EISDIR && errno != ENOENT)
			r = -errno;
	}
	return r;
}

static int remove_directory(int parent_fd, const char *name)
{
	_cleanup_close_ int fd =
		openat(parent_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	int r = 0;

	if (fd < 0)
		return errno == ENOENT ? 0 : -errno;
	/* A worker that is about to die may make one more file. */
	for (int i = 0; i < REMOVE_TRIES; i++) {
		directory_empty(fd);
		if (unlinkat(parent_fd, name, AT_REMOVEDIR) == 0)
			return 0;
		r = -errno;
		if (r != -ENOTEMPTY)
			break;
		usleep(REMOVE_PAUSE_US);
	}
	return r;
}

static int remove_all(const struct scratch *scratch)
{
	int r = remove_directory(scratch->parent_fd, scratch->name);

	if (scratch->cgroup[0])
		cgroup_remove(scratch->cgroup);
	return r;
}

static void clean_up(void *context)
{
	remove_all(context);
}

/* Nobody else has the name, not even by bad will: it is the guardian's to remove. */
static int choose_name(struct scratch *scratch)
{
	uint64_t number[2];

	if (getrandom(number, sizeof(number), 0) != (ssize_t)sizeof(number))
		return -errno;
	snprintf(scratch->name, sizeof(scratch->name), "blkbox-io-%016" PRIx64 "%016" PRIx64,
		 number[0], number[1]);
	return 0;
}

static int make_directory(struct scratch *scratch, const char *parent, struct why *why)
{
	int r;

	if (mkdirat(scratch->parent_fd, scratch->name, 0700) < 0)
		return why_errno(why, -errno, "cannot make a directory in %s", parent);
	scratch->fd = openat(scratch->parent_fd, scratch->name,
			     O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (scratch->fd >= 0)
		return 0;
	r = -errno;
	/* Nobody could open it to clean up. */
	unlinkat(scratch->parent_fd, scratch->name, AT_REMOVEDIR);
	return why_errno(why, r, "cannot open a directory in %s", parent);
}

int scratch_create(struct scratch *scratch, const char *parent, const char *cgroup_parent,
		   struct why *why)
{
	int r;

	*scratch = (struct scratch){.parent_fd = -1, .fd = -1, .guardian.fd = -1};
	if (!parent)
		parent = getenv("TMPDIR") && !is_privileged() ? getenv("TMPDIR") : "/tmp";
	scratch->parent_fd = open(parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (scratch->parent_fd < 0)
		return why_errno(why, -errno, "cannot use the directory %s", parent);
	r = choose_name(scratch);
	if (r < 0)
		return why_errno(why, r, "cannot name a directory in %s", parent);
	snprintf(scratch->path, sizeof(scratch->path), "%s/%s", parent, scratch->name);
	if (cgroup_parent)
		snprintf(scratch->cgroup, sizeof(scratch->cgroup), "%s/%s", cgroup_parent,
			 scratch->name);
	/* It is there before the directory is. */
	r = guardian_start(&scratch->guardian, clean_up, scratch, &scratch->parent_fd, 1, why);
	if (r == 0)
		r = make_directory(scratch, parent, why);
	if (r < 0)
		scratch_destroy(scratch);
	return r;
}

int scratch_destroy(struct scratch *scratch)
{
	int r = scratch->fd >= 0 ? remove_all(scratch) : 0;

	guardian_release(&scratch->guardian);
	close_keep_errno(take_fd(&scratch->fd));
	close_keep_errno(take_fd(&scratch->parent_fd));
	return r;
}
