/* SPDX-License-Identifier: MIT */
#include "stats.h"

const char *stats_stage_name(enum stats_stage stage)
{
	static const char *const names[] = {
		[STAGE_Q2Q] = "q2q",
		[STAGE_Q2A] = "q2a",
		[STAGE_Q2G] = "q2g",
		[STAGE_G2I] = "g2i",
		[STAGE_G2D] = "g2d",
		[STAGE_I2D] = "i2d",
		[STAGE_Q2M] = "q2m",
		[STAGE_M2D] = "m2d",
		[STAGE_Q2D] = "q2d",
		[STAGE_D2C] = "d2c",
		[STAGE_FIRST_D2C] = "first_d2c",
		[STAGE_Q2C] = "q2c",
		[STAGE_REQUEST_D2C] = "request_d2c",
	};

	return names[stage];
}

const char *stats_share_name(enum stats_share share)
{
	static const char *const names[] = {
		[SHARE_Q2G] = "q2g",	     [SHARE_G2I] = "g2i", [SHARE_G2D] = "g2d",
		[SHARE_I2D] = "i2d",	     [SHARE_Q2M] = "q2m", [SHARE_M2D] = "m2d",
		[SHARE_Q2D] = "q2d",	     [SHARE_D2C] = "d2c", [SHARE_FLUSH] = "flush",
		[SHARE_REQUEUE] = "requeue", [SHARE_Q2C] = "q2c",
	};

	return names[share];
}

/* The usual sizes: 512 bytes to 16 MiB. 4 KiB is where most of them are. */
static const uint64_t sizes[STATS_SIZES] = {
	0,	   1,	      4096,	 8192,	     16384,	 32768,	     65536,
	128 << 10, 256 << 10, 512 << 10, 1024 << 10, 2048 << 10, 4096 << 10, 16384 << 10,
};

uint64_t stats_size_from(uint32_t size_class)
{
	return sizes[size_class];
}

uint32_t stats_size_class(uint64_t bytes)
{
	uint32_t size_class = STATS_SIZES - 1;

	while (size_class && sizes[size_class] > bytes)
		size_class--;
	return size_class;
}

unsigned stats_log2_row(uint64_t ns)
{
	uint64_t us = ns / 1000;
	unsigned row = us ? 64 - (unsigned)__builtin_clzll(us) : 0;

	return row < STATS_LOG2_ROWS ? row : STATS_LOG2_ROWS - 1;
}

/* Quarters of a power of two, in 1/1024. */
static const uint64_t quarters[] = {1024, 1218, 1448, 1722};

uint64_t stats_heat_from_ns(unsigned row)
{
	return row ? (1000 * quarters[row % 4] << row / 4) / 1024 : 0;
}

unsigned stats_heat_row(uint64_t ns)
{
	uint64_t us = ns / 1000;
	unsigned row = us ? 4 * (63 - (unsigned)__builtin_clzll(us)) : 0;

	while (row + 1 < STATS_HEAT_ROWS && stats_heat_from_ns(row + 1) <= ns)
		row++;
	return row < STATS_HEAT_ROWS ? row : STATS_HEAT_ROWS - 1;
}
