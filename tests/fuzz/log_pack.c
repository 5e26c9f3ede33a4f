/* SPDX-License-Identifier: MIT */
/* Blocks as columns: any bytes come back; and any bytes may be said to be columns. */
#include "fuzz.h"

#include "log_pack.h"

enum {
	MOST = 64 << 10
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct log_packer *packer;
	const uint8_t *packed;
	uint8_t *raw;
	size_t n;

	if (size < 2 || size > MOST || log_packer_create(MOST, &packer) < 0)
		return 0;
	raw = malloc(size > UINT16_MAX ? size : UINT16_MAX);
	n = log_pack(packer, data, size, &packed);
	FUZZ_CHECK(raw && log_unpack(packed, n, raw, size) && !memcmp(raw, data, size));
	free(raw);
	log_packer_destroy(packer);
	/* The first two bytes: how many they are to become. */
	n = (size_t)data[0] << 8 | data[1];
	raw = malloc(n ? n : 1);
	FUZZ_CHECK(raw);
	log_unpack(data + 2, size - 2, raw, n);
	free(raw);
	return 0;
}
