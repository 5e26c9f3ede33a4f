/* SPDX-License-Identifier: MIT */
#include "mask.h"

#include <assert.h>
#include <blkbox/event.h>
#include <string.h>

static const char *const names[] = {
	"read",		  "write",	 "flush",     "sync",	    "queue",	    "requeue",
	"issue",	  "complete",	 "fs",	      "pc",	    "notify",	    "ahead",
	"meta",		  "discard",	 "drv_data",  "fua",	    "zone_append",  "zone_reset",
	"zone_reset_all", "zone_finish", "zone_open", "zone_close", "write_zeroes",
};

enum {
	N_NAMES = sizeof(names) / sizeof(names[0])
};

static_assert(1 << N_NAMES == MASK_ALL + 1, "a name for each category");
static_assert(BLKBOX_CAT_WRITE_ZEROES == 1 << (N_NAMES - 1), "names in the order of the bits");

static int find_name(const char *name, size_t length)
{
	for (int i = 0; i < N_NAMES; i++) {
		if (strlen(names[i]) == length && !strncasecmp(names[i], name, length))
			return i;
	}
	if (length == strlen("barrier") && !strncasecmp(name, "barrier", length))
		return __builtin_ctz(BLKBOX_CAT_FLUSH);
	return -1;
}

int mask_parse_names(const char *text, uint32_t *ret, struct why *why)
{
	uint32_t mask = 0;

	for (const char *name = text;;) {
		size_t length = strcspn(name, ",");
		int bit = find_name(name, length);
		char all[MASK_TEXT_MAX];

		if (bit < 0) {
			mask_format(MASK_ALL, all, sizeof(all));
			return why_set(why, -EINVAL, "there is no category '%.*s'; there are %s",
				       length > 64 ? 64 : (int)length, name, all);
		}
		mask |= 1u << bit;
		if (!name[length])
			break;
		name += length + 1;
	}
	*ret = mask;
	return 0;
}

int mask_parse_hex(const char *text, uint32_t *ret, struct why *why)
{
	const char *digits = text;
	unsigned long long mask;

	if (digits[0] == '0' && (digits[1] == 'x' || digits[1] == 'X'))
		digits += 2;
	if (!*digits || strspn(digits, "0123456789abcdefABCDEF") != strlen(digits))
		return why_set(why, -EINVAL, "'%s' is not a hexadecimal number", text);
	/* Saturates: unknown bits all the same. */
	mask = strtoull(digits, NULL, 16);
	if (mask & ~(unsigned long long)MASK_ALL)
		return why_set(why, -EINVAL,
			       "mask '%s' has bits that no category has; all are 0x%x", text,
			       MASK_ALL);
	if (!mask)
		return why_set(why, -EINVAL,
			       "mask '%s' has no category, and the kernel would take it for all",
			       text);
	*ret = (uint32_t)mask;
	return 0;
}

void mask_format(uint32_t mask, char *ret, size_t size)
{
	size_t used = 0;

	snprintf(ret, size, "none");
	for (int i = 0; i < N_NAMES && used < size; i++) {
		if (mask & 1u << i)
			used += (size_t)snprintf(ret + used, size - used, "%s%s", used ? "," : "",
						 names[i]);
	}
	if ((mask & ~(uint32_t)MASK_ALL) && used < size)
		snprintf(ret + used, size - used, "%s0x%x", used ? "," : "",
			 mask & ~(uint32_t)MASK_ALL);
}
