/* SPDX-License-Identifier: MIT */
/**
 * @file
 * What sinks may ask about the recording that they show. A running trace answers as far as it
 * knows.
 */
#ifndef BLKBOX_OUTPUT_SCENE_H
#define BLKBOX_OUTPUT_SCENE_H

#include "filter.h"

struct scene {
	uint64_t start_ns; /* time 0; SCENE_FROM_FIRST: that of the first event */
	bool has_real;
	/* Wall clock - monotonic, at that time. */
	int64_t (*real_offset_ns)(void *context, uint32_t tag, uint64_t time_ns);
	/* Process name, NULL = unknown. Borrowed until the next call. */
	const char *(*comm)(void *context, uint32_t tag, uint32_t pid, uint32_t cpu,
			    uint64_t time_ns);
	/* Device name. Borrowed. */
	const char *(*device_name)(void *context, uint32_t tag, uint32_t device);
	void *context;
	const struct filter *filter; /* what is shown of it; NULL = all. Borrowed. */
};

#define SCENE_FROM_FIRST UINT64_MAX

/** The scene of a whole recording, which must outlive it. */
void scene_init_recording(struct scene *scene, struct recording *recording);

/** Wall clock of an event, if the scene has one. */
static inline uint64_t scene_real_ns(const struct scene *scene, uint32_t tag, uint64_t time_ns)
{
	return time_ns + (uint64_t)scene->real_offset_ns(scene->context, tag, time_ns);
}

/** True if the loss may be of events that are shown. */
static inline bool scene_shows_loss(const struct scene *scene, const struct recording_loss *loss)
{
	return !scene->filter || filter_passes_loss(scene->filter, loss);
}

#endif
