/* SPDX-License-Identifier: MIT */
#include "file_digest.h"

#include <criterion/criterion.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* The digests are those of sha256sum. */
Test(file_digest, of_a_file)
{
	char text[FILE_DIGEST_BYTES] = "untouched";
	int fd = memfd_create("file", MFD_CLOEXEC);

	cr_assert_eq(write(fd, "abc", 3), 3);
	lseek(fd, 0, SEEK_SET);
	cr_assert_eq(file_digest(fd, text), 0);
	cr_assert_str_eq(text, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
	/* Read to its end. */
	cr_assert_eq(file_digest(fd, text), 0);
	cr_assert_str_eq(text, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
	close(fd);
	strcpy(text, "untouched");
	cr_assert_lt(file_digest(fd, text), 0);
	cr_assert_str_eq(text, "untouched");
}
