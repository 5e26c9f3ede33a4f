/* SPDX-License-Identifier: MIT */
#include "recording_private.h"

#include <inttypes.h>
#include <stdarg.h>

struct teller {
	recording_tell tell;
	void *context;
	bool whole;
};

static void _printf_(2, 3) tell(struct teller *teller, const char *format, ...)
{
	char sentence[WHY_MAX];
	va_list args;

	teller->whole = false;
	if (!teller->tell)
		return;
	va_start(args, format);
	vsnprintf(sentence, sizeof(sentence), format, args);
	va_end(args);
	teller->tell(teller->context, sentence);
}

static void tell_channel(struct teller *teller, const struct input_channel *channel,
			 const struct decoder_health *health)
{
	if (health->unknown_versions)
		tell(teller,
		     "%s: records of blktrace protocol version %u, which this program does not "
		     "know, were left out in %" PRIu64 " places; the first is at byte %" PRIu64,
		     channel->name, health->first_unknown_version, health->unknown_versions,
		     health->first_unknown_offset);
	if (health->skips)
		tell(teller,
		     "%s: %" PRIu64 " bytes in %" PRIu64 " places are no records and were skipped; "
		     "the first place is at byte %" PRIu64,
		     channel->name, health->skipped_bytes, health->skips,
		     health->first_skip_offset);
	if (health->cut_bytes)
		tell(teller,
		     "%s: ends within a record: the last %" PRIu64 " bytes, from byte %" PRIu64
		     " on, are incomplete",
		     channel->name, health->cut_bytes, health->cut_offset);
	if (health->gaps)
		tell(teller,
		     "%s: %" PRIu64 " bytes are lost with damaged blocks in %" PRIu64 " places",
		     channel->name, health->missing_bytes, health->gaps);
}

/* Numbers that repeat or step back: out of order, there twice, or two runs in one file. */
static void tell_steps(struct teller *teller, const char *where, const struct sequence_count *count)
{
	bool whole = teller->whole;

	if (count->repeats || count->backwards)
		tell(teller,
		     "%s: %" PRIu64
		     " events repeat the sequence number in front of them, and %" PRIu64
		     " step back: they are out of order or there twice",
		     where, count->repeats, count->backwards);
	/* Nothing is missing. */
	teller->whole = whole;
}

static void tell_sequence(struct teller *teller, const struct recording *recording, size_t tag,
			  const struct survey *survey)
{
	const struct part *part = &recording->parts[tag];
	const struct sequence_count *counts;
	size_t n = sequence_counts(survey->sequence, &counts);

	for (size_t i = 0; i < n; i++) {
		uint64_t gap_ns = counts[i].first_gap_ns + (uint64_t)part->shift_ns -
				  recording->info.start_ns;
		char where[WHY_MAX / 2];

		snprintf(where, sizeof(where), "%s: CPU %u of %s", input_name(part->input),
			 counts[i].cpu,
			 recording_device_name(recording, (uint32_t)tag, counts[i].device));
		if (counts[i].gaps)
			tell(teller,
			     "%s: %" PRIu64 " sequence numbers are missing in %" PRIu64
			     " places; the first is in front of %" PRIu64 ".%09" PRIu64 " s",
			     where, counts[i].missing, counts[i].gaps, gap_ns / 1000000000,
			     gap_ns % 1000000000);
		tell_steps(teller, where, &counts[i]);
	}
}

static void tell_times(struct teller *teller, const struct input_channel *channel,
		       const struct survey *survey)
{
	for (size_t i = 0; i < survey->n_cpus; i++) {
		const struct survey_cpu *cpu = &survey->cpus[i];

		if (cpu->step_back_ns > SURVEY_STEP_BACK_MAX_NS)
			tell(teller,
			     "%s: times of CPU %u step back by %" PRIu64 ".%03" PRIu64
			     " s, to %" PRIu64 ".%09" PRIu64
			     " s of its clock: a time is damaged, or these are two recordings in "
			     "one file; do not trust what was computed from times",
			     channel->name, cpu->cpu, cpu->step_back_ns / 1000000000,
			     cpu->step_back_ns / 1000000 % 1000, cpu->step_back_to_ns / 1000000000,
			     cpu->step_back_to_ns % 1000000000);
	}
}

/* They are shown all the same: nothing is missing. */
static void tell_unknown(struct teller *teller, const struct input_channel *channel,
			 const struct survey *survey)
{
	bool whole = teller->whole;

	if (survey->unknown_actions)
		tell(teller,
		     "%s: %" PRIu64
		     " events have actions that this program does not know; they are "
		     "shown by number",
		     channel->name, survey->unknown_actions);
	teller->whole = whole;
}

static void tell_log_sentence(void *context, const char *sentence)
{
	tell(context, "%s", sentence);
}

static void tell_log(struct teller *teller, struct input *input)
{
	struct log_reader *log = input_log(input);

	if (!log)
		return;
	log_health_tell(log_reader_health(log), input_name(input), tell_log_sentence, teller);
	if (log_reader_disturbed(log))
		tell(teller, LOG_DISTURBED_TEXT, input_name(input));
}

bool recording_health(const struct recording *recording, recording_tell function, void *context)
{
	struct teller teller = {.tell = function, .context = context, .whole = true};

	for (size_t p = 0; p < recording->n_parts; p++) {
		const struct part *part = &recording->parts[p];
		const struct input_channel *channels;

		input_channels(part->input, &channels);
		tell_log(&teller, part->input);
		for (size_t i = 0; i < part->n_surveys; i++) {
			tell_channel(&teller, &channels[i], &part->surveys[i].health);
			tell_unknown(&teller, &channels[i], &part->surveys[i]);
			tell_times(&teller, &channels[i], &part->surveys[i]);
			tell_sequence(&teller, recording, p, &part->surveys[i]);
		}
	}
	if (recording->info.dropped)
		tell(&teller, "the kernel dropped %" PRIu64 " events in %zu windows of time",
		     recording->info.dropped, recording->n_losses);
	return teller.whole;
}
