/* SPDX-License-Identifier: MIT */
/**
 * @file
 * One stream of a CTF trace: the packets of one CPU of one recording.
 */
#ifndef BLKBOX_OUTPUT_CTF_STREAM_H
#define BLKBOX_OUTPUT_CTF_STREAM_H

#include "scene.h"

struct ctf_stream;

/** Creates the stream's file in the folder. */
int ctf_stream_create(int dir_fd, uint32_t tag, uint32_t cpu, struct ctf_stream **ret,
		      struct why *why);
void ctf_stream_destroy(struct ctf_stream *stream);

/** Appends an event; writes a packet when it is full. */
int ctf_stream_event(struct ctf_stream *stream, const struct merge_item *item,
		     const struct scene *scene, struct why *why);
/** @count events were lost from here on: begins the packet that tells them. */
int ctf_stream_lost(struct ctf_stream *stream, uint64_t from_ns, uint64_t count, struct why *why);
/** As many more in the same packet. */
int ctf_stream_lost_more(struct ctf_stream *stream, uint64_t count, struct why *why);
/** Ends the packet in the works, if there is one, with its last event. */
int ctf_stream_cut(struct ctf_stream *stream, struct why *why);
/** The same at this time, if that is later. */
int ctf_stream_cut_at(struct ctf_stream *stream, uint64_t end_ns, struct why *why);
/** Writes what is left and closes. */
int ctf_stream_finish(struct ctf_stream *stream, struct why *why);

#endif
