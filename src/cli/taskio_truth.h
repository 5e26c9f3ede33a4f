/* SPDX-License-Identifier: MIT */
/**
 * @file
 * The recording of blkbox itself that taskio compares the accounts with.
 */
#ifndef BLKBOX_CLI_TASKIO_TRUTH_H
#define BLKBOX_CLI_TASKIO_TRUTH_H

#include "taskio.h"

#include <blkbox/session.h>

struct taskio_truth {
	struct blkbox_session *session;
	struct device_recorder recorder;
};

void taskio_truth_init(struct taskio_truth *truth);
void taskio_truth_deinit(struct taskio_truth *truth);

#endif
