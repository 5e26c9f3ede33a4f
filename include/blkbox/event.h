/* SPDX-License-Identifier: MIT */
/**
 * @file
 * One event of the block layer, as the kernel reported it.
 */
#ifndef BLKBOX_EVENT_H
#define BLKBOX_EVENT_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** What happened: the kernel's action codes. A code that is not listed is kept as it came. */
enum blkbox_action {
	BLKBOX_QUEUE = 1,	  /* Q: a bio was handed to the block layer */
	BLKBOX_BACKMERGE = 2,	  /* M: merged behind another request */
	BLKBOX_FRONTMERGE = 3,	  /* F: merged in front of another request */
	BLKBOX_GETRQ = 4,	  /* G: a request was allocated */
	BLKBOX_SLEEPRQ = 5,	  /* S: waited for a request (old kernels) */
	BLKBOX_REQUEUE = 6,	  /* R: the driver gave it back */
	BLKBOX_ISSUE = 7,	  /* D: handed to the driver */
	BLKBOX_COMPLETE = 8,	  /* C: done, or a part of it is */
	BLKBOX_PLUG = 9,	  /* P */
	BLKBOX_UNPLUG = 10,	  /* U */
	BLKBOX_UNPLUG_TIMER = 11, /* UT: unplugged by the scheduler */
	BLKBOX_INSERT = 12,	  /* I: put into the I/O scheduler */
	BLKBOX_SPLIT = 13,	  /* X */
	BLKBOX_BOUNCE = 14,	  /* B (old kernels) */
	BLKBOX_REMAP = 15,	  /* A: from a partition or stacked device */
	BLKBOX_ABORT = 16,
	BLKBOX_DRV_DATA = 17,
	BLKBOX_ZONE_PLUG = 18,	 /* protocol v2 */
	BLKBOX_ZONE_UNPLUG = 19, /* protocol v2 */
};

/** Notes use codes of their own; blkbox_event.categories has BLKBOX_CAT_NOTIFY. */
enum blkbox_note {
	BLKBOX_NOTE_PROCESS = 0,   /* payload: the process name */
	BLKBOX_NOTE_TIMESTAMP = 1, /* payload: wall clock, u32 seconds and u32 nanoseconds */
	BLKBOX_NOTE_MESSAGE = 2,   /* payload: free text, not terminated */
};

/** Categories: operation, flags and kind of an event. Bits as in the kernel's mask. */
enum blkbox_category {
	BLKBOX_CAT_READ = 1 << 0,
	BLKBOX_CAT_WRITE = 1 << 1,
	BLKBOX_CAT_FLUSH = 1 << 2,
	BLKBOX_CAT_SYNC = 1 << 3,
	BLKBOX_CAT_QUEUE = 1 << 4,
	BLKBOX_CAT_REQUEUE = 1 << 5,
	BLKBOX_CAT_ISSUE = 1 << 6,
	BLKBOX_CAT_COMPLETE = 1 << 7,
	BLKBOX_CAT_FS = 1 << 8,
	BLKBOX_CAT_PC = 1 << 9,
	BLKBOX_CAT_NOTIFY = 1 << 10,
	BLKBOX_CAT_AHEAD = 1 << 11,
	BLKBOX_CAT_META = 1 << 12,
	BLKBOX_CAT_DISCARD = 1 << 13,
	BLKBOX_CAT_DRV_DATA = 1 << 14,
	BLKBOX_CAT_FUA = 1 << 15,
	BLKBOX_CAT_ZONE_APPEND = 1 << 16,
	BLKBOX_CAT_ZONE_RESET = 1 << 17,
	BLKBOX_CAT_ZONE_RESET_ALL = 1 << 18,
	BLKBOX_CAT_ZONE_FINISH = 1 << 19,
	BLKBOX_CAT_ZONE_OPEN = 1 << 20,
	BLKBOX_CAT_ZONE_CLOSE = 1 << 21,
	BLKBOX_CAT_WRITE_ZEROES = 1 << 22,
};

/** An event. Plain values in host byte order; only @pdu is borrowed. */
struct blkbox_event {
	uint64_t time_ns;    /* CLOCK_MONOTONIC of the recorded machine */
	uint64_t sector;     /* 512-byte sectors, from the start of the whole disk; notes: 0 */
	uint64_t cgroup_id;  /* 0 if the event carries none */
	uint32_t bytes;	     /* of data; notes: 0 */
	uint32_t categories; /* enum blkbox_category */
	uint32_t pid;	     /* thread id, initial pid namespace; 0 = idle or unknown */
	uint32_t device;     /* the traced device: major << 20 | minor */
	uint32_t cpu;	     /* that logged it */
	uint32_t sequence;   /* per CPU and trace; notes: 0 */
	uint16_t action;     /* enum blkbox_action, or enum blkbox_note for notes */
	int16_t error;	     /* negative errno; 0 = none; notes: 0 */
	uint16_t pdu_bytes;  /* payload, without the cgroup id */
	uint8_t protocol;    /* 1 or 2 */
	bool swapped;	     /* recorded in the other byte order: native-endian payload is too */
	const uint8_t *pdu;  /* borrowed: valid until the next call on what gave the event */
};

static inline bool blkbox_event_is_note(const struct blkbox_event *event)
{
	return event->categories & BLKBOX_CAT_NOTIFY;
}

/** True for a completion; the report of a zone append's final sector (same code) is none. */
static inline bool blkbox_event_is_completion(const struct blkbox_event *event)
{
	return event->action == BLKBOX_COMPLETE && !blkbox_event_is_note(event) &&
	       (event->categories & BLKBOX_CAT_COMPLETE);
}

static inline uint32_t blkbox_device_major(uint32_t device)
{
	return device >> 20;
}

static inline uint32_t blkbox_device_minor(uint32_t device)
{
	return device & 0xfffff;
}

#ifdef __cplusplus
}
#endif

#endif
