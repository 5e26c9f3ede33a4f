/* SPDX-License-Identifier: MIT */
#include "fake_kernel.h"

#include "blktrace.h"
#include "cleanup.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <string.h>
#include <sys/sysmacros.h>

/* Path of an open file on the made-up machine; "" if it is gone or elsewhere. */
static void path_of(const struct fake_kernel *kernel, int fd, char ret[PATH_MAX])
{
	char link[64], path[PATH_MAX];
	size_t prefix = strlen(kernel->tree->path);
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = readlink(link, path, sizeof(path) - 1);
	path[n < 0 ? 0 : n] = '\0';
	ret[0] = '\0';
	if (!strncmp(path, kernel->tree->path, prefix) && !strstr(path, " (deleted)"))
		strcpy(ret, path + prefix);
}

static bool ends_with(const char *text, const char *end)
{
	size_t n = strlen(text), m = strlen(end);

	return n >= m && !strcmp(text + n - m, end);
}

/* The trace that a debugfs file belongs to, or belonged to. */
static struct fake_trace *trace_of_file(struct fake_kernel *kernel, int fd)
{
	char path[PATH_MAX], prefix[PATH_MAX];

	path_of(kernel, fd, path);
	for (size_t i = 0; i < FAKE_TRACES_MAX; i++) {
		snprintf(prefix, sizeof(prefix), FAKE_DEBUGFS "/block/%s/", kernel->traces[i].name);
		if (kernel->traces[i].in_use && !strncmp(path, prefix, strlen(prefix)))
			return &kernel->traces[i];
	}
	return NULL;
}

static bool is_gone(int fd)
{
	struct stat st;

	return fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_nlink == 0;
}

/* Robust: in a kernel that processes share, a recorder may be killed while one of its threads is in
 * a call. */
static void init_lock(pthread_mutex_t *mutex)
{
	pthread_mutexattr_t attributes;

	pthread_mutexattr_init(&attributes);
	pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
	pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
	pthread_mutex_init(mutex, &attributes);
	pthread_mutexattr_destroy(&attributes);
}

static void lock(struct fake_kernel *kernel)
{
	if (pthread_mutex_lock(&kernel->lock) == EOWNERDEAD)
		pthread_mutex_consistent(&kernel->lock);
}

static void unlock(struct fake_kernel *kernel)
{
	pthread_mutex_unlock(&kernel->lock);
}

/* As the kernel does: no write bits, not for writing, and no file that can be mapped. */
static bool lockdown_refuses(const char *path, const struct stat *st, int flags)
{
	const char *file = strrchr(path, '/') + 1;

	return !strncmp(path, FAKE_DEBUGFS "/", strlen(FAKE_DEBUGFS) + 1) && S_ISREG(st->st_mode) &&
	       ((st->st_mode & 07777 & ~0444u) || (flags & O_ACCMODE) != O_RDONLY ||
		!strncmp(file, "trace", 5));
}

static int fake_open(void *context, int dir_fd, const char *path, int flags)
{
	struct fake_kernel *kernel = context;
	_cleanup_close_ int probe = openat(dir_fd, path, O_PATH | O_CLOEXEC);
	char where[PATH_MAX];
	struct stat st;
	int fd;

	if (probe < 0)
		return -errno;
	cr_assert_eq(fstat(probe, &st), 0);
	path_of(kernel, probe, where);
	cr_assert(where[0] || dir_fd == kernel->tree->root.fd, "%s leaves the tree", path);
	if (kernel->open_fails && ends_with(where, kernel->open_fails))
		return kernel->open_error;
	if (kernel->locked_down && lockdown_refuses(where, &st, flags))
		return -EPERM;
	/* Never the real device that has this number. */
	fd = S_ISBLK(st.st_mode) ? take_fd(&probe) : openat(dir_fd, path, flags | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

static int fake_close(void *context, int fd)
{
	(void)context;
	return close(fd) < 0 ? -errno : 0;
}

static ssize_t fake_read(void *context, int fd, void *buffer, size_t size)
{
	ssize_t n;

	(void)context;
	if (is_gone(fd))
		return -EIO;
	n = read(fd, buffer, size);
	return n < 0 ? -errno : n;
}

static ssize_t fake_pread(void *context, int fd, void *buffer, size_t size, off_t offset)
{
	ssize_t n;

	(void)context;
	if (is_gone(fd))
		return -EIO;
	n = pread(fd, buffer, size, offset);
	return n < 0 ? -errno : n;
}

static int fake_stat_size(void *context, int fd, uint64_t *ret)
{
	struct fake_kernel *kernel = context;
	struct fake_trace *trace;
	struct stat st;
	uint64_t hidden;

	if (fstat(fd, &st) < 0)
		return -errno;
	lock(kernel);
	trace = trace_of_file(kernel, fd);
	hidden = trace && trace->running ? kernel->unfinished_bytes : 0;
	unlock(kernel);
	*ret = (uint64_t)st.st_size > hidden ? (uint64_t)st.st_size - hidden : 0;
	*ret += kernel->skipped_bytes;
	return 0;
}

static int fake_poll(void *context, struct pollfd *fds, nfds_t n, int timeout_ms)
{
	int ready;

	(void)context;
	for (nfds_t i = 0; i < n; i++) {
		if (fds[i].fd < 0 || !is_gone(fds[i].fd))
			continue;
		fds[i].revents = POLLHUP;
		return 1;
	}
	ready = poll(fds, n, timeout_ms);
	return ready < 0 ? -errno : ready;
}

static int fake_fs_type(void *context, int fd, uint64_t *ret)
{
	struct fake_kernel *kernel = context;
	char path[PATH_MAX];

	path_of(kernel, fd, path);
	*ret = strncmp(path, FAKE_DEBUGFS, strlen(FAKE_DEBUGFS)) ? EXT4_SUPER_MAGIC
								 : kernel->debugfs_type;
	return 0;
}

/* Directory and disk of a device node, from the tree's sysfs: "sda1" and "sda". */
static void name_device(struct fake_kernel *kernel, dev_t number, char name[64], char disk[64])
{
	char target[PATH_MAX];
	char *last, *before;

	cr_assert_gt(sysroot_readlink(&kernel->tree->root, target, sizeof(target),
				      "/sys/dev/block/%u:%u", major(number), minor(number)),
		     0);
	last = strrchr(target, '/');
	snprintf(name, 64, "%s", last + 1);
	*last = '\0';
	before = strrchr(target, '/') + 1;
	snprintf(disk, 64, "%s", strcmp(before, "block") ? before : name);
}

static struct fake_trace *find_trace(struct fake_kernel *kernel, const char *disk)
{
	for (size_t i = 0; i < FAKE_TRACES_MAX; i++) {
		if (kernel->traces[i].in_use && !strcmp(kernel->traces[i].disk, disk))
			return &kernel->traces[i];
	}
	return NULL;
}

static void trace_path(const struct fake_trace *trace, const char *file, char ret[PATH_MAX])
{
	snprintf(ret, PATH_MAX, FAKE_DEBUGFS "/block/%s/%s", trace->name, file);
}

static void write_enable(struct fake_kernel *kernel, const char *disk, const char *text)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "/sys/block/%s/trace/enable", disk);
	fake_tree_write(kernel->tree, path, text);
}

static void make_files(struct fake_kernel *kernel, const struct fake_trace *trace)
{
	char path[PATH_MAX], file[32];

	trace_path(trace, "dropped", path);
	fake_tree_write(kernel->tree, path, "0\n");
	fake_tree_chmod(kernel->tree, path, 0444);
	trace_path(trace, "msg", path);
	fake_tree_write(kernel->tree, path, "");
	fake_tree_chmod(kernel->tree, path, 0222);
	for (unsigned cpu = 0; cpu < kernel->cpus; cpu++) {
		snprintf(file, sizeof(file), "trace%u", cpu);
		trace_path(trace, file, path);
		fake_tree_write(kernel->tree, path, "");
		fake_tree_chmod(kernel->tree, path, 0400);
	}
	write_enable(kernel, trace->disk, "1\n");
}

static void remove_trace(struct fake_kernel *kernel, struct fake_trace *trace)
{
	char path[PATH_MAX], file[32];

	for (unsigned cpu = 0; cpu < 4096; cpu++) {
		snprintf(file, sizeof(file), "trace%u", cpu);
		trace_path(trace, file, path);
		if (!sysroot_exists(&kernel->tree->root, "%s", path))
			break;
		fake_tree_remove(kernel->tree, path);
	}
	trace_path(trace, "msg", path);
	fake_tree_remove(kernel->tree, path);
	trace_path(trace, "dropped", path);
	fake_tree_remove(kernel->tree, path);
	write_enable(kernel, trace->disk, "0\n");
	trace->in_use = false;
	trace->running = false;
}

static int set_up(struct fake_kernel *kernel, dev_t number, struct fake_trace asked, char *ret_name,
		  size_t size)
{
	struct fake_trace *free_one = NULL;

	name_device(kernel, number, asked.name, asked.disk);
	if (!asked.buffer_bytes || !asked.buffer_count)
		return -EINVAL;
	if (find_trace(kernel, asked.disk))
		return -EBUSY;
	if (kernel->setup_errors) {
		kernel->setup_errors--;
		return kernel->setup_error;
	}
	for (size_t i = 0; i < FAKE_TRACES_MAX && !free_one; i++)
		free_one = kernel->traces[i].in_use ? NULL : &kernel->traces[i];
	cr_assert_not_null(free_one);
	asked.in_use = true;
	*free_one = asked;
	make_files(kernel, free_one);
	kernel->setups++;
	snprintf(ret_name, size, "%s", asked.name);
	for (char *c = ret_name; *c; c++)
		*c = *c == '!' ? '_' : *c;
	return 0;
}

static int set_up_v1(struct fake_kernel *kernel, dev_t number, struct bt_setup1 *setup)
{
	if (!setup)
		return -EFAULT;
	return set_up(kernel, number,
		      (struct fake_trace){.protocol = 1,
					  .mask = setup->act_mask,
					  .buffer_bytes = setup->buf_size,
					  .buffer_count = setup->buf_nr,
					  .start_lba = setup->start_lba,
					  .end_lba = setup->end_lba,
					  .pid = setup->pid},
		      setup->name, sizeof(setup->name));
}

static int set_up_v2(struct fake_kernel *kernel, dev_t number, struct bt_setup2 *setup)
{
	if (!kernel->v2)
		return -EINVAL; /* as SCSI disks and loop devices answer */
	if (!setup)
		return -EFAULT;
	return set_up(kernel, number,
		      (struct fake_trace){.protocol = 2,
					  .mask = setup->act_mask,
					  .buffer_bytes = setup->buf_size,
					  .buffer_count = setup->buf_nr,
					  .start_lba = setup->start_lba,
					  .end_lba = setup->end_lba,
					  .pid = setup->pid},
		      setup->name, sizeof(setup->name));
}

static int control(struct fake_kernel *kernel, dev_t number, unsigned long request)
{
	struct fake_trace *trace;
	char name[64], disk[64];

	name_device(kernel, number, name, disk);
	trace = find_trace(kernel, disk);
	if (!trace)
		return -EINVAL;
	if (request == BT_IOC_TEARDOWN) {
		remove_trace(kernel, trace);
		kernel->teardowns++;
		return 0;
	}
	if (request == BT_IOC_START && kernel->start_error)
		return kernel->start_error;
	if (trace->running == (request == BT_IOC_START))
		return -EINVAL;
	trace->running = request == BT_IOC_START;
	trace->starts += trace->running;
	trace->stops += !trace->running;
	return 0;
}

static int fake_ioctl(void *context, int fd, unsigned long request, void *argument)
{
	struct fake_kernel *kernel = context;
	struct stat st;
	int r = -ENOTTY;

	if (fstat(fd, &st) < 0)
		return -errno;
	if (!S_ISBLK(st.st_mode) || kernel->no_blktrace)
		return -ENOTTY;
	lock(kernel);
	if (request == BT_IOC_SETUP)
		r = set_up_v1(kernel, st.st_rdev, argument);
	else if (request == BT_IOC_SETUP2)
		r = set_up_v2(kernel, st.st_rdev, argument);
	else if (request == BT_IOC_START || request == BT_IOC_STOP || request == BT_IOC_TEARDOWN)
		r = control(kernel, st.st_rdev, request);
	unlock(kernel);
	return r;
}

void fake_kernel_init(struct fake_kernel *kernel, struct fake_tree *tree)
{
	*kernel = (struct fake_kernel){
		.ops = {.open = fake_open,
			.ioctl = fake_ioctl,
			.read = fake_read,
			.pread = fake_pread,
			.stat_size = fake_stat_size,
			.poll = fake_poll,
			.fs_type = fake_fs_type,
			.close = fake_close,
			.context = kernel},
		.tree = tree,
		.cpus = 2,
		.debugfs_type = DEBUGFS_MAGIC,
	};
	init_lock(&kernel->lock);
	fake_tree_write(tree, "/proc/filesystems",
			"nodev\tsysfs\nnodev\ttracefs\nnodev\tdebugfs\n");
	fake_tree_write(tree, "/proc/self/mounts",
			"sysfs /sys sysfs rw 0 0\n"
			"debugfs " FAKE_DEBUGFS " debugfs rw 0 0\n"
			"tracefs " FAKE_TRACEFS " tracefs rw 0 0\n");
	fake_tree_write(tree, "/proc/self/status",
			"Name:\tblkbox\nUid:\t0\t0\t0\t0\nCapEff:\t000001ffffffffff\n");
	fake_tree_write(tree, "/proc/self/uid_map", "         0          0 4294967295\n");
	fake_tree_write(tree, "/proc/meminfo", "MemTotal: 8388608 kB\nMemAvailable: 4194304 kB\n");
	fake_tree_write(tree, "/proc/sys/kernel/random/boot_id",
			"2b1f7a3e-9c48-4a57-8e0d-5d1c2f6b7a90\n");
	fake_tree_write(tree, "/proc/sys/kernel/task_delayacct", "1\n");
	fake_tree_write(tree, "/sys/kernel/security/lockdown",
			"[none] integrity confidentiality\n");
	fake_tree_write(tree, "/sys/devices/system/cpu/online", "0-1\n");
	fake_tree_write(tree, "/sys/devices/system/cpu/possible", "0-1\n");
	fake_tree_write(tree, FAKE_TRACEFS "/current_tracer", "nop\n");
	fake_tree_write(tree, FAKE_TRACEFS "/available_tracers", "blk function nop\n");
	fake_tree_dir(tree, FAKE_DEBUGFS "/block");
	fake_tree_dir(tree, "/run");
}

void fake_kernel_deinit(struct fake_kernel *kernel)
{
	pthread_mutex_destroy(&kernel->lock);
}

struct fake_trace *fake_kernel_trace(struct fake_kernel *kernel, const char *name)
{
	for (size_t i = 0; i < FAKE_TRACES_MAX; i++) {
		if (kernel->traces[i].in_use && !strcmp(kernel->traces[i].name, name))
			return &kernel->traces[i];
	}
	return NULL;
}

void fake_kernel_emit(struct fake_kernel *kernel, const char *name, unsigned cpu, const void *bytes,
		      size_t size)
{
	_cleanup_close_ int fd = sysroot_openf(&kernel->tree->root, O_WRONLY | O_APPEND,
					       FAKE_DEBUGFS "/block/%s/trace%u", name, cpu);

	cr_assert_geq(fd, 0, "no channel %u of %s: %d", cpu, name, fd);
	cr_assert_eq(write(fd, bytes, size), (ssize_t)size);
}

void fake_kernel_set_dropped(struct fake_kernel *kernel, const char *name, uint64_t dropped)
{
	_cleanup_close_ int fd = sysroot_openf(&kernel->tree->root, O_WRONLY | O_TRUNC,
					       FAKE_DEBUGFS "/block/%s/dropped", name);

	cr_assert_geq(fd, 0);
	cr_assert_gt(dprintf(fd, "%llu\n", (unsigned long long)dropped), 0);
}

void fake_kernel_end_trace(struct fake_kernel *kernel, const char *name)
{
	struct fake_trace *trace;

	lock(kernel);
	trace = fake_kernel_trace(kernel, name);
	cr_assert_not_null(trace);
	remove_trace(kernel, trace);
	unlock(kernel);
}
