/* SPDX-License-Identifier: MIT */
#include "state.h"

#include <blkbox/event.h>
#include <dirent.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

enum {
	STATE_NAME_BYTES = 64,
	WRITE_TRIES = 100
};

static void state_name(uint32_t disk, char ret[STATE_NAME_BYTES])
{
	snprintf(ret, STATE_NAME_BYTES, "run/blkbox/%u:%u", blkbox_device_major(disk),
		 blkbox_device_minor(disk));
}

static int describe_self(const struct sysroot *root, struct trace_state *state)
{
	struct process self, guardian;
	int r = process_read(root, getpid(), &self);

	state->guardian_start_ticks = 0;
	if (state->guardian_pid && process_read(root, state->guardian_pid, &guardian) == 0)
		state->guardian_start_ticks = guardian.start_ticks;

	if (r == 0)
		r = boot_id_read(root, state->boot_id);
	if (r < 0)
		return r;
	state->pid = self.pid;
	state->start_ticks = self.start_ticks;
	return 0;
}

static int write_file(int dir_fd, const char *name, const struct trace_state *state)
{
	_cleanup_close_ int fd =
		openat(dir_fd, name, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0644);

	if (fd < 0)
		return -errno;
	errno = EIO;
	if (dprintf(fd, "device=%s\nboot_id=%s\npid=%d\nstart_ticks=%llu\nprotocol=%u\nsource=%s\n",
		    state->device, state->boot_id, (int)state->pid,
		    (unsigned long long)state->start_ticks, state->protocol, state->source) < 0)
		return -errno;
	if (state->guardian_pid &&
	    dprintf(fd, "guardian_pid=%d\nguardian_start_ticks=%llu\n", (int)state->guardian_pid,
		    (unsigned long long)state->guardian_start_ticks) < 0)
		return -errno;
	if (state->trace_inode &&
	    dprintf(fd, "trace_inode=%llu\n", (unsigned long long)state->trace_inode) < 0)
		return -errno;
	if (state->output[0] && dprintf(fd, "output=%s\noutput_device=%llu\noutput_inode=%llu\n",
					state->output, (unsigned long long)state->output_device,
					(unsigned long long)state->output_inode) < 0)
		return -errno;
	return 0;
}

/* Whole or not at all: written beside and renamed. */
static int replace_file(const struct sysroot *root, uint32_t disk, const struct trace_state *state)
{
	char name[STATE_NAME_BYTES], temporary[STATE_NAME_BYTES + 16];
	int r = -ENOENT;

	state_name(disk, name);
	/* Two may write at once: one of them gets to know that the other has the disk. */
	snprintf(temporary, sizeof(temporary), "%s.%d", name, (int)state->pid);
	/* Whoever ends takes the folder away when it is empty. */
	for (int i = 0; r == -ENOENT && i < WRITE_TRIES; i++) {
		if (mkdirat(root->fd, "run/blkbox", 0755) < 0 && errno != EEXIST)
			return -errno;
		r = write_file(root->fd, temporary, state);
	}
	if (r == 0 && renameat(root->fd, temporary, root->fd, name) < 0)
		r = -errno;
	if (r < 0)
		unlinkat(root->fd, temporary, 0);
	return r;
}

int state_write(const struct sysroot *root, const struct block_device *device,
		const struct trace_state *what, struct why *why)
{
	struct trace_state state = *what;
	int r;

	snprintf(state.device, sizeof(state.device), "%s", device->name);
	r = describe_self(root, &state);
	if (r == 0)
		r = replace_file(root, device->disk, &state);
	if (r < 0)
		return why_errno(why, r,
				 "cannot note in /run/blkbox that %s is being recorded; 'blkbox "
				 "status' may not know whose trace it is",
				 device->name);
	return 0;
}

/* Notes of the disk that never got their name: their writers were killed. */
static void remove_unnamed(const struct sysroot *root, const char *name)
{
	int fd = openat(root->fd, "run/blkbox", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	_cleanup_closedir_ DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	const char *own = strrchr(name, '/') + 1;
	const struct dirent *entry;

	if (!dir) {
		close_keep_errno(fd);
		return;
	}
	while ((entry = readdir(dir))) {
		const char *suffix = entry->d_name + strlen(own);
		struct process process;

		if (strncmp(entry->d_name, own, strlen(own)) != 0 || *suffix != '.' ||
		    process_read(root, (pid_t)strtol(suffix + 1, NULL, 10), &process) != -ENOENT)
			continue;
		unlinkat(dirfd(dir), entry->d_name, 0);
	}
}

int state_clear(const struct sysroot *root, uint32_t disk)
{
	char name[STATE_NAME_BYTES];

	state_name(disk, name);
	if (unlinkat(root->fd, name, 0) < 0 && errno != ENOENT)
		return -errno;
	remove_unnamed(root, name);
	/* Stays if it is not empty. */
	unlinkat(root->fd, "run/blkbox", AT_REMOVEDIR);
	return 0;
}

int state_remove(const struct sysroot *root, uint32_t disk)
{
	struct trace_state state;

	if (state_read(root, disk, &state) == 0 && state.pid != getpid())
		return 0;
	return state_clear(root, disk);
}

/* The value of a line "KEY=VALUE"; NULL if it is not there. */
static const char *find_value(const char *text, const char *key, char *ret, size_t size)
{
	size_t length = strlen(key);

	for (const char *line = text; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (strncmp(line, key, length) != 0 || line[length] != '=')
			continue;
		line += length + 1;
		if (strcspn(line, "\n") >= size)
			return NULL;
		snprintf(ret, size, "%.*s", (int)strcspn(line, "\n"), line);
		return ret;
	}
	return NULL;
}

static uint64_t find_number(const char *text, const char *key)
{
	char number[32];

	return find_value(text, key, number, sizeof(number)) ? strtoull(number, NULL, 10) : 0;
}

/* What older notes do not have. */
static void read_rest(const char *text, struct trace_state *state)
{
	state->guardian_pid = (pid_t)find_number(text, "guardian_pid");
	state->guardian_start_ticks = find_number(text, "guardian_start_ticks");
	state->trace_inode = find_number(text, "trace_inode");
	state->output_device = find_number(text, "output_device");
	state->output_inode = find_number(text, "output_inode");
	if (!find_value(text, "output", state->output, sizeof(state->output)))
		state->output[0] = '\0';
}

static int read_file(const struct sysroot *root, const char *name, struct trace_state *ret)
{
	char text[PATH_MAX + 1024], number[32];
	struct trace_state state = {0};
	int r = sysroot_read(root, text, sizeof(text), "/%s", name);

	if (r < 0)
		return r;
	if (!find_value(text, "device", state.device, sizeof(state.device)) ||
	    !find_value(text, "boot_id", state.boot_id, sizeof(state.boot_id)) ||
	    !find_value(text, "source", state.source, sizeof(state.source)) ||
	    !find_value(text, "pid", number, sizeof(number)))
		return -EINVAL;
	state.pid = (pid_t)strtol(number, NULL, 10);
	if (state.pid <= 0 || !find_value(text, "start_ticks", number, sizeof(number)))
		return -EINVAL;
	state.start_ticks = strtoull(number, NULL, 10);
	if (!find_value(text, "protocol", number, sizeof(number)))
		return -EINVAL;
	state.protocol = (unsigned)strtoul(number, NULL, 10);
	read_rest(text, &state);
	*ret = state;
	return 0;
}

int state_read(const struct sysroot *root, uint32_t disk, struct trace_state *ret)
{
	char name[STATE_NAME_BYTES];

	state_name(disk, name);
	return read_file(root, name, ret);
}

bool state_is_of_another_boot(const struct sysroot *root, const struct trace_state *state)
{
	char boot_id[BOOT_ID_BYTES];

	return boot_id_read(root, boot_id) == 0 && strcmp(boot_id, state->boot_id) != 0;
}

static bool is_alive(const struct sysroot *root, const struct trace_state *state, pid_t pid,
		     uint64_t start_ticks)
{
	char boot_id[BOOT_ID_BYTES];
	struct process process;

	return boot_id_read(root, boot_id) == 0 && !strcmp(boot_id, state->boot_id) &&
	       process_read(root, pid, &process) == 0 && process.start_ticks == start_ticks;
}

bool state_owner_alive(const struct sysroot *root, const struct trace_state *state)
{
	return is_alive(root, state, state->pid, state->start_ticks);
}

bool state_guardian_alive(const struct sysroot *root, const struct trace_state *state)
{
	return state->guardian_pid > 0 &&
	       is_alive(root, state, state->guardian_pid, state->guardian_start_ticks);
}

void state_each(const struct sysroot *root, state_fn *fn, void *context)
{
	_cleanup_closedir_ DIR *dir = NULL;

	if (sysroot_opendir(root, &dir, "/run/blkbox") < 0)
		return;
	for (struct dirent *entry = readdir(dir); entry; entry = readdir(dir)) {
		struct trace_state state;
		unsigned major, minor;
		int length = 0;

		if (sscanf(entry->d_name, "%u:%u%n", &major, &minor, &length) == 2 &&
		    !entry->d_name[length] && state_read(root, major << 20 | minor, &state) == 0)
			fn(context, major << 20 | minor, &state);
	}
}

/* Of state_remove_stale(). */
struct sweep {
	const struct sysroot *root;
	size_t n, removed;
};

static void sweep_one(void *context, uint32_t disk, const struct trace_state *state)
{
	struct sweep *sweep = context;

	if (!state_is_of_another_boot(sweep->root, state))
		return;
	sweep->n++;
	if (state_clear(sweep->root, disk) == 0)
		sweep->removed++;
}

size_t state_remove_stale(const struct sysroot *root, size_t *ret_removed)
{
	struct sweep sweep = {.root = root};

	state_each(root, sweep_one, &sweep);
	*ret_removed = sweep.removed;
	return sweep.n;
}

bool state_of_another(const struct sysroot *root, uint32_t disk)
{
	struct trace_state state;

	return state_read(root, disk, &state) == 0 && state.pid != getpid() &&
	       state_owner_alive(root, &state);
}

void state_remove_dead(const struct sysroot *root, uint32_t disk)
{
	struct trace_state state;
	int r = state_read(root, disk, &state);

	/* It may have died before its note had a name: then there is none to read. */
	if (r == -ENOENT || (r == 0 && !state_owner_alive(root, &state)))
		state_clear(root, disk);
}
