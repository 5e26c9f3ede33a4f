/* SPDX-License-Identifier: MIT */
#include "recording.h"

#include "clock_align.h"
#include "crowd.h"
#include "recording_private.h"

#include <inttypes.h>
#include <string.h>

enum {
	SPLIT_DISORDER_NS = 100000000,
	SPLIT_CPUS_MAX = 8192, /* a kernel's limit; each has a decoder over the whole channel */
};

/*
 * One block of each channel is in memory. Real blocks pack to a fifth or so: that of a large
 * machine's log is a small multiple of its size.
 */
static const uint64_t merge_bytes_free = 1 << 30, merge_bytes_per_file_byte = 16;

static void part_deinit(struct part *part)
{
	for (size_t i = 0; i < part->n_surveys; i++)
		survey_deinit(&part->surveys[i]);
	free(part->surveys);
	free(part->anchors);
	names_destroy(part->names);
	input_close(part->input);
}

void recording_close(struct recording *recording)
{
	if (!recording)
		return;
	read_ahead_stop(recording->ahead);
	for (size_t i = 0; i < recording->n_parts; i++)
		part_deinit(&recording->parts[i]);
	free(recording->parts);
	free(recording->devices);
	index_deinit(&recording->device_places);
	free(recording->losses);
	free(recording);
}

static int open_decoder(struct part *part, size_t channel, struct decoder **ret, struct why *why)
{
	struct source *source;
	int r = input_source(part->input, channel, &source, why);

	if (r < 0)
		return r;
	r = decoder_adopt_create(source, ret);
	return r < 0 ? why_set(why, r, "no memory") : 0;
}

static int survey_one(void *context, size_t channel, struct why *why)
{
	struct part *part = context;
	const struct input_channel *channels;
	_cleanup_(cleanup_decoder_destroy) struct decoder *decoder = NULL;
	int r = open_decoder(part, channel, &decoder, why);

	if (r == 0)
		r = survey_channel(&part->surveys[channel], decoder, why);
	input_channels(part->input, &channels);
	return r < 0 ? why_prefix(why, r, "%s", channels[channel].name) : 0;
}

/* In the order of channels, whichever was done first. */
static int collect_names(struct part *part)
{
	int r = names_create(&part->names);

	for (size_t i = 0; i < part->n_surveys && r == 0; i++) {
		r = names_add_all(part->names, part->surveys[i].names);
		names_destroy(part->surveys[i].names);
		part->surveys[i].names = NULL;
	}
	return r;
}

static int survey_part(struct part *part, struct why *why)
{
	const struct input_channel *channels;
	size_t n = input_channels(part->input, &channels);
	int r;

	part->surveys = calloc(n + 1, sizeof(*part->surveys));
	if (!part->surveys)
		return why_set(why, -ENOMEM, "no memory");
	part->n_surveys = n;
	r = crowd_work(n, survey_one, part, why);
	if (r == 0 && collect_names(part) < 0)
		r = why_set(why, -ENOMEM, "no memory");
	return r;
}

static bool is_split(const struct survey *s)
{
	return s->disorder_ns > SPLIT_DISORDER_NS && s->n_cpus > 1;
}

/* A small file must not take all memory: refused before anything is printed. */
static int check_memory(const struct part *part, struct why *why)
{
	const struct log_reader *log = input_log(part->input);
	const struct input_channel *channels;
	size_t n = input_channels(part->input, &channels);
	uint64_t bytes = log ? log_reader_cursors_bytes(log) : 0;

	if (log && bytes > merge_bytes_free +
				   merge_bytes_per_file_byte * log_reader_health(log)->file_bytes)
		return why_set(why, -E2BIG,
			       "%s cannot be merged: its %zu channels would unpack to %" PRIu64
			       " MiB at once, which no recorder writes into so small a file",
			       input_name(part->input), n, bytes >> 20);
	for (size_t i = 0; i < part->n_surveys; i++) {
		if (is_split(&part->surveys[i]) && part->surveys[i].n_cpus > SPLIT_CPUS_MAX)
			return why_set(why, -E2BIG,
				       "%s cannot be put into order: its records name %zu CPUs, "
				       "and %d are the limit",
				       channels[i].name, part->surveys[i].n_cpus, SPLIT_CPUS_MAX);
	}
	return 0;
}

/* Where no notes name them, as through ftrace: they are called the same on every machine. */
static int name_idle_threads(struct part *part)
{
	const struct input_channel *channels;
	size_t n = input_channels(part->input, &channels);
	int r = 0;

	for (size_t i = 0; i < n && r == 0; i++) {
		char comm[NAMES_COMM_BYTES + 1];

		if (channels[i].kind != LOG_FTRACE_PAGES)
			continue;
		snprintf(comm, sizeof(comm), "swapper/%u", channels[i].cpu);
		r = names_add(part->names, 0, channels[i].cpu, 0, comm);
	}
	return r;
}

/* Names that the recorder found itself. */
static int read_log_extras(struct part *part)
{
	struct log_reader *log = input_log(part->input);
	const struct log_name *names;
	size_t n;
	int r = 0;

	if (!log)
		return 0;
	n = log_reader_names(log, &names);
	for (size_t i = 0; i < n && r == 0; i++)
		r = names_add(part->names, names[i].pid, 0, names[i].time_ns, names[i].comm);
	return r < 0 ? r : name_idle_threads(part);
}

/* One set may be named by each of its files (a shell's *): it is read once. */
static bool is_open(const struct recording *recording, const struct input *input)
{
	for (size_t i = 0; i < recording->n_parts; i++) {
		if (input_is_same(recording->parts[i].input, input))
			return true;
	}
	return false;
}

static int open_part(struct recording *recording, const char *path, struct why *why)
{
	struct part *part = &recording->parts[recording->n_parts];
	_cleanup_(cleanup_input_close) struct input *input = NULL;
	int r = input_open(path, &input, why);

	if (r < 0 || is_open(recording, input))
		return r < 0 ? r : 0;
	part->input = take_ptr(input);
	recording->n_parts++;
	r = survey_part(part, why);
	if (r == 0)
		r = check_memory(part, why);
	if (r < 0)
		return r;
	return read_log_extras(part) < 0 ? why_set(why, -ENOMEM, "no memory") : 0;
}

int recording_open(char *const *paths, size_t n, struct recording **ret, struct why *why)
{
	_cleanup_(cleanup_recording_close) struct recording *recording =
		calloc(1, sizeof(*recording));
	int r;

	if (recording)
		recording->parts = calloc(n, sizeof(*recording->parts));
	if (!recording || !recording->parts)
		return why_set(why, -ENOMEM, "no memory");
	for (size_t i = 0; i < n; i++) {
		r = open_part(recording, paths[i], why);
		if (r < 0)
			return r;
	}
	r = clock_align(recording, why);
	if (r == 0 && recording_summarise(recording) < 0)
		r = why_set(why, -ENOMEM, "no memory");
	if (r < 0)
		return r;
	*ret = take_ptr(recording);
	return 0;
}

static int add_channel(struct recording *recording, struct merge *merge, size_t tag, size_t i,
		       uint32_t only_cpu, uint64_t disorder_ns, struct why *why)
{
	struct part *part = &recording->parts[tag];
	struct merge_channel channel = {
		.shift_ns = part->shift_ns,
		.disorder_ns = disorder_ns,
		.only_cpu = only_cpu,
		.tag = (uint32_t)tag,
	};
	struct decoder *decoder;
	int r = open_decoder(part, i, &decoder, why);

	if (r < 0)
		return r;
	r = merge_adopt(merge, decoder, &channel);
	return r < 0 ? why_set(why, r, "no memory") : 0;
}

/*
 * A channel that is far out of order as a whole is the buffers of several CPUs one behind the other
 * (blktrace -o -). Each CPU by itself is in order: it becomes a channel of its own.
 */
static int add_survey(struct recording *recording, struct merge *merge, size_t tag, size_t i,
		      struct why *why)
{
	const struct survey *s = &recording->parts[tag].surveys[i];
	int r = 0;

	if (!is_split(s))
		return add_channel(recording, merge, tag, i, MERGE_ALL_CPUS,
				   s->disorder_ns + s->ties_disordered, why);
	for (size_t c = 0; c < s->n_cpus && r == 0; c++)
		r = add_channel(recording, merge, tag, i, s->cpus[c].cpu, s->cpus[c].disorder_ns,
				why);
	return r;
}

static int start_reading(struct recording *recording, struct why *why)
{
	_cleanup_(cleanup_merge_destroy) struct merge *merge = NULL;
	int r = merge_create(&merge);

	if (r < 0)
		return why_set(why, r, "no memory");
	for (size_t tag = 0; tag < recording->n_parts; tag++) {
		for (size_t i = 0; i < recording->parts[tag].n_surveys; i++) {
			r = add_survey(recording, merge, tag, i, why);
			if (r < 0)
				return r;
		}
	}
	r = read_ahead_adopt_start(take_ptr(merge), &recording->ahead);
	return r < 0 ? why_errno(why, r, "cannot start a thread that reads") : 0;
}

int recording_next(struct recording *recording, struct merge_item *ret, struct why *why)
{
	int r;

	if (!recording->ahead) {
		r = start_reading(recording, why);
		if (r < 0)
			return r;
	}
	r = read_ahead_next(recording->ahead, ret, why);
	if (r <= 0)
		recording_rewind(recording);
	return r;
}

void recording_rewind(struct recording *recording)
{
	read_ahead_stop(recording->ahead);
	recording->ahead = NULL;
}

const struct recording_info *recording_info(const struct recording *recording)
{
	return &recording->info;
}

size_t recording_devices(const struct recording *recording, const struct recording_device **ret)
{
	*ret = recording->devices;
	return recording->n_devices;
}

size_t recording_device_place(const struct recording *recording, uint32_t tag, uint32_t device)
{
	/* What it remembers of the last look-up changes nothing that anybody sees. */
	struct index *places = (struct index *)&recording->device_places;
	size_t at;

	return index_find(places, index_pair(tag, device), &at) ? at : recording->n_devices;
}

const char *recording_device_name(const struct recording *recording, uint32_t tag, uint32_t device)
{
	size_t at = recording_device_place(recording, tag, device);

	return at < recording->n_devices ? recording->devices[at].name : "?";
}

size_t recording_losses(const struct recording *recording, const struct recording_loss **ret)
{
	*ret = recording->losses;
	return recording->n_losses;
}

const char *recording_comm(const struct recording *recording, uint32_t tag, uint32_t pid,
			   uint32_t cpu, uint64_t time_ns)
{
	const struct part *part = &recording->parts[tag];

	return names_find(part->names, pid, cpu, time_ns - (uint64_t)part->shift_ns);
}

size_t recording_inputs(const struct recording *recording)
{
	return recording->n_parts;
}

struct input *recording_input(const struct recording *recording, size_t i)
{
	return recording->parts[i].input;
}
