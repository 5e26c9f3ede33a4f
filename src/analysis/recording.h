/* SPDX-License-Identifier: MIT */
/**
 * @file
 * One or more inputs as one recording: surveyed, aligned, merged. What every command that reads
 * starts with:
 *
 *	recording_open(paths, n, &recording, &why);
 *	while ((r = recording_next(recording, &item, &why)) > 0)
 *		...
 *
 * Times of all events are on the monotonic clock of the first input; inputs of other boots or
 * machines are aligned by wall clock.
 */
#ifndef BLKBOX_ANALYSIS_RECORDING_H
#define BLKBOX_ANALYSIS_RECORDING_H

#include "input.h"
#include "merge.h"
#include "names.h"

/** Moments of a recording's own time; names of its devices: all that sinks need to know. */
struct recording_info {
	uint64_t
		start_ns; /* of the first event: time 0 in text. Of notes only: of the first note */
	uint64_t last_ns;
	bool has_real;		/* the wall clock is known */
	int64_t real_offset_ns; /* wall clock (UTC) = monotonic time + this, at the start */
	uint64_t events;	/* without notes */
	uint64_t notes;
	uint64_t dropped; /* told by logs */
};

/** A traced device of one input. */
struct recording_device {
	uint32_t tag;		   /* of the input, as in merge_item */
	uint32_t device;	   /* dev_t */
	char name[LOG_NAME_BYTES]; /* "8,0" where the input has none */
	uint8_t protocol;
	uint64_t sectors; /* 0 = unknown */
	uint64_t events;
	uint64_t notes;
	/* First and last event of its input, whatever the device: it was watched then. 0: none. */
	uint64_t start_ns, last_ns;
};

/** Events lost in the kernel, times in the recording's. */
struct recording_loss {
	uint32_t device; /* dev_t; 0 = of all devices of the input */
	uint32_t cpu;	 /* LOG_NO_CPU = not told */
	uint64_t from_ns;
	uint64_t to_ns;
	uint64_t count;
	uint32_t tag;
};

struct recording;

/** Opens and surveys. Fails with what input_open() fails with; -EINVAL: no common clock; -E2BIG: it
 * would take more memory than any real recording. */
int recording_open(char *const *paths, size_t n, struct recording **ret, struct why *why);
void recording_close(struct recording *recording);
DEFINE_CLEANUP(struct recording, recording_close);

/**
 * The next event. 1 = @ret is set, 0 = end, < 0 = error. Its @tag is the number of the input.
 * After the end, or after recording_rewind(), it starts again.
 */
int recording_next(struct recording *recording, struct merge_item *ret, struct why *why);
void recording_rewind(struct recording *recording);

const struct recording_info *recording_info(const struct recording *recording);
size_t recording_devices(const struct recording *recording, const struct recording_device **ret);
/** Its place among them; their number if it is none of them. */
size_t recording_device_place(const struct recording *recording, uint32_t tag, uint32_t device);
/** Name of a device, "major,minor" if it has none. Borrowed. */
const char *recording_device_name(const struct recording *recording, uint32_t tag, uint32_t device);
size_t recording_losses(const struct recording *recording, const struct recording_loss **ret);
/** Process name, or NULL. Late notes count. @cpu: of the event; thread 0 has a name on each.
 * Borrowed. */
const char *recording_comm(const struct recording *recording, uint32_t tag, uint32_t pid,
			   uint32_t cpu, uint64_t time_ns);
/**
 * What to add to @time_ns of an event of input @tag for the wall clock: as of the last moment
 * before it of which both clocks are known (the first one, if there is none before it). The
 * difference changes when somebody sets the clock, or the machine sleeps. 0 if the wall clock is
 * not known.
 */
int64_t recording_real_offset_ns(const struct recording *recording, uint32_t tag, uint64_t time_ns);
size_t recording_inputs(const struct recording *recording);
struct input *recording_input(const struct recording *recording, size_t i);

/** A sentence on what is wrong with an input: cut off, damaged, skipped bytes, lost events. */
typedef void (*recording_tell)(void *context, const char *sentence);
/** Tells all of them. True if the recording is whole: nothing to tell. */
bool recording_health(const struct recording *recording, recording_tell tell, void *context);

#endif
