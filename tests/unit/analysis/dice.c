/* SPDX-License-Identifier: MIT */
#include "dice.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static unsigned short dice[3];

void dice_seed(void)
{
	unsigned seed = (unsigned)time(NULL) ^ (unsigned)clock();

	if (getenv("BLKBOX_TEST_SEED"))
		seed = (unsigned)strtoul(getenv("BLKBOX_TEST_SEED"), NULL, 10);
	printf("BLKBOX_TEST_SEED=%u\n", seed);
	fflush(stdout);
	dice[0] = (unsigned short)seed;
	dice[1] = (unsigned short)(seed >> 16);
	dice[2] = 0x330e;
}

unsigned roll(unsigned n)
{
	return (unsigned)(nrand48(dice) % n);
}
