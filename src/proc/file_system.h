/* SPDX-License-Identifier: MIT */
/**
 * @file
 * File systems by their magic numbers, and what is known of how they keep the accounts.
 */
#ifndef BLKBOX_PROC_FILE_SYSTEM_H
#define BLKBOX_PROC_FILE_SYSTEM_H

#include <stdbool.h>
#include <stdint.h>

/** Where file data goes. */
enum file_system_kind {
	FS_UNKNOWN, /* or told by another file system, as overlay, fuse, NFS */
	FS_MEMORY,  /* nowhere */
	FS_DEVICE,  /* a block device of this machine, by way of the page cache */
};

struct file_system {
	uint64_t magic;
	const char *label; /* as stat(1) calls it; NULL: it has no name there */
	const char *name;  /* as people call it */
	enum file_system_kind kind;
	bool reflink;	      /* copies may share blocks */
	bool books_writeback; /* on the cgroup that made the pages dirty, all of it */
};

/** Of statfs(2)'s f_type; one that is not known has no label, name "unknown" and FS_UNKNOWN. */
struct file_system file_system_by_magic(uint64_t magic);

#endif
