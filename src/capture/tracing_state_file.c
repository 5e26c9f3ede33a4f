/* SPDX-License-Identifier: MIT */
/*
 * The tracing state on disk: lines of words with tabs between them.
 */
#include "tracing_state.h"

#include <blkbox/event.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

static const char path[] = "run/blkbox/tracing";
/* One name for whoever writes: there is one recording through ftrace at a time, and what is left by
 * one that was killed is found. */
static const char temporary[] = "run/blkbox/tracing.new";

static int write_lines(int fd, const struct tracing_state *state)
{
	FILE *out = fdopen(fd, "w");

	if (!out) {
		close_keep_errno(fd);
		return -errno;
	}
	fprintf(out, "owner\t%s\t%d\t%llu\n", state->boot_id, (int)state->pid,
		(unsigned long long)state->start_ticks);
	fprintf(out, "tracefs\t%s\n", state->tracefs);
	for (size_t i = 0; i < state->n_devices; i++)
		fprintf(out, "device\t%u:%u\n", blkbox_device_major(state->devices[i]),
			blkbox_device_minor(state->devices[i]));
	for (size_t i = 0; i < state->n_items; i++) {
		const struct tracing_item *item = &state->items[i];

		if (item->touched)
			fprintf(out, "file\t%s\t%s\t%s\n", item->file, item->before, item->ours);
	}
	/* What is cut off must not look whole. */
	fputs("end\n", out);
	return fclose(out) == 0 ? 0 : -errno;
}

int tracing_state_store(const struct sysroot *root, const struct tracing_state *state)
{
	int fd, r;

	if (mkdirat(root->fd, "run/blkbox", 0755) < 0 && errno != EEXIST)
		return -errno;
	fd = openat(root->fd, temporary, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC,
		    0644);
	if (fd < 0)
		return -errno;
	r = write_lines(fd, state);
	if (r == 0 && renameat(root->fd, temporary, root->fd, path) < 0)
		r = -errno;
	if (r < 0)
		unlinkat(root->fd, temporary, 0);
	return r;
}

void tracing_state_forget(const struct sysroot *root)
{
	unlinkat(root->fd, path, 0);
	unlinkat(root->fd, temporary, 0);
	/* Stays if it is not empty. */
	unlinkat(root->fd, "run/blkbox", AT_REMOVEDIR);
}

static bool copy_word(char *ret, size_t size, const char *word)
{
	if (!word || strlen(word) >= size)
		return false;
	strcpy(ret, word);
	return true;
}

static bool take_owner(struct tracing_state *state, char **rest)
{
	const char *pid, *ticks;

	if (!copy_word(state->boot_id, sizeof(state->boot_id), strsep(rest, "\t")))
		return false;
	pid = strsep(rest, "\t");
	ticks = strsep(rest, "\t");
	if (!pid || !ticks)
		return false;
	state->pid = (pid_t)strtol(pid, NULL, 10);
	state->start_ticks = strtoull(ticks, NULL, 10);
	return state->pid > 0;
}

static int take_device(struct tracing_state *state, char **rest)
{
	uint32_t *devices = reallocarray(state->devices, state->n_devices + 1, sizeof(*devices));
	const char *word = strsep(rest, "\t");
	unsigned major, minor;

	if (!devices)
		return -ENOMEM;
	state->devices = devices;
	if (!word || sscanf(word, "%u:%u", &major, &minor) != 2)
		return -EINVAL;
	devices[state->n_devices++] = major << 20 | minor;
	return 0;
}

/* It is root who writes to these files: no way out of tracefs. */
static int take_file(struct tracing_state *state, char **rest)
{
	struct tracing_item *items = reallocarray(state->items, state->n_items + 1, sizeof(*items));
	struct tracing_item *item;

	if (!items)
		return -ENOMEM;
	state->items = items;
	item = &items[state->n_items];
	*item = (struct tracing_item){.touched = true};
	if (!copy_word(item->file, sizeof(item->file), strsep(rest, "\t")) ||
	    !copy_word(item->before, sizeof(item->before), strsep(rest, "\t")) ||
	    !copy_word(item->ours, sizeof(item->ours), strsep(rest, "\t")) ||
	    strstr(item->file, "..") || item->file[0] == '/')
		return -EINVAL;
	state->n_items++;
	return 0;
}

/* 1 = a line was taken, 0 = the end, -EINVAL: not one of ours, -ENOMEM. */
static int take_line(struct tracing_state *state, char *line)
{
	const char *key = strsep(&line, "\t");
	int r = -EINVAL;

	if (!strcmp(key, "end"))
		return 0;
	if (!strcmp(key, "owner"))
		r = take_owner(state, &line) ? 0 : -EINVAL;
	else if (!strcmp(key, "tracefs"))
		r = copy_word(state->tracefs, sizeof(state->tracefs), strsep(&line, "\t"))
			    ? 0
			    : -EINVAL;
	else if (!strcmp(key, "device"))
		r = take_device(state, &line);
	else if (!strcmp(key, "file"))
		r = take_file(state, &line);
	return r < 0 ? r : 1;
}

int tracing_state_load(const struct sysroot *root, struct tracing_state *ret)
{
	_cleanup_(tracing_state_deinit) struct tracing_state state = {0};
	_cleanup_close_ int fd = sysroot_openf(root, O_RDONLY | O_NOFOLLOW, "/%s", path);
	_cleanup_fclose_ FILE *in = NULL;
	_cleanup_free_ char *line = NULL;
	size_t room = 0;
	int r = 1;

	if (fd < 0)
		return fd;
	in = fdopen(fd, "r");
	if (!in)
		return -errno;
	take_fd(&fd);
	while (r == 1) {
		ssize_t n = getline(&line, &room, in);

		/* Its end comes too early, or it cannot be read. */
		if (n <= 0)
			return feof(in) ? -EINVAL : -errno;
		line[strcspn(line, "\n")] = '\0';
		r = take_line(&state, line);
	}
	if (r < 0)
		return r;
	if (!state.pid || !state.tracefs[0])
		return -EINVAL;
	*ret = state;
	state = (struct tracing_state){0};
	return 0;
}
