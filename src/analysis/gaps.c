/* SPDX-License-Identifier: MIT */
#include "gaps.h"

#include <string.h>

enum {
	CPUS_MAX = 8192
};

struct cpu_sequence {
	uint32_t last;
	uint64_t last_ns;
};

struct device_sequences {
	struct cpu_sequence *cpus;
	size_t n;
};

struct gaps {
	size_t n_devices;
	struct device_sequences devices[];
};

int gaps_create(size_t n_devices, struct gaps **ret)
{
	struct gaps *gaps = calloc(1, sizeof(*gaps) + n_devices * sizeof(gaps->devices[0]));

	if (!gaps)
		return -ENOMEM;
	gaps->n_devices = n_devices;
	*ret = gaps;
	return 0;
}

void gaps_destroy(struct gaps *gaps)
{
	for (size_t i = 0; gaps && i < gaps->n_devices; i++)
		free(gaps->devices[i].cpus);
	free(gaps);
}

static int make_room(struct device_sequences *device, size_t n)
{
	struct cpu_sequence *cpus;

	if (n <= device->n)
		return 0;
	cpus = reallocarray(device->cpus, n, sizeof(*cpus));
	if (!cpus)
		return -ENOMEM;
	memset(cpus + device->n, 0, (n - device->n) * sizeof(*cpus));
	device->cpus = cpus;
	device->n = n;
	return 0;
}

int gaps_event(struct gaps *gaps, size_t place, const struct merge_item *item, struct gap *ret)
{
	const struct blkbox_event *event = &item->event;
	struct cpu_sequence *cpu, before;
	int32_t step;

	if (event->cpu >= CPUS_MAX || place >= gaps->n_devices || blkbox_event_is_note(event))
		return 0;
	if (make_room(&gaps->devices[place], event->cpu + 1) < 0)
		return -ENOMEM;
	cpu = &gaps->devices[place].cpus[event->cpu];
	before = *cpu;
	step = (int32_t)(event->sequence - before.last);
	if (before.last && step <= 0) {
		*ret = (struct gap){.missing = -1, .since_ns = before.last_ns};
		return step < 0;
	}
	*cpu = (struct cpu_sequence){event->sequence, event->time_ns};
	if (!before.last || step == 1)
		return 0;
	*ret = (struct gap){.missing = (int64_t)step - 1, .since_ns = before.last_ns};
	return 1;
}
