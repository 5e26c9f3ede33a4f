/* SPDX-License-Identifier: MIT */
#include "reading.h"

#include "cli.h"

#include <sys/resource.h>

void allow_many_files(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < limit.rlim_max) {
		limit.rlim_cur = limit.rlim_max;
		setrlimit(RLIMIT_NOFILE, &limit);
	}
}

int reading_open(const char *command, char *const *paths, size_t n, struct recording **ret)
{
	struct why why = {""};

	allow_many_files();
	if (recording_open(paths, n, ret, &why) < 0)
		return failed(command, &why);
	return STATUS_OK;
}

static void tell(void *context, const char *sentence)
{
	fprintf(stderr, "blkbox %s: ", (const char *)context);
	put_sentence(stderr, sentence);
}

int reading_status(const char *command, const struct recording *recording)
{
	const struct recording_info *info = recording_info(recording);
	bool whole = recording_health(recording, tell, (void *)command);

	if (!info->events)
		fprintf(stderr, "blkbox %s: no events were recorded%s\n", command,
			info->notes ? ", only notes" : "");
	return whole ? STATUS_OK : STATUS_INCOMPLETE;
}
