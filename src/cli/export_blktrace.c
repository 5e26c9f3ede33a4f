/* SPDX-License-Identifier: MIT */
#include "export.h"

#include "aside.h"
#include "blktrace_out.h"
#include "blktrace_set.h"
#include "input.h"
#include "cli.h"
#include "process_notes.h"
#include "reading.h"

#include <inttypes.h>
#include <string.h>

static const char *channel_device(const struct recording *recording, size_t part,
				  const struct input_channel *channel)
{
	const struct log_device *devices;
	size_t n = input_devices(recording_input(recording, part), &devices);

	/* The name is empty if the log's table of devices is damaged. */
	if (channel->device_index >= n || !devices[channel->device_index].name[0])
		return NULL;
	return devices[channel->device_index].name;
}

/*
 * Can the bytes be copied as they are? Only if each channel is one device's and one CPU's, and only
 * of one recording: several have their clocks shifted.
 */
static bool is_plain_copy(const struct export_options *options, const struct recording *recording)
{
	if (options->protocol || options->merged || filter_is_set(&options->filter) ||
	    recording_inputs(recording) != 1)
		return false;
	for (size_t p = 0; p < recording_inputs(recording); p++) {
		const struct input_channel *channels;
		size_t n = input_channels(recording_input(recording, p), &channels);

		for (size_t i = 0; i < n; i++) {
			if (channels[i].kind != LOG_RELAY_RECORDS ||
			    channels[i].cpu == LOG_NO_CPU ||
			    !channel_device(recording, p, &channels[i]))
				return false;
		}
	}
	return true;
}

static int copy_channel(struct recording *recording, size_t part, size_t i,
			struct blktrace_files *files, struct why *why)
{
	_cleanup_(cleanup_source_destroy) struct source *source = NULL;
	struct input *input = recording_input(recording, part);
	const struct input_channel *channels;
	struct span span;
	size_t file;
	int r;

	input_channels(input, &channels);
	r = blktrace_files_add(files, channel_device(recording, part, &channels[i]),
			       channels[i].cpu, &file, why);
	if (r == 0)
		r = input_source(input, i, &source, why);
	if (r < 0)
		return r;
	while ((r = source_next(source, &span, why)) > 0) {
		r = blktrace_files_append(files, file, span.bytes, span.size, why);
		if (r == 0)
			r = reading_check_signals(why);
		if (r < 0)
			break;
	}
	return r;
}

static int copy_all(struct recording *recording, struct blktrace_files *files, struct why *why)
{
	for (size_t p = 0; p < recording_inputs(recording); p++) {
		const struct input_channel *channels;
		size_t n = input_channels(recording_input(recording, p), &channels);

		for (size_t i = 0; i < n; i++) {
			int r = copy_channel(recording, p, i, files, why);

			if (r < 0)
				return r;
		}
	}
	return blktrace_files_commit(files, why);
}

static const char *device_name(void *context, uint32_t tag, uint32_t device)
{
	return recording_device_name(context, tag, device);
}

/* Files are named by the device: two recordings of one name would be mixed up in them. */
static int check_names(const struct recording *recording, struct why *why)
{
	const struct recording_device *devices;
	size_t n = recording_devices(recording, &devices);

	for (size_t i = 0; i < n; i++) {
		for (size_t k = 0; k < i; k++) {
			if (devices[k].tag == devices[i].tag ||
			    strcmp(devices[k].name, devices[i].name) != 0)
				continue;
			return why_set(why, -EINVAL,
				       "both %s and %s have events of %s: export them one by one, "
				       "or with --merged as one stream",
				       input_name(recording_input(recording, devices[k].tag)),
				       input_name(recording_input(recording, devices[i].tag)),
				       devices[i].name);
		}
	}
	return 0;
}

static int may_write(const void *context, const char *path, struct why *why)
{
	return reading_spares(context, path, why);
}

static int write_files(const struct export_options *options, struct recording *recording,
		       struct blktrace_counts *counts, struct why *why)
{
	_cleanup_(cleanup_blktrace_files_destroy) struct blktrace_files *files = NULL;
	_cleanup_(cleanup_sink_destroy) struct sink *sink = NULL;
	struct sink *records;
	int r = check_names(recording, why);

	if (r < 0)
		return r;
	r = blktrace_files_create(options->output, options->force, &files);
	if (r < 0)
		return why_set(why, r, "no memory");
	blktrace_files_ask(files, may_write, recording);
	if (is_plain_copy(options, recording))
		return copy_all(recording, files, why);
	r = blktrace_split_create(take_ptr(files), options->protocol, device_name, recording,
				  counts, &records);
	if (r == 0)
		r = process_notes_adopt_create(records, recording, &sink);
	if (r < 0)
		return why_set(why, r, "no memory");
	return export_events(options, recording, sink, why);
}

static int write_stream_to(int fd, const struct export_options *options,
			   struct recording *recording, struct blktrace_counts *counts,
			   struct why *why)
{
	_cleanup_(cleanup_sink_destroy) struct sink *sink = NULL;
	struct sink *records;
	int r = blktrace_stream_create(fd, options->protocol, counts, &records);

	if (r == 0)
		r = process_notes_adopt_create(records, recording, &sink);
	if (r < 0)
		return why_set(why, r, "no memory");
	return export_events(options, recording, sink, why);
}

/* A stream that is called like a file of a set would be read as one. */
static int check_stream_name(const char *path, struct why *why)
{
	_cleanup_free_ char *base = strdup(path);
	size_t base_bytes;
	uint32_t cpu;

	if (!base)
		return why_set(why, -ENOMEM, "no memory");
	if (!input_set_parse(path, &base_bytes, &cpu))
		return 0;
	base[base_bytes] = '\0';
	return blktrace_set_check(base, &cpu, 1, why);
}

static int write_stream(const struct export_options *options, struct recording *recording,
			struct blktrace_counts *counts, struct why *why)
{
	_cleanup_(aside_deinit) struct aside aside = {.fd = -1};
	int r;

	if (!strcmp(options->output, "-"))
		return write_stream_to(STDOUT_FILENO, options, recording, counts, why);
	r = reading_spares(recording, options->output, why);
	if (r == 0)
		r = check_stream_name(options->output, why);
	if (r == 0)
		r = aside_open(&aside, options->output, options->force, why);
	if (r == 0)
		r = write_stream_to(aside.fd, options, recording, counts, why);
	if (r == 0)
		r = aside_commit(&aside, options->force, why);
	return r;
}

int export_blktrace(const struct export_options *options, struct recording *recording)
{
	struct blktrace_counts counts = {0};
	struct why why = {""};
	int r;

	if (options->merged && !options->output)
		return usage_error("export", "--merged needs -o FILE, or -o - for standard output");
	if (!options->merged && options->output && !strcmp(options->output, "-"))
		return usage_error("export", "a set of files cannot go to standard output; "
					     "--merged makes one stream");
	r = options->merged ? write_stream(options, recording, &counts, &why)
			    : write_files(options, recording, &counts, &why);
	if (r < 0)
		return output_failed("export", options->output, r, &why);
	if (counts.bent)
		message("%" PRIu64 " events with operations that protocol v1 does not know (zone "
			"operations, write-zeroes) were written as plain writes",
			counts.bent);
	if (counts.left_out)
		message("%" PRIu64 " events that protocol v1 cannot say (zone plug and unplug, the "
			"final sector of a zone append) were left out",
			counts.left_out);
	return STATUS_OK;
}
