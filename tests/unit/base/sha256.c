/* SPDX-License-Identifier: MIT */
#include "sha256.h"

#include <criterion/criterion.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* The digests are those of sha256sum. */
static void expect(const void *bytes, size_t n, const char *digest)
{
	char text[SHA256_TEXT_BYTES];
	struct sha256 sha;

	sha256_init(&sha);
	sha256_add(&sha, bytes, n);
	sha256_finish(&sha, text);
	cr_assert_str_eq(text, digest);
}

Test(sha256, known_digests)
{
	char a[200];

	memset(a, 'a', sizeof(a));
	expect("", 0, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
	expect("abc", 3, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
	/* Around a block's end, where the length finds room, or does not. */
	expect(a, 55, "9f4390f8d30c2dd92ec9f095b65e2b9ae9b0a925a5258e241c9f1e910f734318");
	expect(a, 56, "b35439a4ac6f0948b6d6f9e3c6af0f5f590ce20f1bde7090ef7970686ec6738a");
	expect(a, 64, "ffe054fe7ae0cb6dc65c3af9b61d5209f439851db43d0ba5997337df154668eb");
}

Test(sha256, pieces_make_the_same_digest)
{
	char whole[SHA256_TEXT_BYTES], pieces[SHA256_TEXT_BYTES], text[1000];
	struct sha256 sha;

	memset(text, 'x', sizeof(text));
	sha256_init(&sha);
	sha256_add(&sha, text, sizeof(text));
	sha256_finish(&sha, whole);
	sha256_init(&sha);
	for (size_t at = 0, n = 1; at < sizeof(text); at += n, n += 7) {
		n = n < sizeof(text) - at ? n : sizeof(text) - at;
		sha256_add(&sha, text + at, n);
	}
	sha256_finish(&sha, pieces);
	cr_assert_str_eq(whole, pieces);
}

Test(sha256, a_file)
{
	char text[SHA256_TEXT_BYTES] = "untouched";
	int fd = memfd_create("file", MFD_CLOEXEC);

	cr_assert_eq(write(fd, "abc", 3), 3);
	lseek(fd, 0, SEEK_SET);
	cr_assert_eq(sha256_file(fd, text), 0);
	cr_assert_str_eq(text, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
	close(fd);
	strcpy(text, "untouched");
	cr_assert_lt(sha256_file(fd, text), 0);
	cr_assert_str_eq(text, "untouched");
}
