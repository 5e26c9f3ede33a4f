/* SPDX-License-Identifier: MIT */
/*
 * Arguments of the filter options: the first byte of each line chooses the option, the rest is its
 * argument. What argp would print and exit for ends the input.
 */
#include "fuzz.h"

#include "filter_args.h"

#include <errno.h>
#include <setjmp.h>

static jmp_buf refused;

void __wrap_argp_error(const struct argp_state *state, const char *format, ...);

void __wrap_argp_error(const struct argp_state *state, const char *format, ...)
{
	FUZZ_CHECK(state && *format);
	longjmp(refused, 1);
}

static size_t count_options(void)
{
	size_t n = 0;

	while (filter_argp.options[n].name || filter_argp.options[n].doc)
		n++;
	return n;
}

static void parse(struct argp_state *state, char *text)
{
	size_t n = count_options();
	char *line;

	while ((line = strsep(&text, "\n"))) {
		size_t i = (unsigned char)line[0] % n;
		error_t r;

		if (!*line || !filter_argp.options[i].name)
			continue;
		r = filter_argp.parser(filter_argp.options[i].key, line + 1, state);
		FUZZ_CHECK(r == 0);
	}
	filter_argp.parser(ARGP_KEY_END, NULL, state);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct recording_device device = {.device = 8u << 20, .name = "sda"};
	static const struct recording_info info = {.has_real = true, .real_offset_ns = 1000};
	struct merge_item item = {.event = {.device = 8u << 20, .bytes = 4096, .pid = 1}};
	struct filter filter = {0};
	struct argp_state state = {.input = &filter};
	char *text = fuzz_text(data, size < 256 ? size : 256);

	if (!setjmp(refused)) {
		parse(&state, text);
		if (filter_resolve_on(&filter, &info, &device, 1, NULL) == 0)
			filter_passes(&filter, &item, "comm");
	}
	filter_deinit(&filter);
	free(text);
	return 0;
}
