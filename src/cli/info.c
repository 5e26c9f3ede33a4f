/* SPDX-License-Identifier: MIT */
#include "info.h"

#include "cli.h"
#include "reading.h"
#include "survey.h"

static const char doc[] =
	"Tell what was recorded: where, when and how, events and losses by device and CPU.\v"
	"LOG is a blkbox log, the base name or a file of blktrace files, a stream of records, or - "
	"for standard input. A whole log tells its figures at once; of others all records are "
	"read.\n"
	"\nExamples:\n"
	"  blkbox info nvme0n1.blkbox\n"
	"  blkbox info nvme0n1.blkbox --json | jq .dropped\n"
	"  ssh host cat sda.blkbox | blkbox info -\n"
	"\nExit status: 0 nothing is missing, 1 LOG cannot be read, 2 wrong usage, 3 LOG is cut "
	"off or "
	"damaged, or events were dropped.\n";

const char *info_meta(const struct info *info, const char *key)
{
	struct log_reader *log = input_log(info->input);

	return log ? log_reader_meta(log, key) : NULL;
}

uint64_t info_real_ns(const struct info *info, uint64_t mono_ns)
{
	return mono_ns + (uint64_t)info->overview.real_offset_ns;
}

const char *info_kind(const struct info *info)
{
	switch (input_kind(info->input)) {
	case INPUT_LOG:
		return "log";
	case INPUT_SET:
		return "blktrace";
	default:
		return "stream";
	}
}

const char *info_end_reason(const struct info *info, bool words)
{
	static const char *const names[][2] = {
		[LOG_END_UNKNOWN] = {"unknown", "nobody knows why"},
		[LOG_END_COMMAND] = {"command", "the command exited"},
		[LOG_END_TIME] = {"time", "the time was over"},
		[LOG_END_SIGNAL] = {"signal", "ended by the user"},
		[LOG_END_DEVICE] = {"device", "all devices disappeared"},
		[LOG_END_FAILURE] = {"failure", "the output or the kernel failed"},
		[LOG_END_FOREIGN] = {"foreign", "somebody else ended the trace"},
		[LOG_END_CALLER] = {"caller", "ended by the program that recorded"},
		[LOG_END_KILLED] = {"killed", "the recorder was killed"},
	};
	struct log_reader *log = input_log(info->input);
	const struct log_end *end = log ? log_reader_end(log) : NULL;

	if (!end)
		return NULL;
	if (end->reason > LOG_END_KILLED)
		return names[LOG_END_UNKNOWN][words];
	return names[end->reason][words];
}

static void tell(void *context, const char *sentence)
{
	(void)context;
	fputs("blkbox info: ", stderr);
	put_sentence(stderr, sentence);
}

/* What is wrong with the records themselves, where all of them were read. */
static void tell_records(const struct overview *overview, const char *name)
{
	const struct decoder_health *records = &overview->records;

	if (!overview->counted)
		return;
	if (records->unknown_versions)
		put_safely(stderr,
			   "blkbox info: %s: in %llu places, records are of protocol versions that "
			   "this program does not know\n",
			   name, (unsigned long long)records->unknown_versions);
	if (records->skipped_bytes)
		put_safely(stderr, "blkbox info: %s: %llu bytes in %llu places are no records\n",
			   name, (unsigned long long)records->skipped_bytes,
			   (unsigned long long)records->skips);
	if (records->cut_bytes)
		put_safely(stderr,
			   "blkbox info: %s: %llu bytes at the end are of incomplete records\n",
			   name, (unsigned long long)records->cut_bytes);
	if (overview->pages.bad || overview->pages.bad_pages)
		put_safely(
			stderr,
			"blkbox info: %s: %llu records and %llu pages of the trace buffer make no "
			"sense\n",
			name, (unsigned long long)overview->pages.bad,
			(unsigned long long)overview->pages.bad_pages);
	if (overview->sequence_missing)
		put_safely(stderr,
			   "blkbox info: %s: %llu sequence numbers are missing in %llu places\n",
			   name, (unsigned long long)overview->sequence_missing,
			   (unsigned long long)overview->sequence_gaps);
	if (overview->step_back_ns > SURVEY_STEP_BACK_MAX_NS)
		put_safely(
			stderr,
			"blkbox info: %s: times of CPU %u step back by %.3f s: a time is damaged, "
			"or these are two recordings in one file\n",
			name, overview->step_back_cpu, (double)overview->step_back_ns / 1e9);
	if (overview->missing_entries)
		put_safely(
			stderr,
			"blkbox info: %s: the kernel's count of what it handed out differs by %llu "
			"entries from what is there\n",
			name, (unsigned long long)overview->missing_entries);
}

static int print(const struct info *info, bool json)
{
	int r = json ? info_print_json(info) : info_print_text(info);

	return r < 0 ? stdout_failed("info", r) : STATUS_OK;
}

int cmd_info(int argc, char **argv)
{
	_cleanup_(cleanup_input_close) struct input *input = NULL;
	_cleanup_(overview_deinit) struct overview overview = {0};
	struct log_reader *log;
	struct log_args args;
	struct why why = {""};
	struct info info;

	log_args_parse(argc, argv, doc, &args);
	allow_many_files();
	if (input_open(args.path, &input, &why) < 0)
		return failed("info", &why);
	if (overview_init(&overview, input, &why) < 0)
		return failed("info", &why);
	info = (struct info){.input = input, .overview = overview};
	if (print(&info, args.json) != STATUS_OK)
		return STATUS_FAILED;
	log = input_log(input);
	if (log)
		log_health_tell(log_reader_health(log), input_name(input), tell, NULL);
	if (log && log_reader_disturbed(log))
		message(LOG_DISTURBED_TEXT, input_name(input));
	tell_records(&overview, input_name(input));
	return overview_complete(&overview, input) ? STATUS_OK : STATUS_INCOMPLETE;
}
