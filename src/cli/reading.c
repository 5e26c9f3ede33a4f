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

int reading_spares(const struct recording *recording, const char *path, struct why *why)
{
	_cleanup_free_ char *part = NULL;

	if (asprintf(&part, "%s.part", path) < 0)
		return why_set(why, -ENOMEM, "no memory");
	for (size_t i = 0; i < recording_inputs(recording); i++) {
		const struct input *input = recording_input(recording, i);

		if (input_reads(input, path) || input_reads(input, part))
			return why_set(why, -EEXIST, "%s is read from: writing %s would replace it",
				       input_name(input), path);
	}
	return 0;
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
