/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Which events are wanted. What is not set lets everything pass; what is set must all be true.
 */
#ifndef BLKBOX_ANALYSIS_FILTER_H
#define BLKBOX_ANALYSIS_FILTER_H

#include "letters.h"
#include "recording.h"

/** A moment as people give it. */
struct moment {
	bool is_set;
	bool is_wall; /* @ns is CLOCK_REALTIME; else since the start of the recording */
	uint64_t ns;
};

struct filter {
	uint32_t mask;	  /* categories: an event passes if it has any; 0 = not set */
	bool no_own;	  /* without what the recorder's own threads did */
	bool no_messages; /* free text that the kernel or somebody put into the trace */
	char **devices;	  /* names or "major:minor", as given */
	size_t n_devices;
	uint32_t *cpus;
	size_t n_cpus;
	uint32_t *pids;
	size_t n_pids;
	char **comms; /* shell patterns */
	size_t n_comms;
	struct action_key *actions;
	size_t n_actions;
	uint32_t operations; /* bit n: enum operation n; 0 = not set */
	bool has_sectors;
	uint64_t first_sector, last_sector; /* an event passes if it touches one of them */
	bool has_bytes;
	uint64_t min_bytes, max_bytes;
	struct moment from, to; /* both ends are part of it */
	/* Resolved by filter_resolve(). */
	struct filter_device {
		uint32_t tag, device;
	} * resolved;
	size_t n_resolved;
	struct filter_thread {
		uint32_t tag, pid;
	} * own;
	size_t n_own;
	const struct recording *recording; /* that tells the wall clock; NULL: it is in these: */
	uint64_t from_ns, to_ns;
};

/** All zero is a filter that lets everything pass. Frees what it holds. */
void filter_deinit(struct filter *filter);

/**
 * Finds the devices and puts the times onto the recording's clock. -ENODEV: no such device in the
 * recording; -ENODATA: a wall-clock time, but the recording has no wall clock.
 */
int filter_resolve(struct filter *filter, const struct recording *recording, struct why *why);

/** The same where there is no recording yet: @devices are being traced. */
int filter_resolve_on(struct filter *filter, const struct recording_info *info,
		      const struct recording_device *devices, size_t n, struct why *why);

/** @comm: the process's name, NULL = unknown */
bool filter_passes(const struct filter *filter, const struct merge_item *item, const char *comm);

/** True unless the device or the time is filtered out: of what is a device's, not a process's. */
bool filter_passes_moment(const struct filter *filter, uint32_t tag, uint32_t device,
			  uint64_t time_ns);

/** True unless the device, the CPU or the times of the loss are filtered out. */
bool filter_passes_loss(const struct filter *filter, const struct recording_loss *loss);

/** True if filter_passes() looks at the name. */
static inline bool filter_needs_comm(const struct filter *filter)
{
	return filter->n_comms > 0;
}

/** True if something is set. */
bool filter_is_set(const struct filter *filter);

#endif
