/* SPDX-License-Identifier: MIT */
/**
 * @file
 * What actions, operations and flags are called: the field's letters and whole words.
 */
#ifndef BLKBOX_FORMAT_LETTERS_H
#define BLKBOX_FORMAT_LETTERS_H

#include <blkbox/event.h>
#include <stddef.h>

/** What an event's I/O does, told from its categories. Protocol v1 has no word for those behind
 * FLUSH. */
enum operation {
	OPERATION_NONE, /* plug, unplug and others that move no data */
	OPERATION_READ,
	OPERATION_WRITE,
	OPERATION_DISCARD,
	OPERATION_FLUSH,       /* without data; a preflush with data is a write */
	OPERATION_PASSTHROUGH, /* a command of the driver's own (SCSI, NVMe) */
	OPERATION_WRITE_ZEROES,
	OPERATION_ZONE_APPEND,
	OPERATION_ZONE_RESET,
	OPERATION_ZONE_RESET_ALL,
	OPERATION_ZONE_FINISH,
	OPERATION_ZONE_OPEN,
	OPERATION_ZONE_CLOSE,
	OPERATION_COUNT,
};

/** v2: code 8 without the category COMPLETE tells where a zone append went; it completes nothing.
 */
static inline bool event_is_zone_append_sector(const struct blkbox_event *event)
{
	return event->action == BLKBOX_COMPLETE && event->protocol == 2 &&
	       !(event->categories & (BLKBOX_CAT_COMPLETE | BLKBOX_CAT_NOTIFY));
}

enum operation operation_of(const struct blkbox_event *event);
/** "read", "zone-reset", ... */
const char *operation_name(enum operation operation);

enum {
	LETTERS_MAX = 4, /* of an action, with NUL */
	RWBS_MAX = 12,	 /* with NUL */
	RWBS_LONG_MAX = 96,
};

/**
 * One to two letters; "m", "n" and "t" for notes. NULL for an action that has none.
 * Zone plug and unplug are ZP and ZU, the final sector of a zone append ZA.
 */
const char *action_letters(const struct blkbox_event *event);
/** "queue", "issue", "unplug-timer", ... NULL as above. */
const char *action_name(const struct blkbox_event *event);

/** Finds an action by its letters or its name; false if there is none. For filters. */
struct action_key {
	uint16_t action;
	bool note;
	bool zone_append; /* code 8, but no completion */
};
bool action_find(const char *text, struct action_key *ret);
bool action_matches(const struct action_key *key, const struct blkbox_event *event);

/**
 * blkparse's column: F preflush, the operation (R W D N; WZ ZA ZR ZRA ZF ZO ZC), F FUA, A S M.
 * Returns the number of letters.
 */
size_t rwbs_format(const struct blkbox_event *event, char ret[static RWBS_MAX]);
/** The same in words: "preflush,write,fua,sync". */
void rwbs_long(const struct blkbox_event *event, char ret[static RWBS_LONG_MAX]);

/** Every letter explained, a line each. */
extern const char letters_legend[];

#endif
