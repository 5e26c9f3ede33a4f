/* SPDX-License-Identifier: MIT */
#include "hidden.h"

#include "cleanup.h"
#include "number.h"

#include <fcntl.h>
#include <linux/capability.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

bool proc_may_trace_all(void)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = {0};

	return syscall(SYS_capget, &header, data) == 0 && data[0].effective & 1u << CAP_SYS_PTRACE;
}

static bool is_in_group(const char *text)
{
	_cleanup_free_ gid_t *groups = NULL;
	int n = getgroups(0, NULL);
	uint64_t gid;

	if (count_parse(text, &gid, NULL) < 0)
		return false;
	if (gid == getegid())
		return true;
	groups = n > 0 ? calloc((size_t)n, sizeof(*groups)) : NULL;
	n = groups ? getgroups(n, groups) : 0;
	for (int i = 0; i < n; i++) {
		if (groups[i] == gid)
			return true;
	}
	return false;
}

/* "rw,hidepid=invisible,gid=4": what hides from us, or NULL. */
static const char *take_options(char *options)
{
	const char *hides = NULL;
	char *word;

	while ((word = strsep(&options, ","))) {
		if (!strncmp(word, "hidepid=", 8) && strcmp(word + 8, "0") != 0 &&
		    strcmp(word + 8, "off") != 0)
			hides = word;
		else if (!strncmp(word, "gid=", 4) && is_in_group(word + 4))
			return NULL;
	}
	return hides;
}

bool proc_is_hidden(int proc_fd, char *ret_option, size_t size)
{
	static const char separator[] = " - proc ", mounted_at[] = " /proc ";
	int fd = openat(proc_fd, "self/mountinfo", O_RDONLY | O_CLOEXEC);
	_cleanup_fclose_ FILE *mounts = fd < 0 ? NULL : fdopen(fd, "r");
	bool hidden = false;
	char line[4096];

	if (!mounts) {
		close_keep_errno(fd);
		return false;
	}
	/* ID PARENT MAJOR:MINOR ROOT /proc OPTIONS - proc SOURCE OPTIONS; the last one is on top.
	 */
	while (fgets(line, sizeof(line), mounts)) {
		char *at = strstr(line, separator);
		const char *hides;

		if (!at || !strstr(line, mounted_at) || strstr(line, mounted_at) > at ||
		    !(at = strchr(at + strlen(separator), ' ')))
			continue;
		at[strcspn(at, "\n")] = '\0';
		hides = proc_may_trace_all() ? NULL : take_options(at + 1);
		hidden = hides != NULL;
		if (hides)
			snprintf(ret_option, size, "%s", hides);
	}
	return hidden;
}
