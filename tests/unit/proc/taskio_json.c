/* SPDX-License-Identifier: MIT */
#include "taskio.h"

#include <criterion/criterion.h>
#include <string.h>
#include <sys/mman.h>

enum {
	N = 3,
	TEXT_BYTES = 64 << 10
};

static const struct experiment *const experiments[N] = {
	&basic_experiments[0],
	&basic_experiments[1],
	&basic_experiments[2],
};
static struct observation observations[N];
static char text[TEXT_BYTES];

/* The part of the document that tells of the device in one experiment. */
static const char *write_window(size_t experiment)
{
	struct taskio taskio = {
		.options = {.repetitions = 1, .payload_bytes = 1 << 20},
		.experiments = experiments,
		.n_experiments = N,
		.observations = observations,
	};
	int fd = memfd_create("document", MFD_CLOEXEC);
	struct out out;
	char *window;
	ssize_t n;

	cr_assert_eq(truth_create(observations, N, &taskio.truth), 0);
	cr_assert_eq(out_init(&out, fd, OUT_BUFFER_BYTES), 0);
	taskio_write_json(&taskio, &out);
	cr_assert_eq(out_flush(&out), 0);
	n = pread(fd, text, sizeof(text) - 1, 0);
	cr_assert_gt(n, 0);
	text[n] = '\0';
	out_deinit(&out);
	close(fd);
	truth_destroy(taskio.truth);
	window = strstr(text, "\"deviceTruth\"");
	for (size_t i = 0; window && i <= experiment; i++)
		window = strstr(window + 1, "\"experiment\":");
	cr_assert_not_null(window, "%s", text);
	if (strstr(window + 1, "\"experiment\":"))
		*strstr(window + 1, "\"experiment\":") = '\0';
	return window;
}

static void expect_line(const char *window, const char *line)
{
	cr_expect_not_null(strstr(window, line), "no %s in %s", line, window);
}

Test(taskio_json, what_was_not_made_has_no_device)
{
	const char *window;

	observation_skip(&observations[1], "refused");
	window = write_window(1);
	expect_line(window, "\"accounted\": null");
	expect_line(window, "\"device\": null");
	expect_line(window, "\"device_reason\": \"not made here\"");
	expect_line(window, "\"read_factor_reason\": \"not made here\"");
	expect_line(window, "\"write_factor_reason\": \"not made here\"");
	expect_line(window, "\"owners\": []");
	expect_line(write_window(0), "\"device_reason\": null");
}

Test(taskio_json, what_was_cancelled_was_on_an_account)
{
	uint64_t *accounted = observations[2].total.value;

	accounted[IO_WRITE_BYTES] = accounted[IO_CANCELLED_WRITE_BYTES] = 4096;
	expect_line(write_window(2), "\"write_factor_reason\": \"all bytes on the tasks' account "
				     "were cancelled before they were written\"");
	expect_line(write_window(0), "\"write_factor_reason\": \"no bytes are on the tasks' "
				     "account\"");
}

Test(taskio_json, what_was_cancelled_in_part_has_a_factor)
{
	uint64_t *accounted = observations[2].total.value;

	accounted[IO_WRITE_BYTES] = 8192;
	accounted[IO_CANCELLED_WRITE_BYTES] = 4096;
	expect_line(write_window(2), "\"write_factor_reason\": null");
}
