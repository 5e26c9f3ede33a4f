/* SPDX-License-Identifier: MIT */
/* Instead of report_page.c where dygraphs was not found when blkbox was built. */
#include "report_page.h"

int report_page_check(struct why *why)
{
	return why_set(why, -ENOSYS,
		       "this blkbox was built without HTML pages: dygraphs (Debian: "
		       "libjs-dygraphs) was not there");
}

int report_page(const struct report *report, struct out *out)
{
	(void)report;
	(void)out;
	return -ENOSYS;
}
