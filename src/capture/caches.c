/* SPDX-License-Identifier: MIT */
#include "caches.h"

#include <unistd.h>

int caches_drop(const struct sysroot *root, struct why *why)
{
	int r;

	/* Dirty pages are not dropped. */
	sync();
	r = sysroot_write(root, "3", "/proc/sys/vm/drop_caches");
	return r < 0 ? why_errno(why, r, "cannot drop the page cache") : 0;
}
