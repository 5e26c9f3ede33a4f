/* SPDX-License-Identifier: MIT */
/**
 * @file
 * The metadata text of a CTF trace. Keep it in step with ctf_stream.c, which writes the bytes.
 */
#ifndef BLKBOX_OUTPUT_CTF_METADATA_H
#define BLKBOX_OUTPUT_CTF_METADATA_H

#include "out.h"
#include "recording.h"

enum ctf_event_id {
	CTF_NOTE = 100, /* + enum blkbox_note */
	CTF_ZONE_APPEND = 200,
	CTF_OTHER = 201, /* an action without a name: the field tells its number */
};

/** Id of an event's class. */
uint16_t ctf_event_id(const struct blkbox_event *event);
void ctf_metadata(struct out *out, const struct recording *recording);

#endif
