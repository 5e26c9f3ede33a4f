/* SPDX-License-Identifier: MIT */
#include "number.h"

#include <string.h>

static int say_negative(const char *text, struct why *why)
{
	return why_set(why, -EINVAL, "'%s' is negative", text);
}

static int say_too_large(const char *text, struct why *why)
{
	return why_set(why, -ERANGE, "'%s' is too large", text);
}

/* Decimal digits at the start of @text; *@end is what follows. No sentence. */
static int read_digits(const char *text, uint64_t *ret, const char **end)
{
	uint64_t value = 0;
	size_t n = strspn(text, "0123456789");
	int r = n ? 0 : -EINVAL;

	for (size_t i = 0; i < n; i++) {
		if (__builtin_mul_overflow(value, 10, &value) ||
		    __builtin_add_overflow(value, (uint64_t)(text[i] - '0'), &value))
			r = -ERANGE;
	}
	*ret = value;
	*end = text + n;
	return r;
}

int count_parse(const char *text, uint64_t *ret, struct why *why)
{
	const char *end;
	uint64_t value;
	int r = read_digits(text, &value, &end);

	if (text[0] == '-' && text[1])
		return say_negative(text, why);
	if (r == -EINVAL || *end)
		return why_set(why, -EINVAL, "'%s' is not a whole number", text);
	if (r < 0)
		return say_too_large(text, why);
	*ret = value;
	return 0;
}

struct unit {
	const char *name;
	uint64_t factor;
};

static const struct unit *find_unit(const struct unit *units, const char *name)
{
	for (; units->name; units++) {
		if (!strcmp(units->name, name))
			return units;
	}
	return NULL;
}

int size_parse(const char *text, uint64_t unit_bytes, uint64_t *ret_bytes, struct why *why)
{
	const struct unit units[] = {
		{"", unit_bytes},    {"B", 1},		{"k", 1ull << 10},   {"K", 1ull << 10},
		{"KiB", 1ull << 10}, {"M", 1ull << 20}, {"MiB", 1ull << 20}, {"G", 1ull << 30},
		{"GiB", 1ull << 30}, {"T", 1ull << 40}, {"TiB", 1ull << 40}, {NULL},
	};
	const struct unit *unit;
	const char *end;
	uint64_t value;
	int r = read_digits(text, &value, &end);

	if (text[0] == '-' && text[1])
		return say_negative(text, why);
	unit = find_unit(units, end);
	if (r == -EINVAL || !unit)
		return why_set(why, -EINVAL,
			       "'%s' is not a size; write a whole number with B, k, M, G or T",
			       text);
	if (r < 0 || __builtin_mul_overflow(value, unit->factor, &value))
		return say_too_large(text, why);
	*ret_bytes = value;
	return 0;
}

int duration_parse(const char *text, uint64_t *ret_ns, struct why *why)
{
	static const struct unit units[] = {
		{"", 1000000000},
		{"s", 1000000000},
		{"ms", 1000000},
		{"us", 1000},
		{"ns", 1},
		{"m", 60000000000},
		{"min", 60000000000},
		{"h", 3600000000000},
		{"d", 86400000000000},
		{NULL},
	};
	const struct unit *unit;
	const char *end, *fraction = NULL;
	uint64_t value, scale;
	int r = read_digits(text, &value, &end);

	if (text[0] == '-' && text[1])
		return say_negative(text, why);
	if (r != -EINVAL && *end == '.') {
		fraction = end + 1;
		end = fraction + strspn(fraction, "0123456789");
	}
	unit = find_unit(units, end);
	if (r == -EINVAL || !unit || end == fraction)
		return why_set(why, -EINVAL,
			       "'%s' is not a time; write seconds, or a number with ms, s, m or h",
			       text);
	if (r < 0 || __builtin_mul_overflow(value, unit->factor, &value))
		return say_too_large(text, why);
	scale = unit->factor;
	for (; fraction && fraction < end && scale; fraction++) {
		/* 86400e9 x 9 is far from the limit; digits below a nanosecond do not count. */
		uint64_t part = (uint64_t)(*fraction - '0') * scale / 10;

		scale /= 10;
		if (__builtin_add_overflow(value, part, &value))
			return say_too_large(text, why);
	}
	*ret_ns = value;
	return 0;
}

int sector_range_parse(const char *text, struct sector_range *ret, struct why *why)
{
	struct sector_range range;
	const char *end;
	int first, last = -EINVAL;

	if (text[0] == '-' && text[1])
		return say_negative(text, why);
	first = read_digits(text, &range.first, &end);
	if (*end == '-')
		last = read_digits(end + 1, &range.last, &end);
	if (first == -EINVAL || last == -EINVAL || *end)
		return why_set(
			why, -EINVAL,
			"'%s' is not a range of sectors; write FIRST-LAST, both whole numbers",
			text);
	if (first < 0 || last < 0)
		return say_too_large(text, why);
	if (range.first > range.last)
		return why_set(why, -EINVAL, "the range '%s' ends before it starts", text);
	*ret = range;
	return 0;
}

struct size_text size_format(uint64_t bytes)
{
	static const char *const names[] = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
	struct size_text ret;
	double value;
	size_t i = 0;

	if (bytes < 1024) {
		snprintf(ret.text, sizeof(ret.text), "%u bytes", (unsigned)bytes);
		return ret;
	}
	for (value = (double)bytes / 1024; value >= 1023.95; value /= 1024)
		i++;
	snprintf(ret.text, sizeof(ret.text), "%.1f", value);
	/* "32 MiB", not "32.0 MiB" */
	if (strlen(ret.text) > 2 && !strcmp(ret.text + strlen(ret.text) - 2, ".0"))
		ret.text[strlen(ret.text) - 2] = '\0';
	snprintf(ret.text + strlen(ret.text), sizeof(ret.text) - strlen(ret.text), " %s", names[i]);
	return ret;
}
