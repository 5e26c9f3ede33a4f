/* SPDX-License-Identifier: MIT */
#include "scene.h"

static const char *comm(void *context, uint32_t tag, uint32_t pid, uint32_t cpu, uint64_t time_ns)
{
	return recording_comm(context, tag, pid, cpu, time_ns);
}

static const char *device_name(void *context, uint32_t tag, uint32_t device)
{
	return recording_device_name(context, tag, device);
}

static int64_t real_offset_ns(void *context, uint32_t tag, uint64_t time_ns)
{
	return recording_real_offset_ns(context, tag, time_ns);
}

void scene_init_recording(struct scene *scene, struct recording *recording)
{
	const struct recording_info *info = recording_info(recording);

	*scene = (struct scene){
		.start_ns = info->start_ns,
		.has_real = info->has_real,
		.real_offset_ns = real_offset_ns,
		.comm = comm,
		.device_name = device_name,
		.context = recording,
	};
}
