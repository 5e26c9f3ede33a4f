/* SPDX-License-Identifier: MIT */
#include "proc_file.h"

#include "cleanup.h"
#include "clock.h"
#include "figure.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/resource.h>
#include <sys/statfs.h>

enum {
	OTHER_FILES = 64, /* of this program */
	MOST_FILES = 1 << 18,
};

void proc_files_init(struct proc_files *files, int proc_fd)
{
	struct rlimit limit = {.rlim_cur = MOST_FILES, .rlim_max = MOST_FILES};
	struct statfs fs;

	/* Root may go beyond the hard limit. */
	if (setrlimit(RLIMIT_NOFILE, &limit) < 0 && getrlimit(RLIMIT_NOFILE, &limit) == 0) {
		limit.rlim_cur = limit.rlim_max < MOST_FILES ? limit.rlim_max : MOST_FILES;
		setrlimit(RLIMIT_NOFILE, &limit);
	}
	if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
		limit.rlim_cur = 0;
	*files = (struct proc_files){
		.proc_fd = proc_fd,
		.most = limit.rlim_cur > OTHER_FILES ? (unsigned)limit.rlim_cur - OTHER_FILES : 0,
		.is_real = fstatfs(proc_fd, &fs) == 0 && fs.f_type == PROC_SUPER_MAGIC,
	};
}

static ssize_t read_pieces(int fd, char *buffer, size_t size, int pieces)
{
	size_t used = 0;

	while (used < size - 1 && pieces--) {
		ssize_t n = pread(fd, buffer + used, size - 1 - used, (off_t)used);

		if (n < 0 && errno == EINTR) {
			pieces++;
			continue;
		}
		if (n < 0)
			return -errno;
		if (n == 0)
			break;
		used += (size_t)n;
	}
	buffer[used] = '\0';
	return (ssize_t)used;
}

static ssize_t read_file(struct proc_files *files, int *fd, const char *path, char *buffer,
			 size_t size, int pieces)
{
	_cleanup_close_ int own = -1;
	ssize_t n;

	if (*fd >= 0)
		return read_pieces(*fd, buffer, size, pieces);
	own = openat(files->proc_fd, path, O_RDONLY | O_CLOEXEC);
	if (own < 0)
		return -errno;
	n = read_pieces(own, buffer, size, pieces);
	if (n >= 0 && files->kept < files->most) {
		files->kept++;
		*fd = take_fd(&own);
	}
	return n;
}

ssize_t proc_file_read(struct proc_files *files, int *fd, const char *path, char *buffer,
		       size_t size)
{
	return read_file(files, fd, path, buffer, size, 1);
}

ssize_t proc_file_read_all(struct proc_files *files, int *fd, const char *path, char *buffer,
			   size_t size)
{
	return read_file(files, fd, path, buffer, size, 1 << 16);
}

void proc_file_close(struct proc_files *files, int *fd)
{
	if (*fd < 0)
		return;
	close(take_fd(fd));
	files->kept--;
}

uint64_t proc_cpu_ns(const struct proc_files *files, pid_t pid)
{
	/* As clock_getcpuclockid(3) makes it, which takes one more system call. */
	clockid_t clock = (clockid_t)(~(unsigned)pid << 3 | 2);
	struct timespec time;

	if (!files->is_real || clock_gettime(clock, &time) < 0)
		return FIGURE_UNKNOWN;
	return (uint64_t)time.tv_sec * NS_PER_S + (uint64_t)time.tv_nsec;
}
