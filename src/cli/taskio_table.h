/* SPDX-License-Identifier: MIT */
/**
 * @file
 * What came of taskio's experiments, as tables for people.
 */
#ifndef BLKBOX_CLI_TASKIO_TABLE_H
#define BLKBOX_CLI_TASKIO_TABLE_H

#include "taskio.h"

#include <stdio.h>

/** -ENOMEM. */
int taskio_print_tables(const struct taskio *taskio, FILE *out);

#endif
