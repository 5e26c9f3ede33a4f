/* SPDX-License-Identifier: MIT */
#include "task_stat.h"

#include "figure.h"
#include "proc_file.h"

#include <errno.h>
#include <string.h>

/* Numbered as in proc(5). */
enum {
	FIELD_PARENT = 4,
	FIELD_MAJOR_FAULTS = 12,
	FIELD_THREADS = 20,
	FIELD_START = 22,
	FIELD_BLKIO = 42,
};

/* Moves *@at to the @n-th blank from there, and over it. False: there are less. */
static bool skip_fields(const char **at, int n)
{
	while (n--) {
		*at = strchr(*at, ' ');
		if (!*at)
			return false;
		(*at)++;
	}
	return true;
}

/* A field: digits and a blank or the end. */
static bool take_field(const char **at, int fields, uint64_t *ret)
{
	const char *start;

	if (!skip_fields(at, fields))
		return false;
	start = *at;
	*ret = proc_number(at);
	return *at > start && (**at == ' ' || **at == '\n' || !**at);
}

int task_stat_parse(const char *text, size_t n, struct task_stat *ret)
{
	const char *open = memchr(text, '(', n), *close = memrchr(text, ')', n), *at;
	struct task_stat stat = {.blkio_ticks = FIGURE_UNKNOWN};
	size_t name_bytes;
	uint64_t parent, blkio;

	if (!open || !close || close < open || close + 3 >= text + n || close[1] != ' ')
		return -EBADMSG;
	name_bytes = (size_t)(close - open - 1);
	if (name_bytes >= sizeof(stat.name))
		name_bytes = sizeof(stat.name) - 1;
	memcpy(stat.name, open + 1, name_bytes);
	stat.state = close[2];
	at = close + 2;
	if (!take_field(&at, FIELD_PARENT - 3, &parent) ||
	    !take_field(&at, FIELD_MAJOR_FAULTS - FIELD_PARENT, &stat.major_faults) ||
	    !take_field(&at, FIELD_THREADS - FIELD_MAJOR_FAULTS, &stat.threads) ||
	    !take_field(&at, FIELD_START - FIELD_THREADS, &stat.start_ticks))
		return -EBADMSG;
	stat.parent = (pid_t)parent;
	if (take_field(&at, FIELD_BLKIO - FIELD_START, &blkio))
		stat.blkio_ticks = blkio;
	*ret = stat;
	return 0;
}
