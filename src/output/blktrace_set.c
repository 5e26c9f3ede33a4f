/* SPDX-License-Identifier: MIT */
#include "blktrace_set.h"

#include "input.h"

#include <dirent.h>
#include <string.h>

/* By its whole name: a reader takes "07" for CPU 7, too. */
static bool is_ours(const char *file, size_t base_bytes, const uint32_t *cpus, size_t n)
{
	char suffix[32];

	for (size_t i = 0; i < n; i++) {
		snprintf(suffix, sizeof(suffix), ".blktrace.%u", cpus[i]);
		if (!strcmp(file + base_bytes, suffix))
			return true;
	}
	return false;
}

static void close_directory(DIR **directory)
{
	if (*directory)
		closedir(*directory);
}

int blktrace_set_check(const char *base, const uint32_t *cpus, size_t n, struct why *why)
{
	const char *slash = strrchr(base, '/'), *name = slash ? slash + 1 : base;
	_cleanup_free_ char *folder = slash ? strndup(base, (size_t)(name - base)) : strdup(".");
	_cleanup_(close_directory) DIR *directory = folder ? opendir(folder) : NULL;
	const struct dirent *entry;

	if (!folder)
		return why_set(why, -ENOMEM, "no memory");
	/* Where nothing can be listed, opening the output has more to say. */
	while (directory && (entry = readdir(directory))) {
		size_t base_bytes;
		uint32_t cpu;

		if (!input_set_parse(entry->d_name, &base_bytes, &cpu) ||
		    base_bytes != strlen(name) || strncmp(entry->d_name, name, base_bytes) != 0 ||
		    is_ours(entry->d_name, base_bytes, cpus, n))
			continue;
		return why_set(why, -EEXIST,
			       "%s%s is there already and would be read as part of the same "
			       "recording; remove it, or choose another name",
			       slash ? folder : "", entry->d_name);
	}
	return 0;
}
