/* SPDX-License-Identifier: MIT */
#include "iso_time.h"

#include "clock.h"

#include <stdio.h>
#include <string.h>

struct iso_time iso_time_format(uint64_t real_ns, int decimals)
{
	time_t seconds = (time_t)(real_ns / NS_PER_S);
	struct iso_time ret;
	struct tm tm;
	char fraction[12];
	size_t n;

	gmtime_r(&seconds, &tm);
	n = strftime(ret.text, sizeof(ret.text), "%Y-%m-%dT%H:%M:%S", &tm);
	snprintf(fraction, sizeof(fraction), ".%09u", (unsigned)(real_ns % NS_PER_S));
	fraction[decimals > 0 ? decimals + 1 : 0] = '\0';
	snprintf(ret.text + n, sizeof(ret.text) - n, "%sZ", fraction);
	return ret;
}
