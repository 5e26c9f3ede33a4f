/* SPDX-License-Identifier: MIT */
#include "watch_list.h"

#include <ctype.h>
#include <string.h>

enum {
	NAME_MAX_BYTES = 15, /* TASK_COMM_LEN without its NUL */
};

enum match {
	NO_MATCH,
	PART,
	WORD,
	WHOLE,
};

static bool in_word(char c)
{
	return isalnum((unsigned char)c) || (unsigned char)c >= 0x80;
}

static enum match match_name(const char *name, const char *wanted)
{
	size_t n = strlen(wanted), name_bytes = strlen(name);
	enum match best = NO_MATCH;

	if (!strcmp(name, wanted) ||
	    (name_bytes == NAME_MAX_BYTES && !strncmp(name, wanted, name_bytes)))
		return WHOLE;
	for (const char *at = name; (at = strstr(at, wanted)); at++) {
		if ((at == name || !in_word(at[-1])) && !in_word(at[n]))
			return WORD;
		best = PART;
	}
	return best;
}

static const char *by_name(const struct watch_list *list, const char *name)
{
	const char *best = NULL;
	enum match how = NO_MATCH;

	for (size_t i = 0; i < list->n_names; i++) {
		enum match match = match_name(name, list->names[i]);

		if (match > how || (match == how && best && match != NO_MATCH &&
				    strlen(list->names[i]) > strlen(best))) {
			how = match;
			best = list->names[i];
		}
	}
	return best;
}

const char *watch_list_label(const struct watch_list *list, pid_t pid, const char *name)
{
	const char *label = by_name(list, name);

	if (label)
		return label;
	for (size_t i = 0; i < list->n_pids; i++) {
		if (list->pids[i] == pid)
			return name;
	}
	return list->everybody || (!list->n_names && !list->n_pids) ? name : NULL;
}
