/* SPDX-License-Identifier: MIT */
/**
 * @file
 * A report with less in it: coarser series, shorter lists. Sums stay what they are, but for devices
 * that are left out.
 */
#ifndef BLKBOX_OUTPUT_REPORT_CUT_H
#define BLKBOX_OUTPUT_REPORT_CUT_H

#include "report.h"

/** At most so many of each. */
struct report_limits {
	size_t bucket_fold;
	size_t devices; /* those with the most events */
	size_t series;
	size_t groups; /* the last one of all others */
	size_t losses;
	size_t slow;
};

enum {
	CUT_KINDS = 4
};

struct cut {
	struct report report; /* what is left */
	struct report_cut facts;
	struct stats_result result;
	struct recording_loss *losses;
	struct stats_group others[CUT_KINDS];
};

/** @report: borrowed as long as the cut lives. -ENOMEM. */
int cut_create(const struct report *report, const struct report_limits *limits, struct cut **ret);
void cut_destroy(struct cut *cut);
DEFINE_CLEANUP(struct cut, cut_destroy);

#endif
