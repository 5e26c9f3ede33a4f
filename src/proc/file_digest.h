/* SPDX-License-Identifier: MIT */
/**
 * @file
 * SHA-256, to name a file by its content.
 */
#ifndef BLKBOX_PROC_FILE_DIGEST_H
#define BLKBOX_PROC_FILE_DIGEST_H

enum {
	FILE_DIGEST_BYTES = 65, /* hexadecimal digits and a NUL */
};

/**
 * Of all that can be read from @fd from here on, in lower-case digits. 0 or -errno; @ret is
 * untouched on failure.
 */
int file_digest(int fd, char ret[FILE_DIGEST_BYTES]);

#endif
