/* SPDX-License-Identifier: MIT */
/**
 * @file
 * blkparse's counters: by device and CPU, and by process (-s).
 */
#ifndef BLKBOX_OUTPUT_TEXT_STATS_H
#define BLKBOX_OUTPUT_TEXT_STATS_H

#include "out.h"
#include "scene.h"
#include "text_track.h"

struct text_stats;

struct text_stats_options {
	bool per_process;
	bool by_name; /* processes of one name are one */
};

int text_stats_create(const struct text_stats_options *options, const struct scene *scene,
		      struct text_stats **ret);
void text_stats_destroy(struct text_stats *stats);
DEFINE_CLEANUP(struct text_stats, text_stats_destroy);

/** An event that was shown. */
int text_stats_event(struct text_stats *stats, uint32_t tag, const struct blkbox_event *event,
		     const struct track_time *time);
/** An event that was held back: only its sequence number counts. */
int text_stats_left_out(struct text_stats *stats, uint32_t tag, const struct blkbox_event *event);

/** -s */
void text_stats_print_processes(struct text_stats *stats, struct out *out);
/** The closing summary. */
void text_stats_print_devices(struct text_stats *stats, struct out *out);

#endif
