/* SPDX-License-Identifier: MIT */
#include "owner.h"

#include <fnmatch.h>

/* Names of the kernel's threads that queue I/O. */
static const char *const kernel_threads[] = {
	"kworker/*",	"jbd2/*",     "kswapd[0-9]*",	"xfsaild/*",  "xfs-*",	    "xfs_*",
	"loop[0-9]*",	"md[0-9]*_*", "dmcrypt_write*", "kcryptd*",   "btrfs-*",    "f2fs_*",
	"ext4lazyinit", "mmcqd/*",    "bcache_*",	"dm_bufio*",  "kcopyd*",    "ksnaphd",
	"nfsd",		"kdmwork-*",  "iscsi_trx",	"khugepaged", "jfsCommit*", "gfs2_*",
	"ocfs2*",	"zfs_*",      "txg_sync",	"z_wr_*",     "raid5wq*",
};

enum {
	N_KERNEL_THREADS = sizeof(kernel_threads) / sizeof(kernel_threads[0])
};

static bool is_kernel_thread(const char *comm)
{
	for (size_t i = 0; i < N_KERNEL_THREADS; i++) {
		/* Each pattern begins with a letter; most names end here. */
		if (kernel_threads[i][0] == comm[0] && fnmatch(kernel_threads[i], comm, 0) == 0)
			return true;
	}
	return false;
}

enum owner_kind owner_kind(const struct track_io *io, const char *comm)
{
	if (!io->owner.known)
		return OWNER_UNKNOWN;
	if (!io->owner.pid)
		return OWNER_INTERRUPT;
	if (!comm || !is_kernel_thread(comm))
		return OWNER_PROCESS;
	/* Dirty pages and inodes are written by kworkers; the name tells no more. */
	if (io->operation == OPERATION_WRITE && fnmatch("kworker/*", comm, 0) == 0)
		return OWNER_WRITEBACK;
	return OWNER_KERNEL_THREAD;
}

const char *owner_kind_name(enum owner_kind kind)
{
	static const char *const names[] = {
		[OWNER_PROCESS] = "process",
		[OWNER_WRITEBACK] = "kernel writeback",
		[OWNER_KERNEL_THREAD] = "kernel thread",
		[OWNER_INTERRUPT] = "interrupt",
		[OWNER_UNKNOWN] = "unknown",
	};

	return names[kind];
}
