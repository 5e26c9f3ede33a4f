/* SPDX-License-Identifier: MIT */
#include "leftover.h"

#include "blktrace.h"
#include "cleanup.h"
#include "ftrace_page.h"
#include "ftrace_parts.h"

#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>

void leftovers_deinit(struct leftovers *leftovers)
{
	for (size_t i = 0; i < leftovers->n; i++)
		free(leftovers->items[i].bytes);
	free(leftovers->items);
	free(leftovers->drops);
	*leftovers = (struct leftovers){0};
}

uint64_t leftovers_bytes(const struct leftovers *leftovers)
{
	uint64_t bytes = 0;

	for (size_t i = 0; i < leftovers->n; i++)
		bytes += leftovers->items[i].size;
	return bytes;
}

static struct leftover *add_item(struct leftovers *leftovers)
{
	struct leftover *items =
		reallocarray(leftovers->items, leftovers->n + 1, sizeof(*leftovers->items));

	if (!items)
		return NULL;
	leftovers->items = items;
	items[leftovers->n] = (struct leftover){0};
	return &items[leftovers->n++];
}

static bool grow(struct leftover *item, size_t *room, size_t piece)
{
	size_t more = *room ? *room * 2 : 4 * piece;
	uint8_t *bytes;

	if (*room - item->size >= piece)
		return true;
	bytes = realloc(item->bytes, more);
	if (!bytes)
		return false;
	item->bytes = bytes;
	*room = more;
	return true;
}

/* Until the kernel twice has nothing: once may be the end of a sub-buffer. */
static void read_all(const struct kernel_ops *kernel, int fd, size_t piece, struct leftover *item)
{
	size_t room = 0;
	int nothing = 0;

	while (nothing < 2 && grow(item, &room, piece)) {
		ssize_t n = kernel->read(kernel->context, fd, item->bytes + item->size, piece);

		if (n == -EINTR)
			continue;
		if (n < 0 && n != -EAGAIN)
			return;
		nothing = n > 0 ? 0 : nothing + 1;
		item->size += n > 0 ? (size_t)n : 0;
	}
}

/* Where a name has a slash, kernels differ in what they make of it. */
static int open_directory(const struct sysroot *root, const struct kernel_ops *kernel,
			  const char *debugfs, const struct block_device *device)
{
	static const char instead[] = "_!";
	int fd = -ENOENT;

	for (size_t i = 0; fd == -ENOENT && instead[i]; i++) {
		char path[PATH_MAX + DEVICE_NAME_BYTES];
		char *name;

		snprintf(path, sizeof(path), "%s/block/", debugfs + 1);
		name = path + strlen(path);
		snprintf(name, DEVICE_NAME_BYTES, "%s", device->name);
		for (char *slash = name; (slash = strchr(slash, '/'));)
			*slash = instead[i];
		fd = kernel->open(kernel->context, root->fd, path, O_RDONLY | O_DIRECTORY);
	}
	return fd;
}

int leftover_trace_inode(const struct sysroot *root, const struct kernel_ops *kernel,
			 const char *debugfs, const struct block_device *device, uint64_t *ret)
{
	_cleanup_close_ int dir_fd = open_directory(root, kernel, debugfs, device);
	struct stat st;

	if (dir_fd < 0)
		return dir_fd;
	if (fstatat(dir_fd, "dropped", &st, 0) < 0)
		return -errno;
	*ret = st.st_ino;
	return 0;
}

static void take_channel(const struct kernel_ops *kernel, int dir_fd, const char *name,
			 uint32_t disk, struct leftovers *leftovers)
{
	enum {
		PIECE_BYTES = 256 << 10
	};
	char *end;
	unsigned long cpu = strtoul(name + strlen("trace"), &end, 10);
	struct leftover *item;
	int fd;

	if (end == name + strlen("trace") || *end)
		return;
	fd = kernel->open(kernel->context, dir_fd, name, O_RDONLY | O_NONBLOCK);
	if (fd < 0)
		return;
	item = add_item(leftovers);
	if (item) {
		item->disk = disk;
		item->cpu = (uint32_t)cpu;
		item->kind = LOG_RELAY_RECORDS;
		if (kernel->stat_size(kernel->context, fd, &item->end_offset) < 0)
			item->end_offset = 0;
		read_all(kernel, fd, PIECE_BYTES, item);
	}
	kernel->close(kernel->context, fd);
}

static void take_drops(const struct kernel_ops *kernel, int dir_fd, uint32_t disk,
		       struct leftovers *leftovers)
{
	struct leftover_drops *drops =
		reallocarray(leftovers->drops, leftovers->n_drops + 1, sizeof(*leftovers->drops));
	int fd = kernel->open(kernel->context, dir_fd, "dropped", O_RDONLY);
	char text[32];
	ssize_t n = -1;

	if (drops)
		leftovers->drops = drops;
	if (fd >= 0)
		n = kernel->pread(kernel->context, fd, text, sizeof(text) - 1, 0);
	if (drops && n > 0) {
		text[n] = '\0';
		drops[leftovers->n_drops++] = (struct leftover_drops){
			.disk = disk,
			.count = strtoull(text, NULL, 10),
		};
	}
	if (fd >= 0)
		kernel->close(kernel->context, fd);
}

void leftovers_take_relay(const struct sysroot *root, const struct kernel_ops *kernel,
			  const char *debugfs, const struct block_device *device, int fd,
			  struct leftovers *leftovers)
{
	int dir_fd = open_directory(root, kernel, debugfs, device);
	_cleanup_closedir_ DIR *dir = NULL;

	/* Before STOP, which counts some of its own. */
	if (dir_fd >= 0)
		take_drops(kernel, dir_fd, device->disk, leftovers);
	kernel->ioctl(kernel->context, fd, BT_IOC_STOP, NULL);
	dir = dir_fd >= 0 ? fdopendir(dir_fd) : NULL;
	if (!dir) {
		close_keep_errno(dir_fd);
		return;
	}
	for (struct dirent *entry = readdir(dir); entry; entry = readdir(dir)) {
		if (!strncmp(entry->d_name, "trace", strlen("trace")))
			take_channel(kernel, dirfd(dir), entry->d_name, device->disk, leftovers);
	}
}

static void take_ftrace_cpu(const struct sysroot *root, const struct kernel_ops *kernel,
			    const char *tracefs, unsigned cpu, size_t page_bytes,
			    struct leftovers *leftovers)
{
	char path[PATH_MAX + 64];
	struct ftrace_stats stats;
	struct leftover *item;
	int fd;

	snprintf(path, sizeof(path), "%s/per_cpu/cpu%u/trace_pipe_raw", tracefs + 1, cpu);
	fd = kernel->open(kernel->context, root->fd, path, O_RDONLY | O_NONBLOCK);
	if (fd < 0)
		return;
	item = add_item(leftovers);
	if (item) {
		item->cpu = cpu;
		item->kind = LOG_FTRACE_PAGES;
		read_all(kernel, fd, page_bytes, item);
		item->size -= item->size % page_bytes;
	}
	kernel->close(kernel->context, fd);
	if (ftrace_stats_read(root, tracefs, cpu, &stats) == 0)
		leftovers->entries += stats.read;
}

void leftovers_take_ftrace(const struct sysroot *root, const struct kernel_ops *kernel,
			   struct tracing_state *state, struct leftovers *leftovers)
{
	const char *tracefs = state->tracefs;
	struct ftrace_page_layout layout;
	_cleanup_closedir_ DIR *dir = NULL;
	char text[1024];

	leftovers->entries = 0;
	/* As one of ours: it is put back with the rest. */
	tracing_state_set(root, state, "tracing_on", "0");
	if (sysroot_read(root, text, sizeof(text), "%s/events/header_page", tracefs) < 0 ||
	    ftrace_page_layout_parse(text, &layout) < 0 ||
	    sysroot_opendir(root, &dir, "%s/per_cpu", tracefs) < 0)
		return;
	for (struct dirent *entry = readdir(dir); entry; entry = readdir(dir)) {
		unsigned cpu;

		if (sscanf(entry->d_name, "cpu%u", &cpu) == 1)
			take_ftrace_cpu(root, kernel, tracefs, cpu, ftrace_page_bytes(&layout),
					leftovers);
	}
}
