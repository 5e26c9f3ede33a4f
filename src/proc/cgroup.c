/* SPDX-License-Identifier: MIT */
#include "cgroup.h"

#include "number.h"

#include <fcntl.h>
#include <limits.h>
#include <string.h>

enum {
	REMOVE_TRIES = 200,
	REMOVE_PAUSE_US = 10000
};

/* Reads a small file whole. */
static int read_text(const char *path, char *ret, size_t size)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
	size_t done = 0;
	ssize_t n;

	if (fd < 0)
		return -errno;
	while ((n = read(fd, ret + done, size - 1 - done)) > 0)
		done += (size_t)n;
	if (n < 0)
		return -errno;
	ret[done] = '\0';
	return 0;
}

/* Where cgroup2 is mounted: from /proc/self/mounts, "cgroup2 PATH cgroup2 ...". */
static int find_mount(char *ret, size_t size)
{
	_cleanup_fclose_ FILE *mounts = fopen("/proc/self/mounts", "re");
	char line[PATH_MAX + 256], path[PATH_MAX], type[64];

	while (mounts && fgets(line, sizeof(line), mounts)) {
		if (sscanf(line, "%*s %4095s %63s", path, type) == 2 && !strcmp(type, "cgroup2")) {
			snprintf(ret, size, "%s", path);
			return 0;
		}
	}
	return -ENOENT;
}

/* Our own cgroup: the line "0::PATH". */
static int find_own(char *ret, size_t size)
{
	_cleanup_fclose_ FILE *file = fopen("/proc/self/cgroup", "re");
	char line[PATH_MAX];

	while (file && fgets(line, sizeof(line), file)) {
		if (!strncmp(line, "0::/", 4)) {
			line[strcspn(line, "\n")] = '\0';
			snprintf(ret, size, "%s", line + 3);
			return 0;
		}
	}
	return -ENOENT;
}

static bool has_word(const char *text, const char *word)
{
	size_t n = strlen(word);

	for (text += strspn(text, " \n"); *text; text += strspn(text, " \n")) {
		size_t length = strcspn(text, " \n");

		if (length == n && !memcmp(text, word, n))
			return true;
		text += length;
	}
	return false;
}

static bool file_has(const char *directory, const char *file, const char *word)
{
	_cleanup_free_ char *path = NULL;
	char text[1024];

	return asprintf(&path, "%s/%s", directory, file) > 0 &&
	       read_text(path, text, sizeof(text)) == 0 && has_word(text, word);
}

bool cgroup_has(const char *path, const char *controller)
{
	return file_has(path, "cgroup.controllers", controller);
}

int cgroup_find_parent(char *ret, size_t size, struct why *why)
{
	char mount[PATH_MAX], own[PATH_MAX];
	_cleanup_free_ char *path = NULL;

	if (find_mount(mount, sizeof(mount)) < 0 || find_own(own, sizeof(own)) < 0 ||
	    asprintf(&path, "%s%s", mount, own) < 0)
		return why_set(why, -ENOENT, "there is no cgroup v2 hierarchy");
	while (strlen(path) >= strlen(mount)) {
		char *slash = strrchr(path, '/');

		if (file_has(path, "cgroup.subtree_control", "io")) {
			snprintf(ret, size, "%s", path);
			return 0;
		}
		if (!slash || slash == path)
			break;
		*slash = '\0';
	}
	return why_set(why, -ENOENT,
		       "no cgroup v2 above this process gives its children the io controller "
		       "(+io in its cgroup.subtree_control; on a v1 machine, v1 holds it)");
}

/* "8:0 rbytes=1 wbytes=2 rios=..." */
int cgroup_io_parse(const char *text, struct cgroup_io *ret)
{
	_cleanup_free_ char *copy = strdup(text);
	struct cgroup_io sum = {0};
	char *rest = copy, *word;

	if (!copy)
		return -ENOMEM;
	while ((word = strsep(&rest, " \n"))) {
		bool reads = !strncmp(word, "rbytes=", 7);
		uint64_t value;

		if (!reads && strncmp(word, "wbytes=", 7) != 0)
			continue;
		if (count_parse(word + 7, &value, NULL) < 0)
			return -EBADMSG;
		*(reads ? &sum.read_bytes : &sum.write_bytes) += value;
	}
	*ret = sum;
	return 0;
}

int cgroup_io_read(const char *path, struct cgroup_io *ret, struct why *why)
{
	enum {
		TEXT_BYTES = 64 << 10
	};
	_cleanup_free_ char *file = NULL, *text = malloc(TEXT_BYTES);
	int r = text && asprintf(&file, "%s/io.stat", path) > 0 ? 0 : -ENOMEM;

	if (r == 0)
		r = read_text(file, text, TEXT_BYTES);
	if (r == 0)
		r = cgroup_io_parse(text, ret);
	return r < 0 ? why_errno(why, r, "cannot read io.stat of %s", path) : 0;
}

int cgroup_add(const char *path, pid_t pid, struct why *why)
{
	_cleanup_free_ char *file = NULL;
	_cleanup_close_ int fd = -1;
	char text[16];
	int n = snprintf(text, sizeof(text), "%d", pid);

	if (asprintf(&file, "%s/cgroup.procs", path) < 0)
		return why_errno(why, -ENOMEM, "cannot use the cgroup %s", path);
	fd = open(file, O_WRONLY | O_CLOEXEC);
	if (fd < 0 || write(fd, text, (size_t)n) != n)
		return why_errno(why, -errno, "cannot put a process into the cgroup %s", path);
	return 0;
}

void cgroup_remove(const char *path)
{
	for (int i = 0; i < REMOVE_TRIES; i++) {
		if (rmdir(path) == 0 || errno != EBUSY)
			return;
		usleep(REMOVE_PAUSE_US);
	}
}
