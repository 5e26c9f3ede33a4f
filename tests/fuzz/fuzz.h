/* SPDX-License-Identifier: MIT */
/**
 * @file
 * What the fuzz targets share. A target finds a fault by a sanitizer, or by FUZZ_CHECK.
 */
#ifndef BLKBOX_TESTS_FUZZ_H
#define BLKBOX_TESTS_FUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/** What must hold for every input. */
#define FUZZ_CHECK(condition)                                                                     \
	do {                                                                                      \
		if (!(condition)) {                                                               \
			fprintf(stderr, "%s:%d: not true: %s\n", __FILE__, __LINE__, #condition); \
			abort();                                                                  \
		}                                                                                 \
	} while (0)

/** libFuzzer's entry point, one in each target. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/** A file in memory with these bytes. @ret_path: a name by which it can be opened while it is. */
int fuzz_file(const uint8_t *data, size_t size, char ret_path[static 32]);
/**
 * Opens it as a recording and reads what commands read: events, health, overview; and on request
 * the figures of a report, which take more time than all the rest.
 */
void fuzz_read_recording(const char *path, bool with_figures);
/** The input as text, in memory of exactly that size. To be freed. */
char *fuzz_text(const uint8_t *data, size_t size);

#endif
