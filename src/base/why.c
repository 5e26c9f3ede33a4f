/* SPDX-License-Identifier: MIT */
#include "why.h"

#include <stdarg.h>
#include <string.h>

static void append_text(char *text, const char *more)
{
	size_t used = strlen(text);

	snprintf(text + used, WHY_MAX - used, "%s", more);
}

int why_set(struct why *why, int error, const char *format, ...)
{
	va_list args;

	if (!why)
		return error;
	va_start(args, format);
	vsnprintf(why->text, sizeof(why->text), format, args);
	va_end(args);
	return error;
}

int why_errno(struct why *why, int error, const char *format, ...)
{
	char reason[128];
	va_list args;

	if (!why)
		return error;
	va_start(args, format);
	vsnprintf(why->text, sizeof(why->text), format, args);
	va_end(args);
	append_text(why->text, ": ");
	append_text(why->text, strerror_r(-error, reason, sizeof(reason)));
	return error;
}

int why_prefix(struct why *why, int error, const char *format, ...)
{
	char old[WHY_MAX];
	va_list args;

	if (!why)
		return error;
	memcpy(old, why->text, sizeof(old));
	va_start(args, format);
	vsnprintf(why->text, sizeof(why->text), format, args);
	va_end(args);
	append_text(why->text, ": ");
	append_text(why->text, old);
	return error;
}
