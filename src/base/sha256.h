/* SPDX-License-Identifier: MIT */
/**
 * @file
 * SHA-256 (FIPS 180-4), to name a file by its content.
 */
#ifndef BLKBOX_BASE_SHA256_H
#define BLKBOX_BASE_SHA256_H

#include <stddef.h>
#include <stdint.h>

enum {
	SHA256_BLOCK_BYTES = 64,
	SHA256_TEXT_BYTES = 65, /* hexadecimal digits and a NUL */
};

struct sha256 {
	uint32_t state[8];
	uint64_t n; /* bytes so far */
	uint8_t block[SHA256_BLOCK_BYTES];
};

void sha256_init(struct sha256 *sha);
void sha256_add(struct sha256 *sha, const void *bytes, size_t n);
/** The digest in lower-case digits. @sha is used up. */
void sha256_finish(struct sha256 *sha, char ret[SHA256_TEXT_BYTES]);

/** Of all that can be read from @fd. 0 or -errno; @ret is untouched on failure. */
int sha256_file(int fd, char ret[SHA256_TEXT_BYTES]);

#endif
