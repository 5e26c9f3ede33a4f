/* SPDX-License-Identifier: MIT */
#include "inherited.h"

#include "cleanup.h"
#include "invoker.h"

#include <stdbool.h>
#include <string.h>

static bool is_harmless(const char *variable)
{
	/* PATH: for a command of the user's; the programs that we need ourselves have paths. */
	static const char *const names[] = {"PATH=",	 "TERM=",    "LANG=", "LANGUAGE=",
					    "LC_",	 "COLUMNS=", "TZ=",   "SUDO_UID=",
					    "SUDO_GID=", "NO_COLOR="};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		size_t n = strlen(names[i]);

		/* Times and languages may be names of files. */
		if (!strncmp(variable, names[i], n))
			return i == 0 || !strchr(variable, '/') || !strncmp(variable, "TZ=", 3);
	}
	return false;
}

/* "Europe/Berlin" is below a folder of the system's; an absolute one, or "..", may be anywhere. */
static bool leads_elsewhere(const char *variable)
{
	const char *value = strchr(variable, '=');

	return !strncmp(variable, "TZ=", 3) &&
	       (value[1] == '/' || value[1] == ':' || strstr(value, ".."));
}

void inherited_reduce(void)
{
	size_t kept = 0;

	if (!is_privileged() || !environ)
		return;
	for (size_t i = 0; environ[i]; i++) {
		if (is_harmless(environ[i]) && !leads_elsewhere(environ[i]))
			environ[kept++] = environ[i];
	}
	environ[kept] = NULL;
}

void inherited_restore(void)
{
	_cleanup_fclose_ FILE *file = NULL;
	_cleanup_free_ char *variable = NULL;
	size_t room = 0;

	if (!is_privileged() || !(file = fopen("/proc/self/environ", "re")))
		return;
	while (getdelim(&variable, &room, '\0', file) > 0) {
		char *value = strchr(variable, '=');

		if (!value || value == variable)
			continue;
		*value = '\0';
		setenv(variable, value + 1, 1);
	}
}
