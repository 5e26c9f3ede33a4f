/* SPDX-License-Identifier: MIT */
#include "log_clock.h"

#include "cleanup.h"
#include "clock.h"

#include <fcntl.h>
#include <string.h>

void log_clock_sample(struct log_clock *ret)
{
	struct log_clock best = {.uncertainty_ns = UINT64_MAX};

	/* A preemption between the readings spoils a try; the best of a few is good. */
	for (int i = 0; i < 5; i++) {
		uint64_t before = clock_mono_ns();
		uint64_t real = clock_real_ns();
		uint64_t between = clock_mono_ns() - before;

		if (between < best.uncertainty_ns) {
			best.mono_ns = before + between / 2;
			best.real_ns = real;
			best.uncertainty_ns = between;
		}
	}
	*ret = best;
}

void log_clock_boot_id(uint8_t ret[static 16])
{
	_cleanup_close_ int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
	char text[64] = "";
	size_t digits = 0;

	/* Without /proc the log just does not say which boot it is of. */
	if (fd < 0 || read(fd, text, sizeof(text) - 1) < 0)
		return;
	for (const char *c = text; *c && digits < 32; c++) {
		static const char hex[] = "0123456789abcdef";
		const char *digit = strchr(hex, *c);

		if (!digit)
			continue;
		ret[digits / 2] = (uint8_t)(ret[digits / 2] << 4 | (digit - hex));
		digits++;
	}
}
