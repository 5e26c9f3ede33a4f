/* SPDX-License-Identifier: MIT */
/**
 * @file
 * A recording's statistics as one page that a browser opens without a network.
 */
#ifndef BLKBOX_OUTPUT_REPORT_PAGE_H
#define BLKBOX_OUTPUT_REPORT_PAGE_H

#include "report.h"
#include "why.h"

enum {
	REPORT_PAGE_BYTES_MAX = 3000000
};

/** 0, or -ENOSYS with a sentence if this build has no pages: to be asked before work is done. */
int report_page_check(struct why *why);
/**
 * At most REPORT_PAGE_BYTES_MAX whatever was recorded: where there is too much, series get coarser
 * and lists shorter, and the page says so. 0 or -ENOMEM; failures of @out stay with it.
 */
int report_page(const struct report *report, struct out *out);

#endif
