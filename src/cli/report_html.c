/* SPDX-License-Identifier: MIT */
#include "report_html.h"

#include "cli.h"
#include "reading.h"
#include "report_page.h"

#include <string.h>

static bool is_stdout(const char *path)
{
	return !strcmp(path, "-");
}

int report_html_open(struct aside *aside, const char *path, bool force,
		     const struct recording *recording)
{
	struct why why = {""};
	int r = report_page_check(&why);

	if (r == 0 && !is_stdout(path))
		r = reading_open_aside(recording, path, force, aside, &why);
	return r < 0 ? failed("report", &why) : STATUS_OK;
}

static int write_page(int fd, const struct report *report, const char *path, struct why *why)
{
	_cleanup_(out_deinit) struct out out = {0};
	int r = out_init(&out, fd, OUT_BUFFER_BYTES);

	if (r == 0)
		r = report_page(report, &out);
	if (r < 0)
		return why_set(why, r, "no memory");
	r = out_flush(&out);
	return r < 0 ? why_errno(why, r, "cannot write %s", path) : 0;
}

int report_html_write(struct aside *aside, const char *path, bool force,
		      const struct report *report)
{
	struct why why = {""};
	int r;

	if (is_stdout(path)) {
		r = write_page(STDOUT_FILENO, report, "standard output", &why);
	} else {
		r = write_page(aside->fd, report, path, &why);
		if (r == 0)
			r = aside_commit(aside, force, &why);
	}
	return r < 0 ? output_failed("report", path, r, &why) : STATUS_OK;
}
