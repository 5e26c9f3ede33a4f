/* SPDX-License-Identifier: MIT */
#include "survey.h"

#include "grow.h"
#include "letters.h"
#include "wire.h"

#include <string.h>

enum {
	DECODED_AT_ONCE = 64
};

static int find_device(struct survey *s, const struct blkbox_event *event,
		       struct survey_device **ret)
{
	struct survey_device *devices;
	size_t at;

	if (index_find(&s->device_places, event->device, &at)) {
		*ret = &s->devices[at];
		return 0;
	}
	if (s->n_devices == SURVEY_NUMBERS_MAX)
		return -E2BIG;
	devices = grow_list(s->devices, s->n_devices, sizeof(*devices));
	if (!devices)
		return -ENOMEM;
	s->devices = devices;
	if (index_add(&s->device_places, event->device, s->n_devices) < 0)
		return -ENOMEM;
	devices[s->n_devices] = (struct survey_device){
		.device = event->device,
		.protocol = event->protocol,
	};
	*ret = &devices[s->n_devices++];
	return 0;
}

static int find_cpu(struct survey *s, uint32_t cpu, struct survey_cpu **ret)
{
	struct survey_cpu *cpus;
	size_t at;

	if (index_find(&s->cpu_places, cpu, &at)) {
		*ret = &s->cpus[at];
		return 0;
	}
	if (s->n_cpus == SURVEY_NUMBERS_MAX)
		return -E2BIG;
	cpus = grow_list(s->cpus, s->n_cpus, sizeof(*cpus));
	if (!cpus)
		return -ENOMEM;
	s->cpus = cpus;
	if (index_add(&s->cpu_places, cpu, s->n_cpus) < 0)
		return -ENOMEM;
	cpus[s->n_cpus] = (struct survey_cpu){.cpu = cpu};
	*ret = &cpus[s->n_cpus++];
	return 0;
}

static int add_anchor(struct survey *s, const struct blkbox_event *event)
{
	struct anchor *anchors;
	uint64_t real_ns;

	if (!wire_pdu_timestamp(event, &real_ns))
		return 0;
	anchors = grow_list(s->anchors, s->n_anchors, sizeof(*anchors));
	if (!anchors)
		return -ENOMEM;
	s->anchors = anchors;
	anchors[s->n_anchors++] = (struct anchor){.mono_ns = event->time_ns, .real_ns = real_ns};
	return 0;
}

static int add_note(struct survey *s, const struct blkbox_event *event)
{
	char comm[17];

	if (event->action == BLKBOX_NOTE_TIMESTAMP)
		return add_anchor(s, event);
	if (event->action != BLKBOX_NOTE_PROCESS)
		return 0;
	wire_pdu_comm(event, comm);
	return names_add(s->names, event->pid, event->cpu, event->time_ns, comm);
}

static void follow_time(struct survey *s, struct survey_cpu *cpu, const struct blkbox_event *event)
{
	uint64_t time_ns = event->time_ns;

	if (time_ns < s->first_ns)
		s->first_ns = time_ns;
	if (time_ns > s->last_ns)
		s->last_ns = time_ns;
	if (time_ns < s->newest_ns && s->newest_ns - time_ns > s->disorder_ns)
		s->disorder_ns = s->newest_ns - time_ns;
	if (time_ns == s->newest_ns && event->cpu < s->newest_cpu)
		s->ties_disordered = true;
	if (time_ns >= s->newest_ns) {
		s->newest_ns = time_ns;
		s->newest_cpu = event->cpu;
	}
	if (time_ns < cpu->newest_ns && cpu->newest_ns - time_ns > cpu->disorder_ns)
		cpu->disorder_ns = cpu->newest_ns - time_ns;
	if (time_ns > cpu->newest_ns)
		cpu->newest_ns = time_ns;
}

static void follow_event_time(struct survey *s, struct survey_cpu *cpu, uint64_t time_ns)
{
	if (time_ns < s->first_event_ns)
		s->first_event_ns = time_ns;
	if (time_ns > s->last_event_ns)
		s->last_event_ns = time_ns;
	if (time_ns >= cpu->newest_event_ns) {
		cpu->newest_event_ns = time_ns;
	} else if (cpu->newest_event_ns - time_ns > cpu->step_back_ns) {
		cpu->step_back_ns = cpu->newest_event_ns - time_ns;
		cpu->step_back_to_ns = time_ns;
	}
}

static int add_event(struct survey *s, const struct blkbox_event *event)
{
	struct survey_device *device;
	struct survey_cpu *cpu;
	int r = find_device(s, event, &device);

	if (r == 0)
		r = find_cpu(s, event->cpu, &cpu);
	if (r < 0)
		return r;
	follow_time(s, cpu, event);
	if (!blkbox_event_is_note(event))
		follow_event_time(s, cpu, event->time_ns);
	s->unknown_actions += !action_letters(event);
	if (blkbox_event_is_note(event)) {
		device->notes++;
		return add_note(s, event);
	}
	device->events++;
	return sequence_add(s->sequence, 0, event);
}

int survey_channel(struct survey *survey, struct decoder *decoder, struct why *why)
{
	struct blkbox_event events[DECODED_AT_ONCE];
	int n, r = 0;

	*survey = (struct survey){.first_event_ns = UINT64_MAX, .first_ns = UINT64_MAX};
	if (sequence_create(&survey->sequence) < 0 || names_create(&survey->names) < 0)
		return why_set(why, -ENOMEM, "no memory");
	while ((n = decoder_next_events(decoder, DECODED_AT_ONCE, events, why)) > 0) {
		for (int i = 0; i < n && r == 0; i++)
			r = add_event(survey, &events[i]);
		if (r == -E2BIG)
			return why_set(why, r,
				       "its records name more than %d devices or CPUs: these are "
				       "no numbers of a real machine",
				       SURVEY_NUMBERS_MAX);
		if (r < 0)
			return why_set(why, r, "no memory");
	}
	survey->health = *decoder_health(decoder);
	return n;
}

void survey_deinit(struct survey *survey)
{
	sequence_destroy(survey->sequence);
	names_destroy(survey->names);
	index_deinit(&survey->cpu_places);
	index_deinit(&survey->device_places);
	free(survey->cpus);
	free(survey->devices);
	free(survey->anchors);
	*survey = (struct survey){0};
}
