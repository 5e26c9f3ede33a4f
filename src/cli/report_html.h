/* SPDX-License-Identifier: MIT */
/**
 * @file
 * `blkbox report --html FILE`. Prints its own messages.
 */
#ifndef BLKBOX_CLI_REPORT_HTML_H
#define BLKBOX_CLI_REPORT_HTML_H

#include "aside.h"
#include "report.h"

/**
 * Creates @path aside, before the work begins; "-" is standard output. STATUS_FAILED if there is
 * something of that name and @force is not set, or if this build has no pages.
 */
int report_html_open(struct aside *aside, const char *path, bool force,
		     const struct recording *recording);
/** Writes the page and gives it its name. An exit status. */
int report_html_write(struct aside *aside, const char *path, bool force,
		      const struct report *report);

#endif
