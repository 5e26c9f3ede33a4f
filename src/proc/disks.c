/* SPDX-License-Identifier: MIT */
#include "disks.h"

#include "cleanup.h"
#include "figure.h"

#include <fcntl.h>
#include <string.h>

enum {
	TEXT_BYTES = 64 << 10,
};

int disks_init(struct disks *disks, int sys_fd, const char *const *names, size_t n_names)
{
	*disks = (struct disks){
		.fd = -1,
		.sys_fd = sys_fd,
		.names = names,
		.n_names = n_names,
		.disks = calloc(DISKS_MAX, sizeof(struct disk)),
		.text = malloc(TEXT_BYTES),
	};
	return disks->disks && disks->text ? 0 : -ENOMEM;
}

void disks_deinit(struct disks *disks)
{
	close_keep_errno(take_fd(&disks->fd));
	free(take_ptr(disks->disks));
	free(take_ptr(disks->text));
}

/* Below /sys. */
static void put_path(char *path, size_t size, const char *directory, const char *name,
		     const char *file)
{
	size_t n = strlen(directory);

	snprintf(path, size, "%s%s%s", directory, name, file);
	/* The kernel's own way to have a '/' in a file name. */
	for (size_t i = 0; name[i] && n + i < size && path[n + i]; i++) {
		if (path[n + i] == '/')
			path[n + i] = '!';
	}
}

int disks_check_names(int sys_fd, const char *const *names, size_t n, struct why *why)
{
	for (size_t i = 0; i < n; i++) {
		char path[DISK_NAME_BYTES + 32];

		put_path(path, sizeof(path), "class/block/", names[i], "");
		if (strlen(names[i]) >= DISK_NAME_BYTES || names[i][0] == '.' ||
		    faccessat(sys_fd, path, F_OK, 0) < 0)
			return why_set(why, -ENODEV,
				       "--disk: there is no disk %s; /proc/diskstats names those "
				       "there are",
				       names[i]);
	}
	return 0;
}

/*
 * Whole disks that something real stands behind. What dm, md, loop and zram do is done once more by
 * the disks below, or by nobody: it would count twice.
 */
static bool is_real(const struct disks *disks, const char *name)
{
	char path[DISK_NAME_BYTES + 32];

	put_path(path, sizeof(path), "block/", name, "/device");
	return faccessat(disks->sys_fd, path, F_OK, 0) == 0;
}

static bool is_watched(const struct disks *disks, const char *name)
{
	for (size_t i = 0; i < disks->n_names; i++) {
		if (!strcmp(disks->names[i], name))
			return true;
	}
	return !disks->names && is_real(disks, name);
}

/* They come in the same order nearly every time: @expected is looked at first. */
static struct disk *find(struct disks *disks, const char *name, size_t n, size_t expected)
{
	struct disk *disk;

	if (n >= DISK_NAME_BYTES)
		return NULL;
	for (size_t i = 0; i < disks->n; i++) {
		disk = &disks->disks[(expected + i) % disks->n];
		if (!strncmp(disk->name, name, n) && !disk->name[n])
			return disk;
	}
	if (disks->n == DISKS_MAX)
		return NULL;
	disk = &disks->disks[disks->n++];
	*disk = (struct disk){0};
	memcpy(disk->name, name, n);
	disk->watched = is_watched(disks, disk->name);
	for (int i = 0; i < N_DISK_FIGURES; i++)
		disk->now[i] = FIGURE_UNKNOWN;
	return disk;
}

static void take_figures(struct disk *disk, const char *at)
{
	/* Of the columns behind the name. */
	static const int columns[N_DISK_FIGURES] = {
		[DISK_READ_SECTORS] = 2, [DISK_WRITE_SECTORS] = 6, [DISK_BUSY_MS] = 9,
		[DISK_QUEUE_MS] = 10,	 [DISK_IN_FLIGHT] = 8,
	};
	uint64_t column[11];
	int n = 0;

	for (; n < 11 && *at == ' ' && at[1] >= '0' && at[1] <= '9'; n++)
		column[n] = proc_number(&at);
	for (int i = 0; i < N_DISK_FIGURES; i++) {
		uint64_t now = columns[i] < n ? column[columns[i]] : FIGURE_UNKNOWN;

		if (i < N_DISK_GROWING)
			disk->delta[i] = figure_delta(now, disk->now[i]);
		disk->now[i] = now;
	}
}

/* "   8       0 sda 1 2 3 ..." */
static void take_line(struct disks *disks, const char *line, size_t at)
{
	struct disk *disk;
	size_t n;

	proc_number(&line);
	proc_number(&line);
	line += strspn(line, " ");
	n = strcspn(line, " \n");
	if (line[n] != ' ')
		return;
	disk = find(disks, line, n, at);
	if (!disk)
		return;
	take_figures(disk, line + n);
	disk->seen = disk->watched;
	/* What is not told may be. */
	disks->in_flight |= disk->now[DISK_IN_FLIGHT] != 0;
}

/* One that comes back later is another one. */
static void forget_unseen(struct disk *disk)
{
	for (int i = 0; i < N_DISK_FIGURES; i++) {
		disk->now[i] = FIGURE_UNKNOWN;
		if (i < N_DISK_GROWING)
			disk->delta[i] = FIGURE_UNKNOWN;
	}
}

static void nothing_moved(struct disks *disks)
{
	for (size_t i = 0; i < disks->n; i++) {
		for (int k = 0; k < N_DISK_GROWING; k++) {
			if (figure_known(disks->disks[i].now[k]))
				disks->disks[i].delta[k] = 0;
		}
	}
}

void disks_read(struct disks *disks, struct proc_files *files)
{
	char text[TEXT_BYTES];
	ssize_t n = proc_file_read_all(files, &disks->fd, "diskstats", text, sizeof(text));
	size_t at = 0;

	if (n > 0 && (size_t)n == disks->n_text && !memcmp(text, disks->text, disks->n_text)) {
		disks->at_rest = !disks->in_flight;
		nothing_moved(disks);
		return;
	}
	disks->in_flight = disks->at_rest = false;
	disks->n_text = n > 0 ? (size_t)n : 0;
	memcpy(disks->text, text, disks->n_text);
	for (size_t i = 0; i < disks->n; i++)
		disks->disks[i].seen = false;
	for (const char *line = n > 0 ? text : NULL; line && *line; at++) {
		take_line(disks, line, at);
		line = strchr(line, '\n');
		if (line)
			line++;
	}
	for (size_t i = 0; i < disks->n; i++) {
		if (!disks->disks[i].seen)
			forget_unseen(&disks->disks[i]);
	}
}

uint64_t disks_sum(const struct disks *disks, enum disk_figure figure)
{
	uint64_t sum = FIGURE_UNKNOWN;

	for (size_t i = 0; i < disks->n; i++) {
		if (disks->disks[i].seen)
			sum = figure_sum(sum, disks->disks[i].delta[figure]);
	}
	return sum;
}

bool disks_have(const struct disks *disks, const char *name)
{
	for (size_t i = 0; i < disks->n; i++) {
		if (disks->disks[i].seen && !strcmp(disks->disks[i].name, name))
			return true;
	}
	return false;
}
