/* SPDX-License-Identifier: MIT */
#include "info.h"

#include "cli.h"
#include "clock.h"
#include "number.h"

#include <inttypes.h>

static const char doc[] =
	"Check every byte of a log: checksums, lengths, the continuity of all channels, and the "
	"totals at its end against a recount.\v"
	"LOG is a blkbox log, or - for standard input; blktrace files have nothing to check them "
	"by.\n"
	"\nExamples:\n"
	"  blkbox verify nvme0n1.blkbox && rm -r raw/\n"
	"  blkbox verify nvme0n1.blkbox --json | jq .health\n"
	"\nExit status: 0 the log is whole, 1 it cannot be read, 2 wrong usage, 3 it is cut off or "
	"damaged. Events that the kernel dropped are told, but are no fault of the log.\n";

static void tell(void *context, const char *sentence)
{
	(void)context;
	put_sentence(stdout, sentence);
}

/* On a terminal, of what takes longer than a second. */
struct progress {
	uint64_t next_ns;
	bool shown;
};

static void show_progress(void *data, uint64_t done, uint64_t all)
{
	struct progress *progress = data;
	uint64_t now = clock_mono_ns();

	if (now < progress->next_ns)
		return;
	progress->next_ns = now + NS_PER_S / 4;
	progress->shown = true;
	fprintf(stderr, "\r\033[K%s of %s checked", size_format(done).text, size_format(all).text);
	fflush(stderr);
}

static int check(struct log_reader *log, struct log_health *ret, struct why *why)
{
	struct progress progress = {.next_ns = clock_mono_ns() + NS_PER_S};
	struct log_progress show = {.tell = show_progress, .data = &progress};
	int r = log_reader_verify(log, isatty(STDERR_FILENO) ? &show : NULL, ret, why);

	if (progress.shown)
		fputs("\r\033[K", stderr);
	return r;
}

static uint64_t sum_drops(const struct log_reader *log)
{
	const struct log_drops *drops;
	size_t n = log_reader_drops(log, &drops);
	uint64_t sum = 0;

	for (size_t i = 0; i < n; i++) {
		if (!(drops[i].flags & LOG_DROPS_AT_STOP))
			sum += drops[i].count;
	}
	return sum;
}

static int print_json(const char *name, const struct log_reader *log,
		      const struct log_health *health)
{
	_cleanup_(out_deinit) struct out out = {0};
	struct json json;
	int r = out_init(&out, STDOUT_FILENO, OUT_BUFFER_BYTES);

	if (r < 0)
		return r;
	json_init(&json, &out, true);
	json_object_begin(&json, NULL);
	json_string(&json, "file", name);
	json_bool(&json, "whole", log_health_whole(health));
	json_u64(&json, "dropped", sum_drops(log));
	json_log_health(&json, health);
	json_object_end(&json);
	json_finish(&json);
	return out_flush(&out);
}

static void print_text(const char *name, const struct log_reader *log,
		       const struct log_health *health)
{
	const struct log_channel *channels;
	uint64_t dropped = sum_drops(log);

	log_health_tell(health, name, tell, NULL);
	if (log_health_whole(health))
		put_safely(stdout, "%s: whole: %s, %zu channels, all checksums and totals hold\n",
			   name, size_format(health->file_bytes).text,
			   log_reader_channels(log, &channels));
	if (dropped)
		put_safely(stdout,
			   "%s: the kernel dropped %" PRIu64
			   " events while it recorded: 'blkbox info' "
			   "tells when\n",
			   name, dropped);
}

int cmd_verify(int argc, char **argv)
{
	_cleanup_(cleanup_input_close) struct input *input = NULL;
	struct log_health health;
	struct log_reader *log;
	struct log_args args;
	struct why why = {""};
	int r = 0;

	log_args_parse(argc, argv, doc, &args);
	if (input_open(args.path, &input, &why) < 0)
		return failed("verify", &why);
	log = input_log(input);
	if (!log) {
		why_set(&why, -EINVAL,
			"%s is no blkbox log: its records carry nothing to check them by ('blkbox "
			"info' reads all of them)",
			input_name(input));
		return failed("verify", &why);
	}
	if (check(log, &health, &why) < 0)
		return failed("verify", &why);
	if (args.json)
		r = print_json(input_name(input), log, &health);
	else
		print_text(input_name(input), log, &health);
	if (r < 0)
		return stdout_failed("verify", r);
	return log_health_whole(&health) ? STATUS_OK : STATUS_INCOMPLETE;
}
