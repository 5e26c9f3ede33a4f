/* SPDX-License-Identifier: MIT */
#include "sha256.h"

#include "cleanup.h"

#include <endian.h>
#include <string.h>

enum {
	ROUNDS = 64,
	LENGTH_OFFSET = SHA256_BLOCK_BYTES - 8 /* of the last block's bit count */
};

static const uint32_t round_constants[ROUNDS] = {
	0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4,
	0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe,
	0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f,
	0x4a7484aa, 0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7,
	0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc,
	0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b,
	0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116,
	0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
	0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7,
	0xc67178f2,
};

static uint32_t rotate(uint32_t x, unsigned bits)
{
	return x >> bits | x << (32 - bits);
}

static void expand(const uint8_t *block, uint32_t w[ROUNDS])
{
	for (int i = 0; i < 16; i++) {
		uint32_t word;

		memcpy(&word, block + 4 * i, sizeof(word));
		w[i] = be32toh(word);
	}
	for (int i = 16; i < ROUNDS; i++) {
		uint32_t a = w[i - 15], b = w[i - 2];

		w[i] = w[i - 16] + w[i - 7] + (rotate(a, 7) ^ rotate(a, 18) ^ a >> 3) +
		       (rotate(b, 17) ^ rotate(b, 19) ^ b >> 10);
	}
}

static void take_block(struct sha256 *sha, const uint8_t *block)
{
	uint32_t w[ROUNDS], s[8];

	expand(block, w);
	memcpy(s, sha->state, sizeof(s));
	for (int i = 0; i < ROUNDS; i++) {
		uint32_t sum_e = rotate(s[4], 6) ^ rotate(s[4], 11) ^ rotate(s[4], 25);
		uint32_t sum_a = rotate(s[0], 2) ^ rotate(s[0], 13) ^ rotate(s[0], 22);
		uint32_t choice = (s[4] & s[5]) ^ (~s[4] & s[6]);
		uint32_t majority = (s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]);
		uint32_t first = s[7] + sum_e + choice + round_constants[i] + w[i];

		memmove(s + 1, s, 7 * sizeof(s[0]));
		s[4] += first;
		s[0] = first + sum_a + majority;
	}
	for (int i = 0; i < 8; i++)
		sha->state[i] += s[i];
}

void sha256_init(struct sha256 *sha)
{
	*sha = (struct sha256){.state = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f,
					 0x9b05688c, 0x1f83d9ab, 0x5be0cd19}};
}

void sha256_add(struct sha256 *sha, const void *bytes, size_t n)
{
	const uint8_t *from = bytes;

	while (n) {
		size_t used = sha->n % SHA256_BLOCK_BYTES;
		size_t piece = SHA256_BLOCK_BYTES - used;

		piece = piece < n ? piece : n;
		memcpy(sha->block + used, from, piece);
		sha->n += piece;
		from += piece;
		n -= piece;
		if (sha->n % SHA256_BLOCK_BYTES == 0)
			take_block(sha, sha->block);
	}
}

void sha256_finish(struct sha256 *sha, char ret[SHA256_TEXT_BYTES])
{
	uint64_t bits = htobe64(sha->n * 8);

	sha256_add(sha, "\x80", 1);
	while (sha->n % SHA256_BLOCK_BYTES != LENGTH_OFFSET)
		sha256_add(sha, "", 1);
	sha256_add(sha, &bits, sizeof(bits));
	for (size_t i = 0; i < 8; i++)
		snprintf(ret + 8 * i, 9, "%08x", sha->state[i]);
}

int sha256_file(int fd, char ret[SHA256_TEXT_BYTES])
{
	enum {
		PIECE_BYTES = 64 << 10
	};
	_cleanup_free_ char *piece = malloc(PIECE_BYTES);
	struct sha256 sha;
	ssize_t n;

	if (!piece)
		return -ENOMEM;
	sha256_init(&sha);
	while ((n = read(fd, piece, PIECE_BYTES)) != 0) {
		if (n < 0 && errno != EINTR)
			return -errno;
		if (n > 0)
			sha256_add(&sha, piece, (size_t)n);
	}
	sha256_finish(&sha, ret);
	return 0;
}
