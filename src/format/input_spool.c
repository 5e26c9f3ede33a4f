/* SPDX-License-Identifier: MIT */
#include "input_private.h"

#include "invoker.h"
#include "out.h"

#include <fcntl.h>

enum {
	SPOOL_BYTES = 128 << 10
};

static int open_spool(struct why *why)
{
	const char *dir = is_privileged() ? NULL : getenv("TMPDIR");
	int fd;

	/* /var/tmp: a recording may not fit into memory, and /tmp may be memory. */
	if (!dir || !*dir)
		dir = "/var/tmp";
	fd = open(dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	if (fd < 0) {
		_cleanup_free_ char *path = NULL;

		if (asprintf(&path, "%s/blkbox-XXXXXX", dir) < 0)
			return why_set(why, -ENOMEM, "no memory");
		fd = mkostemp(path, O_CLOEXEC);
		if (fd < 0)
			return why_errno(why, -errno, "cannot create a temporary file in %s", dir);
		unlink(path);
	}
	return fd;
}

int input_spool(int fd, const char *name, int *ret_fd, struct why *why)
{
	_cleanup_close_ int spool = -1;
	_cleanup_free_ uint8_t *bytes = malloc(SPOOL_BYTES);
	int r = open_spool(why);
	uint64_t size = 0;

	if (r < 0)
		return r;
	spool = r;
	if (!bytes)
		return why_set(why, -ENOMEM, "no memory");
	for (;;) {
		ssize_t n = read(fd, bytes, SPOOL_BYTES);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return why_errno(why, -errno, "cannot read %s", name);
		if (n == 0)
			break;
		r = write_all(spool, bytes, (size_t)n, NULL);
		if (r < 0)
			return why_errno(why, r, "cannot keep %s in a temporary file ($TMPDIR)",
					 name);
		if (size < INPUT_LOOK_BYTES && size + (uint64_t)n >= INPUT_LOOK_BYTES)
			r = input_check_start(spool, name, why);
		if (r < 0)
			return r;
		size += (uint64_t)n;
	}
	*ret_fd = take_fd(&spool);
	return 0;
}
