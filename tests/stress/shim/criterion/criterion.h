/* SPDX-License-Identifier: MIT */
/*
 * The made-up kernel asserts through Criterion, which cannot run under ThreadSanitizer. In the
 * stress tests this stands in for it: a failed assertion ends the program.
 */
#ifndef BLKBOX_TEST_SHIM_CRITERION_H
#define BLKBOX_TEST_SHIM_CRITERION_H

#include <stdio.h>
#include <stdlib.h>

#define shim_assert(condition)                                                          \
	do {                                                                            \
		if (!(condition)) {                                                     \
			fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition); \
			abort();                                                        \
		}                                                                       \
	} while (0)

#define cr_assert(condition, ...)  shim_assert(condition)
#define cr_assert_eq(a, b, ...)	   shim_assert((a) == (b))
#define cr_assert_lt(a, b, ...)	   shim_assert((a) < (b))
#define cr_assert_gt(a, b, ...)	   shim_assert((a) > (b))
#define cr_assert_geq(a, b, ...)   shim_assert((a) >= (b))
#define cr_assert_not_null(a, ...) shim_assert((a) != NULL)
#define cr_skip_test(...)                               \
	do {                                            \
		fputs("skipped: needs root\n", stderr); \
		exit(77);                               \
	} while (0)

#endif
