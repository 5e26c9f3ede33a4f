/* SPDX-License-Identifier: MIT */
#include "invoker.h"

#include "number.h"

#include <stdlib.h>
#include <sys/auxv.h>
#include <unistd.h>

/* -1 as an id means "leave it as it is" to chown() and setresuid(). */
static bool parse_id(const char *text, uint32_t *ret)
{
	uint64_t id;

	if (!text || count_parse(text, &id, NULL) < 0 || id >= UINT32_MAX)
		return false;
	*ret = (uint32_t)id;
	return true;
}

bool invoker_find(struct invoker *ret)
{
	uint32_t uid, gid;

	if (getuid() != 0 || geteuid() != 0 || !parse_id(secure_getenv("SUDO_UID"), &uid) ||
	    !parse_id(secure_getenv("SUDO_GID"), &gid) || !uid)
		return false;
	*ret = (struct invoker){uid, gid};
	return true;
}

bool is_privileged(void)
{
	return geteuid() == 0 || getauxval(AT_SECURE);
}
