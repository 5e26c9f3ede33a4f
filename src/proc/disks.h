/* SPDX-License-Identifier: MIT */
/**
 * @file
 * The counters of disks, from /proc/diskstats.
 */
#ifndef BLKBOX_PROC_DISKS_H
#define BLKBOX_PROC_DISKS_H

#include "proc_file.h"
#include "why.h"

#include <stdbool.h>

enum {
	DISKS_MAX = 512, /* that are watched; there is no more room */
	DISK_NAME_BYTES = 32,
};

enum disk_figure {
	DISK_READ_SECTORS,  /* of 512 bytes */
	DISK_WRITE_SECTORS, /* of 512 bytes */
	DISK_BUSY_MS,
	DISK_QUEUE_MS, /* of all requests together */
	N_DISK_GROWING,
	DISK_IN_FLIGHT = N_DISK_GROWING,
	N_DISK_FIGURES
};

struct disk {
	char name[DISK_NAME_BYTES];
	bool watched;
	bool seen;			/* in this sample */
	uint64_t now[N_DISK_FIGURES];	/* FIGURE_UNKNOWN: not there */
	uint64_t delta[N_DISK_GROWING]; /* FIGURE_UNKNOWN: not known */
};

/** Which disks are watched. */
struct disks {
	int fd;
	int sys_fd;		  /* stands for /sys; borrowed */
	const char *const *names; /* NULL: whole disks with a device of their own; borrowed */
	size_t n_names;
	struct disk *disks; /* DISKS_MAX */
	size_t n;
	char *text; /* of the file, as it was read last */
	size_t n_text;
	bool in_flight; /* any disk has requests in flight, watched or not */
	bool at_rest;	/* no disk did anything in this sample, watched or not */
};

/** @names: as in /proc/diskstats. -ENOMEM */
int disks_init(struct disks *disks, int sys_fd, const char *const *names, size_t n_names);
void disks_deinit(struct disks *disks);
/** -ENODEV with the sentence if one of @names is not there now. @sys_fd: stands for /sys */
int disks_check_names(int sys_fd, const char *const *names, size_t n, struct why *why);
/** New figures, and what they have grown by since the last time. */
void disks_read(struct disks *disks, struct proc_files *files);
/** Sum of a delta over all that are watched; FIGURE_UNKNOWN if there is none. */
uint64_t disks_sum(const struct disks *disks, enum disk_figure figure);
/** Is a disk of this name there? */
bool disks_have(const struct disks *disks, const char *name);

#endif
