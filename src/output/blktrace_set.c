/* SPDX-License-Identifier: MIT */
#include "blktrace_set.h"

#include <dirent.h>
#include <string.h>

bool blktrace_set_parse(const char *path, size_t *ret_base_bytes, uint32_t *ret_cpu)
{
	static const char middle[] = ".blktrace.";
	const char *dot = strrchr(path, '.');
	size_t before = dot ? (size_t)(dot - path) : 0;
	char *end;
	unsigned long cpu;

	if (before < sizeof(middle) - 2 || dot[1] < '0' || dot[1] > '9')
		return false;
	before -= sizeof(middle) - 2;
	if (strncmp(path + before, middle, sizeof(middle) - 1) != 0)
		return false;
	errno = 0;
	cpu = strtoul(dot + 1, &end, 10);
	if (*end || errno || cpu > UINT32_MAX)
		return false;
	*ret_base_bytes = before;
	*ret_cpu = (uint32_t)cpu;
	return true;
}

static bool has_cpu(const uint32_t *cpus, size_t n, uint32_t cpu)
{
	for (size_t i = 0; i < n; i++) {
		if (cpus[i] == cpu)
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

		if (!blktrace_set_parse(entry->d_name, &base_bytes, &cpu) ||
		    base_bytes != strlen(name) || strncmp(entry->d_name, name, base_bytes) != 0 ||
		    has_cpu(cpus, n, cpu))
			continue;
		return why_set(why, -EEXIST,
			       "%s%s is there already and would be read as part of the same "
			       "recording; remove it, or choose another name",
			       slash ? folder : "", entry->d_name);
	}
	return 0;
}
