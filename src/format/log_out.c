/* SPDX-License-Identifier: MIT */
#include "log_out.h"

#include "out.h"

#include <fcntl.h>
#include <sys/stat.h>

int log_out_init(struct log_out *out, int fd, struct why *why)
{
	struct stat st;

	*out = (struct log_out){.fd = fd};
	if (fstat(fd, &st) < 0)
		return why_errno(why, -errno, "cannot write to the log");
	out->regular = S_ISREG(st.st_mode);
	if (out->regular && fcntl(fd, F_GETFL) & O_APPEND)
		out->start_offset = st.st_size;
	else if (out->regular)
		out->start_offset = lseek(fd, 0, SEEK_CUR);
	return 0;
}

int log_out_state(const struct log_out *out, struct why *why)
{
	if (out->error && why)
		*why = out->why;
	return out->error;
}

int log_out_give_up(struct log_out *out, int error, struct why *why)
{
	off_t end = out->start_offset + (off_t)out->bytes;

	out->error = error;
	/* If this fails too, the reader finds the part of a block and leaves it out. */
	out->torn =
		!out->regular || ftruncate(out->fd, end) < 0 || lseek(out->fd, end, SEEK_SET) < 0;
	return log_out_state(out, why);
}

bool log_out_retry(struct log_out *out)
{
	bool may_pass = out->error == -ENOSPC || out->error == -EDQUOT || out->error == -EIO;

	if (out->torn || !may_pass)
		return false;
	out->error = 0;
	return true;
}

static int write_blocks(int fd, struct iovec *iov, int n)
{
	while (n) {
		ssize_t written = writev(fd, iov, n);
		int r;

		if (written < 0 && errno == EINTR)
			continue;
		if (written < 0 && errno == EAGAIN) {
			r = wait_for_room(fd);
			if (r < 0)
				return r;
			continue;
		}
		if (written <= 0)
			return written ? -errno : -EIO;
		while (n && (size_t)written >= iov->iov_len) {
			written -= (ssize_t)iov->iov_len;
			iov++;
			n--;
		}
		if (n) {
			iov->iov_base = (uint8_t *)iov->iov_base + written;
			iov->iov_len -= (size_t)written;
		}
	}
	return 0;
}

int log_out_write(struct log_out *out, struct iovec *iov, int n, struct why *why)
{
	uint64_t bytes = 0;
	int r = log_out_state(out, why);

	if (r < 0)
		return r;
	for (int i = 0; i < n; i++)
		bytes += iov[i].iov_len;
	r = write_blocks(out->fd, iov, n);
	if (r < 0) {
		why_errno(&out->why, r, "cannot write to the log");
		return log_out_give_up(out, r, why);
	}
	out->bytes += bytes;
	return 0;
}
