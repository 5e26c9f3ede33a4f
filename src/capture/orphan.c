/* SPDX-License-Identifier: MIT */
#include "orphan.h"

#include "blktrace.h"
#include "cleanup.h"
#include "clock.h"
#include "leftover.h"
#include "mounts.h"
#include "number.h"
#include "tracing_state.h"

#include <blkbox/event.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <string.h>
#include <sys/stat.h>

static bool is_left(const struct sysroot *root, const struct trace_state *state)
{
	return !state_is_of_another_boot(root, state) && !state_owner_alive(root, state) &&
	       !state_guardian_alive(root, state);
}

static int resolve(const struct sysroot *root, uint32_t disk, char spec[32],
		   struct block_device *ret)
{
	snprintf(spec, 32, "%u:%u", blkbox_device_major(disk), blkbox_device_minor(disk));
	return device_resolve(root, spec, ret, NULL);
}

/* It is the one that the recorder noted: another trace would have other files. */
static bool trace_is_there(const struct orphan_search *search, uint32_t disk,
			   const struct trace_state *state, char debugfs[PATH_MAX])
{
	struct block_device device;
	uint64_t inode;
	char spec[32];

	if (strcmp(state->source, "relay") != 0 ||
	    debugfs_find(search->root, search->kernel, search->debugfs, debugfs, PATH_MAX, NULL) <
		    0 ||
	    resolve(search->root, disk, spec, &device) < 0)
		return false;
	/* A partition's trace has its name. */
	snprintf(device.name, sizeof(device.name), "%s", state->device);
	return leftover_trace_inode(search->root, search->kernel, debugfs, &device, &inode) == 0 &&
	       (!state->trace_inode || inode == state->trace_inode);
}

bool orphan_find(const struct orphan_search *search, uint32_t disk, struct trace_state *ret)
{
	struct trace_state state;
	char debugfs[PATH_MAX];

	if (state_read(search->root, disk, &state) < 0 || !is_left(search->root, &state) ||
	    !trace_is_there(search, disk, &state, debugfs))
		return false;
	*ret = state;
	return true;
}

/* All that one dead recorder left. */
struct taking {
	const struct orphan_search *search;
	pid_t pid;
	struct leftovers left;
	struct trace_state note; /* one of its notes; pid 0: there is none */
	int ended;
	int failure;
	struct why why;
};

static void end_trace(struct taking *taking, uint32_t disk, const struct trace_state *state,
		      const char *debugfs)
{
	const struct sysroot *root = taking->search->root;
	const struct kernel_ops *kernel = taking->search->kernel;
	struct block_device device;
	char spec[32];
	int fd, r = resolve(root, disk, spec, &device);

	if (r < 0)
		return;
	fd = kernel->open(kernel->context, root->fd, device.path + 1, O_RDONLY | O_NONBLOCK);
	if (fd < 0) {
		taking->failure = why_errno(&taking->why, fd, "cannot open %s", device.path);
		return;
	}
	snprintf(device.name, sizeof(device.name), "%s", state->device);
	leftovers_take_relay(root, kernel, debugfs, &device, fd, &taking->left);
	r = kernel->ioctl(kernel->context, fd, BT_IOC_TEARDOWN, NULL);
	kernel->close(kernel->context, fd);
	if (r < 0 && r != -EINVAL)
		taking->failure =
			why_errno(&taking->why, r, "cannot end the trace of %s", device.name);
	else
		taking->ended++;
}

static void take_note(void *context, uint32_t disk, const struct trace_state *state)
{
	struct taking *taking = context;
	char debugfs[PATH_MAX];

	if (state->pid != taking->pid || !is_left(taking->search->root, state))
		return;
	taking->note = *state;
	if (trace_is_there(taking->search, disk, state, debugfs))
		end_trace(taking, disk, state, debugfs);
	if (taking->failure >= 0)
		state_clear(taking->search->root, disk);
}

static void take_buffer(void *context, struct tracing_state *state)
{
	struct taking *taking = context;

	if (state->pid == taking->pid)
		leftovers_take_ftrace(taking->search->root, taking->search->kernel, state,
				      &taking->left);
}

/* Its log, if it is the very file still. */
static int open_log(const struct trace_state *note)
{
	int fd = note->output[0] ? open(note->output, O_RDWR | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK)
				 : -1;
	struct stat st;

	if (fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) &&
	    st.st_dev == note->output_device && st.st_ino == note->output_inode)
		return fd;
	close_keep_errno(fd);
	return -1;
}

static void finish_log(struct taking *taking)
{
	static const char suffix[] = ".part";
	const struct trace_state *note = &taking->note;
	size_t length = strlen(note->output);
	_cleanup_close_ int fd = open_log(note);
	uint64_t bytes = leftovers_bytes(&taking->left);
	_cleanup_free_ char *path = NULL;
	struct log_rescue log = {.fd = fd, .part = note->output};
	struct why why = {""};
	int r = -ENOENT;

	if (fd >= 0 && length > strlen(suffix)) {
		path = strndup(note->output, length - strlen(suffix));
		log.path = path;
		r = path ? leftovers_finish_log(&taking->left, &log, &why) : -ENOMEM;
	}
	if (r >= 0)
		news_add(taking->search->news,
			 "took over what a killed recorder (process %d) left; its log %s was "
			 "finished with the %s that were unread",
			 (int)taking->pid, access(path, F_OK) == 0 ? path : note->output,
			 size_format(bytes).text);
	else
		news_add(taking->search->news,
			 "took over what a killed recorder (process %d) left; the %s that were "
			 "unread are gone: %s",
			 (int)taking->pid, size_format(bytes).text,
			 why.text[0] ? why.text : "it wrote no log that could be finished");
}

int orphan_take(const struct orphan_search *search, pid_t pid, struct why *why)
{
	struct taking taking = {.search = search, .pid = pid};
	int r = tracing_state_recover(search->root, take_buffer, &taking, &taking.why);

	/* -EBUSY: somebody records, or reads the buffer: its notes are kept for later. */
	if (r >= 0) {
		taking.ended += r;
		state_each(search->root, take_note, &taking);
		r = taking.failure;
	}
	if (r >= 0 && taking.ended)
		finish_log(&taking);
	leftovers_deinit(&taking.left);
	return r < 0 ? why_set(why, r, "%s", taking.why.text) : taking.ended;
}

/* What is in the way of a recording of these devices. */
struct obstacles {
	const struct sysroot *root;
	const struct block_device *devices;
	size_t n;
	pid_t guardian; /* that still cleans up; 0: none */
	pid_t recorder; /* that left it */
};

static void look_at_note(void *context, uint32_t disk, const struct trace_state *state)
{
	struct obstacles *found = context;
	bool in_the_way = !strcmp(state->source, "ftrace");

	for (size_t i = 0; i < found->n; i++)
		in_the_way |= found->devices[i].disk == disk;
	if (!in_the_way || state_owner_alive(found->root, state) ||
	    !state_guardian_alive(found->root, state))
		return;
	found->guardian = state->guardian_pid;
	found->recorder = state->pid;
}

/* Whoever starts right after a recorder was killed need not know that this takes a moment. */
static int await_guardians(const struct sysroot *root, const struct block_device *devices, size_t n,
			   struct why *why)
{
	enum {
		WAIT_MS = 2000,
		STEP_MS = 10
	};
	struct obstacles found;

	for (int waited = 0; waited <= WAIT_MS; waited += STEP_MS) {
		found = (struct obstacles){.root = root, .devices = devices, .n = n};
		state_each(root, look_at_note, &found);
		if (!found.guardian)
			return 0;
		poll(NULL, 0, STEP_MS);
	}
	return why_set(why, -EBUSY,
		       "a recorder (process %d) was killed, and its guardian (process %d) is still "
		       "putting back what it had changed; 'blkbox status' tells when it is done",
		       (int)found.recorder, (int)found.guardian);
}

static void tell_of_stale(const struct orphan_search *search)
{
	size_t removed, n = state_remove_stale(search->root, &removed);

	if (n)
		news_add(search->news,
			 "%zu of %zu notes in /run/blkbox that are older than the last "
			 "start of the machine were removed",
			 removed, n);
}

static int refuse(const char *what, const struct trace_state *state, struct why *why)
{
	return why_set(
		why, -EBUSY,
		"%s by a recorder (process %d) that was killed together with its guardian; "
		"'blkbox record --takeover' takes over what it left and finishes its log%s%s, "
		"'blkbox stop' does only that",
		what, (int)state->pid, state->output[0] ? " " : "", state->output);
}

/* Of settle_ftrace(): any note of the recorder @pid. */
static void find_note(void *context, uint32_t disk, const struct trace_state *state)
{
	struct trace_state *wanted = context;

	(void)disk;
	if (state->pid == wanted->pid)
		*wanted = *state;
}

static int settle_ftrace(const struct orphan_search *search, bool takeover, struct why *why)
{
	struct tracing_state settings;
	struct trace_state left = {0};
	int r;

	if (tracing_state_user(search->root, NULL) != 1 ||
	    tracing_state_load(search->root, &settings) < 0)
		return 0;
	left.pid = settings.pid;
	tracing_state_deinit(&settings);
	state_each(search->root, find_note, &left);
	if (!takeover)
		return refuse("ftrace was left recording", &left, why);
	r = orphan_take(search, left.pid, why);
	return r < 0 ? r : 0;
}

int orphans_settle(const struct orphan_search *search, const struct block_device *devices, size_t n,
		   bool takeover, struct why *why)
{
	int r = await_guardians(search->root, devices, n, why);

	tell_of_stale(search);
	if (r >= 0)
		r = settle_ftrace(search, takeover, why);
	for (size_t i = 0; r >= 0 && i < n; i++) {
		struct trace_state state;
		char what[DEVICE_NAME_BYTES + 64];

		if (!orphan_find(search, devices[i].disk, &state))
			continue;
		snprintf(what, sizeof(what), "%s was left being traced", state.device);
		r = takeover ? orphan_take(search, state.pid, why) : refuse(what, &state, why);
	}
	return r < 0 ? r : 0;
}
