/* SPDX-License-Identifier: MIT */
#include "aside.h"

#include "output.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

/* What becomes of a file that is there already. */
enum existing {
	KEEP,	       /* and that is final */
	KEEP_OR_FORCE, /* its user may insist */
	REPLACE,
};

static int refuse_existing(const char *path, const char *what, enum existing existing,
			   struct why *why)
{
	return why_set(why, -EEXIST, "%s exists%s; %s", path, what,
		       existing == KEEP ? "it is not overwritten" : "--force overwrites it");
}

/* What PATH is by now: 0 = nothing or a file to be replaced, 1 = to be written directly. */
static int look_at(const char *path, enum existing existing, struct why *why)
{
	enum output_place place;
	int r = output_look(path, &place, why);

	if (r < 0 || place == OUTPUT_NOTHING)
		return r;
	if (place == OUTPUT_DIRECT)
		return 1;
	return existing == REPLACE ? 0 : refuse_existing(path, "", existing, why);
}

/* Replaced is anew: what is there may have another mode, other names, or be a pipe or a link. */
static int create_part(const char *part, enum existing existing, struct why *why)
{
	int fd;

	if (existing == REPLACE)
		unlink(part); /* if that fails, so does the next */
	/* Readable: what is unfinished may have to be read to be finished by somebody else. */
	fd = open(part, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0600);
	if (fd >= 0)
		return fd;
	if (errno == EEXIST && existing != REPLACE)
		return refuse_existing(part, " (an unfinished output?)", existing, why);
	return why_errno(why, -errno, "cannot create %s", part);
}

static int open_part(struct aside *aside, const char *path, enum existing existing, struct why *why)
{
	_cleanup_free_ char *own_path = strdup(path);
	_cleanup_free_ char *part = NULL;
	int direct = look_at(path, existing, why);
	int fd;

	*aside = (struct aside){.fd = -1};
	if (direct < 0)
		return direct;
	if (!own_path || (!direct && asprintf(&part, "%s.part", path) < 0))
		return why_set(why, -ENOMEM, "no memory");
	/* A pipe that nobody reads must not make us wait where no signal is heard: it is ENXIO. */
	fd = direct ? output_open_direct(path, why) : create_part(part, existing, why);
	if (fd < 0)
		return fd;
	if (!direct)
		output_give_to_user(fd);
	aside->fd = fd;
	aside->path = take_ptr(own_path);
	aside->part = take_ptr(part);
	return 0;
}

int aside_open(struct aside *aside, const char *path, bool force, struct why *why)
{
	return open_part(aside, path, force ? REPLACE : KEEP_OR_FORCE, why);
}

/* What it will be called in its directory. */
static const char *last_part(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static int open_directory(const char *path)
{
	size_t n = (size_t)(last_part(path) - path);
	_cleanup_free_ char *directory = n ? strndup(path, n) : strdup(".");
	int fd = directory ? open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;

	return fd < 0 ? -errno : fd;
}

int aside_open_unnamed(struct aside *aside, const char *path, struct why *why)
{
	_cleanup_free_ char *own_path = strdup(path);
	_cleanup_close_ int dir_fd = -1;
	struct stat st;
	int fd = -1;

	*aside = (struct aside){.fd = -1};
	if (!own_path)
		return why_set(why, -ENOMEM, "no memory");
	if (lstat(path, &st) == 0) {
		if (S_ISREG(st.st_mode))
			return refuse_existing(path, "", KEEP, why);
	} else if (*last_part(path) && (dir_fd = open_directory(path)) >= 0) {
		fd = openat(dir_fd, ".", O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
	}
	/* What is no plain file is told of, or written to, as ever. */
	if (fd < 0)
		return open_part(aside, path, KEEP, why);
	output_give_to_user(fd);
	*aside = (struct aside){
		.fd = fd,
		.path = take_ptr(own_path),
		.unnamed = true,
		.dir_fd = take_fd(&dir_fd),
	};
	return 0;
}

static int commit_unnamed(struct aside *aside, struct why *why)
{
	_cleanup_close_ int fd = take_fd(&aside->fd);
	char link[64];

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	/* By its directory: the path may lead elsewhere by now, in another mount namespace. */
	if (linkat(AT_FDCWD, link, aside->dir_fd, last_part(aside->path), AT_SYMLINK_FOLLOW) < 0)
		return why_errno(why, -errno, "cannot give %s its name", aside->path);
	return 0;
}

int aside_commit(struct aside *aside, bool force, struct why *why)
{
	unsigned flags = force ? 0 : RENAME_NOREPLACE;
	int fd, r;

	if (aside->unnamed)
		return commit_unnamed(aside, why);
	fd = take_fd(&aside->fd);
	/* A full disk may be told as late as here. */
	if (close(fd) < 0)
		return why_errno(why, -errno, "cannot write %s",
				 aside->part ? aside->part : aside->path);
	if (!aside->part)
		return 0;
	r = renameat2(AT_FDCWD, aside->part, AT_FDCWD, aside->path, flags);
	if (r < 0 && errno == EINVAL && flags) /* not every file system knows the flag */
		r = rename(aside->part, aside->path);
	if (r < 0) {
		aside->stays = true;
		return why_errno(why, -errno, "cannot rename %s to %s", aside->part, aside->path);
	}
	free(take_ptr(aside->part));
	return 0;
}

void aside_keep(struct aside *aside)
{
	close_keep_errno(take_fd(&aside->fd));
	aside->stays = true;
}

void aside_deinit(struct aside *aside)
{
	close_keep_errno(take_fd(&aside->fd));
	if (aside->part && !aside->stays)
		unlink(aside->part);
	if (aside->unnamed)
		close_keep_errno(aside->dir_fd);
	aside->unnamed = false;
	free(aside->path);
	free(aside->part);
	aside->path = aside->part = NULL;
}
