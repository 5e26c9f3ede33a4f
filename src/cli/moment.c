/* SPDX-License-Identifier: MIT */
#include "filter_args.h"

#include "number.h"

#include <ctype.h>
#include <string.h>
#include <time.h>

/* ".5": a fraction of a second. Moves *@at behind it. */
static uint64_t parse_fraction(const char **at)
{
	uint64_t ns = 0, weight = 100000000;

	if (**at != '.')
		return 0;
	for (++*at; isdigit((unsigned char)**at); ++*at, weight /= 10)
		ns += weight * (uint64_t)(**at - '0');
	return ns;
}

/* "", "Z", "+01:00" or "+0100". False if it is something else. */
static bool parse_zone(const char *text, bool *ret_local, long *ret_offset_s)
{
	int hours, minutes, end = 0;

	*ret_local = !*text;
	*ret_offset_s = 0;
	if (!*text || !strcmp(text, "Z"))
		return true;
	if ((*text != '+' && *text != '-') ||
	    (sscanf(text + 1, "%2d:%2d%n", &hours, &minutes, &end) != 2 &&
	     sscanf(text + 1, "%2d%2d%n", &hours, &minutes, &end) != 2) ||
	    text[1 + end])
		return false;
	*ret_offset_s = (hours * 60L + minutes) * 60 * (*text == '-' ? -1 : 1);
	return true;
}

static bool parse_wall(const char *text, uint64_t *ret_ns)
{
	struct tm tm = {.tm_isdst = -1};
	const char *rest = strptime(text, "%Y-%m-%d", &tm);
	uint64_t ns = 0;
	long offset_s;
	bool local;
	time_t seconds;

	if (!rest)
		return false;
	if (*rest == 'T' || *rest == ' ') {
		const char *time = strptime(rest + 1, "%H:%M:%S", &tm);

		if (!time)
			time = strptime(rest + 1, "%H:%M", &tm);
		if (!time)
			return false;
		rest = time;
		ns = parse_fraction(&rest);
	}
	if (!parse_zone(rest, &local, &offset_s))
		return false;
	tm.tm_isdst = -1;
	seconds = local ? mktime(&tm) : timegm(&tm) - offset_s;
	if (seconds < 0)
		return false;
	*ret_ns = (uint64_t)seconds * 1000000000 + ns;
	return true;
}

int moment_parse(const char *text, struct moment *ret, struct why *why)
{
	struct moment moment = {.is_set = true};
	int r;

	if (strlen(text) > 4 && text[4] == '-') {
		moment.is_wall = true;
		if (!parse_wall(text, &moment.ns))
			return why_set(why, -EINVAL,
				       "'%s' is no time; as in 2026-11-30T15:48:36.5Z, or seconds "
				       "from the start",
				       text);
		*ret = moment;
		return 0;
	}
	r = duration_parse(text, &moment.ns, why);
	if (r == 0)
		*ret = moment;
	return r;
}
