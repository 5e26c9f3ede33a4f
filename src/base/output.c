/* SPDX-License-Identifier: MIT */
#include "output.h"

#include "cleanup.h"
#include "invoker.h"

#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>

/* Links by their nature, in places where nobody but root and we ourselves can put one. */
static bool is_descriptor_name(const char *path)
{
	static const char *const places[] = {"/dev/fd/", "/proc/self/fd/"};

	if (!strcmp(path, "/dev/stdout") || !strcmp(path, "/dev/stderr"))
		return true;
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		size_t n = strlen(places[i]);

		if (!strncmp(path, places[i], n))
			return path[n] && path[n + strspn(path + n, "0123456789")] == '\0';
	}
	return false;
}

/* "/dev/stdout" and what points there: to be written to, it would be replaced. */
static bool leads_to_descriptor(const char *path)
{
	char target[PATH_MAX];
	ssize_t n = readlink(path, target, sizeof(target) - 1);

	if (n < 0)
		return false;
	target[n] = '\0';
	return !strncmp(path, "/dev/", 5) || !strncmp(path, "/proc/", 6) ||
	       !strncmp(target, "/dev/", 5) || !strncmp(target, "/proc/", 6);
}

int output_look(const char *path, enum output_place *ret, struct why *why)
{
	struct stat link, target;

	*ret = OUTPUT_NOTHING;
	if (lstat(path, &link) < 0)
		return 0;
	*ret = OUTPUT_FILE;
	if (stat(path, &target) < 0) /* a link to nowhere is something, too */
		return 0;
	if (S_ISDIR(target.st_mode))
		return why_set(why, -EISDIR, "cannot write to %s: it is a directory", path);
	/* A slip of the finger would cost a whole disk; nobody needs it. */
	if (S_ISBLK(target.st_mode))
		return why_set(why, -EINVAL, "%s is a block device: it is not written to", path);
	if (!S_ISREG(target.st_mode) && (!S_ISLNK(link.st_mode) || is_descriptor_name(path)))
		*ret = OUTPUT_DIRECT;
	else if (leads_to_descriptor(path))
		return why_set(why, -EINVAL,
			       "%s is a symbolic link to an open file or a device, which is not "
			       "followed; standard output is '-'",
			       path);
	return 0;
}

static bool is_of_us(uid_t uid)
{
	struct invoker user;

	return uid == 0 || uid == geteuid() || (invoker_find(&user) && uid == user.uid);
}

/* Between the look and the opening, somebody may have put something else there. */
static int check_direct(int fd, const char *path, struct why *why)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return why_errno(why, -errno, "cannot write to %s", path);
	if (S_ISREG(st.st_mode) || S_ISBLK(st.st_mode))
		return why_set(why, -EAGAIN, "%s has become something else: not written to", path);
	/* Of a descriptor we have it is no matter who made it. */
	if (S_ISFIFO(st.st_mode) && !is_descriptor_name(path) && !is_of_us(st.st_uid))
		return why_set(why, -EPERM,
			       "the pipe %s belongs to another user (%u), who would read it all",
			       path, (unsigned)st.st_uid);
	return 0;
}

int output_open_direct(const char *path, struct why *why)
{
	/* Waiting for a reader, with signals blocked, would be for ever. */
	int flags = O_WRONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK |
		    (is_descriptor_name(path) ? 0 : O_NOFOLLOW);
	_cleanup_close_ int fd = open(path, flags);
	int r;

	if (fd < 0 && errno == ENXIO)
		return why_set(why, -ENXIO, "cannot write to %s: nobody reads from it", path);
	if (fd < 0)
		return why_errno(why, -errno, "cannot write to %s", path);
	r = check_direct(fd, path, why);
	if (r < 0)
		return r;
	fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) & ~O_NONBLOCK);
	return take_fd(&fd);
}

int output_create(const char *path, int flags, struct why *why)
{
	/* O_EXCL follows no link either, not even one to nowhere. */
	int fd = open(path, flags | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC | O_NOCTTY, 0600);

	if (fd < 0)
		return why_errno(why, -errno, "cannot create %s", path);
	output_give_to_user(fd);
	return fd;
}

int output_open_append(const char *path, struct why *why)
{
	_cleanup_close_ int fd =
		open(path, O_RDWR | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
	struct stat st;

	if (fd < 0 && errno == ELOOP)
		return why_set(why, -ELOOP, "%s is a symbolic link, which is not followed", path);
	if (fd < 0 || fstat(fd, &st) < 0)
		return why_errno(why, -errno, "cannot write to %s", path);
	if (!S_ISREG(st.st_mode))
		return why_set(why, -EINVAL, "%s is no plain file", path);
	/* Somebody else's, under a name that we were to fall for. */
	if (st.st_nlink > 1 || !is_of_us(st.st_uid))
		return why_set(why, -EPERM, "%s is not appended to: it %s", path,
			       st.st_nlink > 1 ? "has another name, too"
					       : "belongs to another user");
	return take_fd(&fd);
}

int output_make_directory(const char *path, struct why *why)
{
	_cleanup_close_ int fd = -1;

	if (mkdir(path, 0777) < 0)
		return errno == EEXIST
			       ? 0
			       : why_errno(why, -errno, "cannot make the directory %s", path);
	fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd >= 0)
		output_give_to_user(fd);
	return 0;
}

void output_give_to_user(int fd)
{
	struct invoker user;
	int ignored;

	if (!invoker_find(&user))
		return;
	/* A file system without owners refuses; the file is then as good as it can be. */
	ignored = fchown(fd, user.uid, user.gid);
	(void)ignored;
}
