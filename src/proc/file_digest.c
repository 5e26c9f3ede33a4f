/* SPDX-License-Identifier: MIT */
#include "file_digest.h"

#include "cleanup.h"

#include <sha256.h>
#include <stdint.h>

int file_digest(int fd, char ret[FILE_DIGEST_BYTES])
{
	enum {
		PIECE_BYTES = 64 << 10
	};
	_cleanup_free_ uint8_t *piece = malloc(PIECE_BYTES);
	SHA2_CTX sha;
	ssize_t n;

	if (!piece)
		return -ENOMEM;
	SHA256Init(&sha);
	while ((n = read(fd, piece, PIECE_BYTES)) != 0) {
		if (n < 0 && errno != EINTR)
			return -errno;
		if (n > 0)
			SHA256Update(&sha, piece, (size_t)n);
	}
	SHA256End(&sha, ret);
	return 0;
}
