/* SPDX-License-Identifier: MIT */
#include "process.h"

#include "cleanup.h"

#include <string.h>

int process_read(const struct sysroot *root, pid_t pid, struct process *ret)
{
	struct process process = {.pid = pid};
	unsigned long long start_ticks;
	char text[4096], state, *name, *end;
	size_t length;
	int r = sysroot_read(root, text, sizeof(text), "/proc/%d/stat", (int)pid);

	if (r < 0)
		return r == -ESRCH ? -ENOENT : r;
	/* The name may hold blanks and brackets of its own: it ends at the last one. */
	name = strchr(text, '(');
	end = strrchr(text, ')');
	if (!name || !end || end < name)
		return -EINVAL;
	name++;
	if (sscanf(end + 1,
		   " %c %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s "
		   "%llu",
		   &state, &start_ticks) != 2)
		return -EINVAL;
	if (state == 'Z' || state == 'X')
		return -ENOENT;
	length = (size_t)(end - name);
	if (length >= sizeof(process.name))
		length = sizeof(process.name) - 1;
	memcpy(process.name, name, length);
	process.start_ticks = start_ticks;
	*ret = process;
	return 0;
}

int boot_id_read(const struct sysroot *root, char ret[BOOT_ID_BYTES])
{
	char text[BOOT_ID_BYTES];
	int r = sysroot_read(root, text, sizeof(text), "/proc/sys/kernel/random/boot_id");

	if (r < 0)
		return r;
	strcpy(ret, text);
	return 0;
}
