/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Process names by thread id and time. Thread 0 is the idle one of a CPU: each has its own name.
 */
#ifndef BLKBOX_ANALYSIS_NAMES_H
#define BLKBOX_ANALYSIS_NAMES_H

#include "cleanup.h"

#include <stdint.h>

enum {
	NAMES_COMM_BYTES = 16
};

struct names;

int names_create(struct names **ret);
void names_destroy(struct names *names);
DEFINE_CLEANUP(struct names, names_destroy);

/** From @time_ns on, @pid is called @comm (at most 16 bytes). In any order of times. */
int names_add(struct names *names, uint32_t pid, uint32_t cpu, uint64_t time_ns, const char *comm);

/** All of @from, as if they had been added one by one behind those that are there. */
int names_add_all(struct names *names, const struct names *from);

/**
 * The name of @pid at @time_ns: the last one told before, else the first one told later. NULL if
 * none was ever told. Borrowed, valid until the next names_add().
 */
const char *names_find(const struct names *names, uint32_t pid, uint32_t cpu, uint64_t time_ns);

#endif
