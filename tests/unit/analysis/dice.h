/* SPDX-License-Identifier: MIT */
/* Random numbers of tests that can be repeated: the seed is printed, and taken from
 * BLKBOX_TEST_SEED. */
#ifndef BLKBOX_TESTS_DICE_H
#define BLKBOX_TESTS_DICE_H

void dice_seed(void);
/** 0 to @n - 1. */
unsigned roll(unsigned n);

#endif
