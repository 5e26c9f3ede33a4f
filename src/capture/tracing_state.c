/* SPDX-License-Identifier: MIT */
#include "tracing_state.h"

#include "tracing_users.h"

#include <blkbox/event.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/file.h>

/*
 * In the order of putting back: the tracer before all others, because the kernel refuses to change
 * some while it is on, and because it erases the buffer, which the clock would do once more.
 */
static const char *const files[] = {
	"current_tracer", "trace_clock",	 "options/overwrite",
	"buffer_percent", "saved_cmdlines_size", "tracing_on",
};

/*
 * What the kernel shows, as it must be written. Of clocks the chosen one stands in brackets. A
 * buffer that nobody has used yet shows "7 (expanded: 1408)": there is no way back to that, and
 * 1408 is what the next user would have got.
 */
static int read_value(const struct sysroot *root, const char *tracefs, const char *file,
		      char ret[TRACING_VALUE_BYTES])
{
	char text[256], *from = text;
	int r = sysroot_read(root, text, sizeof(text), "%s/%s", tracefs, file);

	if (r < 0)
		return r;
	if (strchr(text, '[')) {
		from = strchr(text, '[') + 1;
		from[strcspn(from, "]")] = '\0';
	} else if (strstr(text, "(expanded: ")) {
		from = strstr(text, "(expanded: ") + strlen("(expanded: ");
		from[strcspn(from, ")")] = '\0';
	}
	if (strlen(from) >= TRACING_VALUE_BYTES || strpbrk(from, "\t\n"))
		return -EINVAL;
	strcpy(ret, from);
	return 0;
}

/* A file that this kernel does not have is passed over. */
static int add_item(const struct sysroot *root, struct tracing_state *state, const char *file)
{
	struct tracing_item *items =
		reallocarray(state->items, state->n_items + 1, sizeof(*state->items));
	struct tracing_item *item;
	int r;

	if (!items)
		return -ENOMEM;
	state->items = items;
	item = &items[state->n_items];
	*item = (struct tracing_item){0};
	snprintf(item->file, sizeof(item->file), "%s", file);
	r = read_value(root, state->tracefs, file, item->before);
	if (r == 0)
		state->n_items++;
	return r == -ENOENT ? 0 : r;
}

static bool is_buffer_size(const char *file)
{
	return !strncmp(file, "per_cpu/", strlen("per_cpu/"));
}

static int add_buffers(const struct sysroot *root, struct tracing_state *state)
{
	_cleanup_closedir_ DIR *dir = NULL;
	int r = sysroot_opendir(root, &dir, "%s/per_cpu", state->tracefs);

	for (struct dirent *entry = r < 0 ? NULL : readdir(dir); r == 0 && entry;
	     entry = readdir(dir)) {
		char file[TRACING_FILE_BYTES];

		if (strncmp(entry->d_name, "cpu", 3) != 0 ||
		    snprintf(file, sizeof(file), "per_cpu/%.16s/buffer_size_kb", entry->d_name) < 0)
			continue;
		r = add_item(root, state, file);
	}
	return r;
}

static int describe_self(const struct sysroot *root, struct tracing_state *state)
{
	struct process self;
	int r = process_read(root, getpid(), &self);

	if (r == 0)
		r = boot_id_read(root, state->boot_id);
	if (r < 0)
		return r;
	state->pid = self.pid;
	state->start_ticks = self.start_ticks;
	return 0;
}

int tracing_state_save(const struct sysroot *root, const char *tracefs, struct tracing_state *ret,
		       struct why *why)
{
	_cleanup_(tracing_state_deinit) struct tracing_state state = {0};
	int r;

	snprintf(state.tracefs, sizeof(state.tracefs), "%s", tracefs);
	r = describe_self(root, &state);
	for (size_t i = 0; r >= 0 && i < sizeof(files) / sizeof(files[0]); i++)
		r = add_item(root, &state, files[i]);
	if (r >= 0)
		r = add_buffers(root, &state);
	if (r < 0)
		return why_errno(why, r, "cannot read the tracing state of the machine in %s",
				 tracefs);
	*ret = state;
	state = (struct tracing_state){0};
	return 0;
}

void tracing_state_deinit(struct tracing_state *state)
{
	free(state->items);
	free(state->devices);
	*state = (struct tracing_state){0};
}

static struct tracing_item *find_item(struct tracing_state *state, const char *file)
{
	for (size_t i = 0; i < state->n_items; i++) {
		if (!strcmp(state->items[i].file, file))
			return &state->items[i];
	}
	return NULL;
}

/* The items that writing @file changes: itself, or the buffers of all CPUs. */
static bool is_changed_by(const struct tracing_item *item, const char *file)
{
	return !strcmp(item->file, file) ||
	       (!strcmp(file, "buffer_size_kb") && is_buffer_size(item->file));
}

static void untouch(struct tracing_state *state, const char *file)
{
	for (size_t i = 0; i < state->n_items; i++) {
		if (is_changed_by(&state->items[i], file))
			state->items[i].touched = false;
	}
}

int tracing_state_set(const struct sysroot *root, struct tracing_state *state, const char *file,
		      const char *value)
{
	bool noted = false;
	int r;

	if (strcmp(file, "buffer_size_kb") != 0 && !find_item(state, file))
		return -ENOENT;
	for (size_t i = 0; i < state->n_items; i++) {
		if (!is_changed_by(&state->items[i], file))
			continue;
		noted = state->items[i].touched;
		state->items[i].touched = true;
		state->items[i].ours[0] = '\0';
	}
	/* Noted first: we may die in between. What was there before is on disk, or is kept. */
	r = tracing_state_store(root, state);
	if (r < 0 && !noted) {
		untouch(state, file);
		return r;
	}
	r = sysroot_write(root, value, "%s/%s", state->tracefs, file);
	/* The kernel rounds some of them. */
	for (size_t i = 0; i < state->n_items; i++) {
		struct tracing_item *item = &state->items[i];

		if (is_changed_by(item, file) &&
		    read_value(root, state->tracefs, item->file, item->ours) < 0)
			item->ours[0] = '\0';
	}
	tracing_state_store(root, state);
	return r;
}

int tracing_state_add_device(const struct sysroot *root, struct tracing_state *state,
			     uint32_t device)
{
	uint32_t *devices =
		reallocarray(state->devices, state->n_devices + 1, sizeof(*state->devices));
	int r;

	if (!devices)
		return -ENOMEM;
	state->devices = devices;
	devices[state->n_devices++] = device;
	r = tracing_state_store(root, state);
	if (r < 0)
		state->n_devices--;
	return r;
}

void tracing_state_drop_device(const struct sysroot *root, struct tracing_state *state,
			       uint32_t device)
{
	size_t kept = 0;

	for (size_t i = 0; i < state->n_devices; i++) {
		if (state->devices[i] != device)
			state->devices[kept++] = state->devices[i];
	}
	state->n_devices = kept;
	/* A full /run: then the note is as good as it was. */
	tracing_state_store(root, state);
}

/* 0 also for a device that is gone: its trace went with it. */
static int disable_device(const struct sysroot *root, uint32_t device, struct why *why)
{
	unsigned major = blkbox_device_major(device), minor = blkbox_device_minor(device);
	uint64_t enabled;
	int r = sysroot_read_u64(root, &enabled, "/sys/dev/block/%u:%u/trace/enable", major, minor);

	if (r == 0 && enabled)
		r = sysroot_write(root, "0", "/sys/dev/block/%u:%u/trace/enable", major, minor);
	if (r == -ENOENT || r == -ENODEV || r == 0)
		return 0;
	return why_errno(why, r, "cannot end the trace of device %u:%u", major, minor);
}

static int restore_item(const struct sysroot *root, const char *tracefs,
			const struct tracing_item *item, struct why *why)
{
	char now[TRACING_VALUE_BYTES];
	int r;

	if (!item->touched)
		return 0;
	r = read_value(root, tracefs, item->file, now);
	if (r < 0)
		return why_errno(why, r, "cannot read %s/%s", tracefs, item->file);
	if (!strcmp(now, item->before) || (item->ours[0] && strcmp(now, item->ours) != 0))
		return 0;
	r = sysroot_write(root, item->before, "%s/%s", tracefs, item->file);
	if (r == -EBUSY && !strcmp(item->file, "current_tracer"))
		return tracing_explain_busy(root, tracefs, why);
	if (r < 0)
		return why_errno(why, r, "cannot write '%s' back to %s/%s", item->before, tracefs,
				 item->file);
	return 0;
}

int tracing_state_restore(const struct sysroot *root, struct tracing_state *state, struct why *why)
{
	int result = 0;

	for (size_t i = 0; i < state->n_devices; i++) {
		int r = disable_device(root, state->devices[i], result < 0 ? NULL : why);

		result = result < 0 ? result : r;
		/* Whoever traces it from now on is somebody else. */
		if (r == 0)
			state->devices[i--] = state->devices[--state->n_devices];
	}
	for (size_t i = 0; i < state->n_items; i++) {
		int r = restore_item(root, state->tracefs, &state->items[i],
				     result < 0 ? NULL : why);

		result = result < 0 ? result : r;
		/* What it is set to from now on is theirs. */
		if (r == 0)
			state->items[i].touched = false;
	}
	if (result < 0) {
		tracing_state_store(root, state);
		return result;
	}
	tracing_state_forget(root);
	tracing_state_deinit(state);
	return 0;
}

/* 1 = it is, 0 = it is not, or -errno: it may be. */
static int owner_is_alive(const struct sysroot *root, const struct tracing_state *state,
			  struct process *ret)
{
	int r = process_read(root, state->pid, ret);

	if (r == -ENOENT)
		return 0;
	return r < 0 ? r : ret->start_ticks == state->start_ticks;
}

/* 1 = there is one, 0 = there is none that tells anything: of another boot, or damaged. */
static int load_of_this_boot(const struct sysroot *root, struct tracing_state *state)
{
	char boot_id[BOOT_ID_BYTES];
	int r = tracing_state_load(root, state);

	if (r == -ENOENT || r == -EINVAL)
		return 0;
	if (r == 0)
		r = boot_id_read(root, boot_id);
	if (r < 0)
		return r;
	return !strcmp(boot_id, state->boot_id);
}

/* As tracing_state_user(); 1: *@ret is that state. */
static int load_left(const struct sysroot *root, struct tracing_state *ret, struct why *why)
{
	struct process owner;
	int r = load_of_this_boot(root, ret), alive;

	if (r == 0)
		return 0;
	alive = r < 0 ? r : owner_is_alive(root, ret, &owner);
	if (alive < 0)
		return why_errno(why, alive,
				 "cannot find out what an earlier recorder left in "
				 "/run/blkbox/tracing");
	if (alive)
		return why_set(why, -EBUSY,
			       "%s (process %d) records through ftrace already, which serves one "
			       "recording at a time",
			       owner.name, (int)owner.pid);
	return 1;
}

static int recover(const struct sysroot *root, tracing_state_fn *before, void *context,
		   struct why *why)
{
	_cleanup_(tracing_state_deinit) struct tracing_state state = {0};
	int r = load_left(root, &state, why);

	if (r == 0)
		tracing_state_forget(root);
	/* On failure it is kept: it is the only note of what is to be put back. */
	if (r <= 0)
		return r;
	if (before)
		before(context, &state);
	r = tracing_state_restore(root, &state, why);
	return r < 0 ? r : 1;
}

/* Root's alone, and never removed: a file that is made anew would be another lock. */
static int lock_state(const struct sysroot *root, struct why *why)
{
	enum {
		WAIT_MS = 10,
		TRIES = 500
	};
	_cleanup_close_ int fd = openat(root->fd, "run/blkbox.lock",
					O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);

	if (fd < 0)
		return why_errno(why, -errno,
				 "cannot note the machine's tracing state in /run/blkbox: "
				 "/run/blkbox.lock");
	for (int i = 0; i < TRIES; i++) {
		if (flock(fd, LOCK_EX | LOCK_NB) == 0)
			return take_fd(&fd);
		if (errno != EWOULDBLOCK && errno != EINTR)
			return why_errno(why, -errno, "cannot lock /run/blkbox.lock");
		poll(NULL, 0, WAIT_MS);
	}
	return why_set(why, -EBUSY,
		       "somebody else has held /run/blkbox.lock for %d s ('lslocks' tells who): a "
		       "recorder that starts, or puts ftrace's state back",
		       TRIES * WAIT_MS / 1000);
}

int tracing_state_claim(const struct sysroot *root, int *ret, struct why *why)
{
	_cleanup_close_ int fd = lock_state(root, why);
	int r = fd < 0 ? fd : recover(root, NULL, NULL, why);

	if (r >= 0)
		*ret = take_fd(&fd);
	return r;
}

int tracing_state_recover(const struct sysroot *root, tracing_state_fn *before, void *context,
			  struct why *why)
{
	_cleanup_close_ int fd = -1;

	/* Mostly there is nothing, and nobody has to be waited for. */
	if (!sysroot_exists(root, "/run/blkbox/tracing") &&
	    !sysroot_exists(root, "/run/blkbox/tracing.new"))
		return 0;
	fd = lock_state(root, why);
	return fd < 0 ? fd : recover(root, before, context, why);
}

int tracing_state_user(const struct sysroot *root, struct why *why)
{
	_cleanup_(tracing_state_deinit) struct tracing_state state = {0};

	return load_left(root, &state, why);
}
