/* SPDX-License-Identifier: MIT */
/**
 * @file
 * The log on disk: a header, then blocks. Described for readers in blkbox-log(5); keep both in
 * step.
 *
 * All fields are little endian and naturally aligned. What the kernel wrote (the payload of DATA
 * blocks) stays in the byte order of the recording machine.
 */
#ifndef BLKBOX_FORMAT_LOG_FORMAT_H
#define BLKBOX_FORMAT_LOG_FORMAT_H

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

/* Like PNG's: a byte over 127 and a line end show a transfer in text mode. */
#define LOG_MAGIC "\211BLKBOX\n"

enum {
	LOG_MAGIC_BYTES = 8,
	LOG_VERSION = 1,
	LOG_BLOCK_SYNC = 0xB10CB10C, /* first bytes of every block head, to find one again */
	LOG_BLOCK_MAX = 1 << 20,     /* bytes of a block's payload, raw and stored */
	LOG_DATA_TARGET = 256 << 10, /* raw bytes that the writer gathers for a DATA block */
	LOG_NAME_BYTES = 64,
	LOG_CHANNELS_MAX = (LOG_BLOCK_MAX - 32) / 32, /* END, with all totals, is one block */
	LOG_DEVICES_MAX = LOG_CHANNELS_MAX,	      /* each has a channel */
	LOG_NO_CHANNEL = 0xffffffff,
	LOG_NO_CPU = 0xffffffff,
};

/** First bytes of the file. */
struct log_header {
	uint8_t magic[LOG_MAGIC_BYTES];
	uint16_t version;	  /* LOG_VERSION; a reader refuses a higher one */
	uint16_t header_bytes;	  /* blocks start here: 64 in version 1 */
	uint32_t must_understand; /* feature bits: a reader refuses a bit that it does not know */
	uint64_t start_mono_ns;	  /* CLOCK_MONOTONIC when the log was opened */
	uint64_t start_real_ns;	  /* CLOCK_REALTIME at the same moment */
	uint8_t boot_id[16];	  /* of the recording machine: logs of one boot share their clock */
	uint8_t reserved[8];
	uint64_t check; /* XXH3-64 of the bytes before */
};

enum log_block_type {
	LOG_META = 1,	  /* "key=value" strings, each ended by a NUL */
	LOG_DEVICES = 2,  /* struct log_device, one or more */
	LOG_CHANNELS = 3, /* struct log_channel, one or more */
	LOG_DATA = 4,	  /* verbatim kernel bytes of one channel */
	LOG_DROPS = 5,	  /* struct log_drops, one or more */
	LOG_NAMES = 6,	  /* struct log_name, one or more */
	LOG_CLOCK = 7,	  /* struct log_clock, one or more */
	LOG_END = 8,	  /* struct log_end, then struct log_total: one for each channel */
};

/* META keys of the end: CLOCK_MONOTONIC when the first device was, and the last one was not,
 * traced. */
#define LOG_META_RECORDED_FROM "recorded_from_ns"
#define LOG_META_RECORDED_TO   "recorded_to_ns"
/* META key: numbers of the recorder's threads that write the log, with commas between them. */
#define LOG_META_OWN_THREADS "own_threads"

enum log_block_flags {
	LOG_ZSTD = 1 << 0,	      /* DATA: the payload is one zstd frame */
	LOG_MUST_UNDERSTAND = 1 << 1, /* a reader that does not know the type or a flag gives up */
	LOG_PACKED = 1 << 2,	      /* with LOG_ZSTD: in the frame are columns, see log_pack.h */
};

/** In front of every block's payload. */
struct log_block_head {
	uint32_t sync;
	uint16_t type;
	uint16_t flags;
	uint32_t channel;	  /* of DATA; else LOG_NO_CHANNEL */
	uint32_t raw_bytes;	  /* payload after decompression */
	uint32_t stored_bytes;	  /* payload in the file */
	uint32_t head_check;	  /* low half of XXH3-64 of this head with head_check = 0 */
	uint64_t payload_check;	  /* XXH3-64 of the stored payload */
	uint64_t channel_offset;  /* DATA: raw bytes of this channel in the blocks before; else 0 */
	uint64_t written_mono_ns; /* when the block was made */
};

enum log_device_flags {
	LOG_DEVICE_PARTITION = 1 << 0,
};

/** A traced device. Blocks refer to it by @index. */
struct log_device {
	uint32_t index;
	uint32_t device;   /* kernel dev_t: major << 20 | minor; identity of the device */
	uint32_t flags;	   /* enum log_device_flags */
	uint32_t protocol; /* 1 or 2 */
	uint32_t disk;	   /* dev_t of the whole disk */
	uint32_t reserved;
	uint64_t start_sector; /* of a partition on its disk */
	uint64_t sectors;
	char name[LOG_NAME_BYTES]; /* as the kernel returned it */
};

/** What a channel's bytes are. */
enum log_channel_kind {
	LOG_RELAY_RECORDS = 1, /* a plain run of records */
	LOG_FTRACE_PAGES = 2,  /* whole ring-buffer pages */
};

/** A kernel buffer that was read: one for each device and CPU (ftrace: for each CPU). */
struct log_channel {
	uint32_t channel;      /* numbered from 0, without holes */
	uint32_t device_index; /* ftrace: LOG_NO_CHANNEL */
	uint32_t cpu;
	uint32_t kind; /* enum log_channel_kind */
};

enum log_drops_flags {
	/*
	 * Counted while the trace was being stopped: STOP itself adds one for each CPU with a full
	 * buffer though nothing was lost.
	 */
	LOG_DROPS_AT_STOP = 1 << 0,
};

/** Events that the kernel could not hand out, in a window of time. */
struct log_drops {
	uint32_t device_index; /* LOG_NO_CHANNEL where one buffer serves all devices */
	uint32_t cpu;	       /* LOG_NO_CPU where the kernel tells only the device */
	uint64_t from_ns;      /* CLOCK_MONOTONIC */
	uint64_t to_ns;
	uint64_t count;
	uint32_t flags; /* enum log_drops_flags */
	uint32_t reserved;
};

/** A process name, seen at a time; for pids that no process note names. */
struct log_name {
	uint64_t time_ns; /* CLOCK_MONOTONIC */
	uint32_t pid;
	uint32_t reserved;
	char comm[16]; /* NUL padded; a name of 16 bytes has no NUL */
};

/** The two clocks at one moment. */
struct log_clock {
	uint64_t mono_ns;
	uint64_t real_ns;
	uint64_t uncertainty_ns; /* between the two readings of the monotonic clock around it */
};

/** How a recording ended. */
enum log_end_reason {
	LOG_END_UNKNOWN = 0,
	LOG_END_COMMAND = 1, /* the traced command exited */
	LOG_END_TIME = 2,    /* -w */
	LOG_END_SIGNAL = 3,  /* the user ended it */
	LOG_END_DEVICE = 4,  /* every traced device disappeared */
	LOG_END_FAILURE = 5, /* output or kernel failed */
	LOG_END_FOREIGN = 6, /* somebody else tore the trace down or took the events */
	LOG_END_CALLER = 7,  /* the program that uses the library */
	LOG_END_KILLED = 8,  /* the recorder was killed; somebody finished the log in its place */
};

/** Totals; the writer's own count, for the reader to check. */
struct log_end {
	uint64_t end_mono_ns;
	uint64_t end_real_ns;
	uint64_t blocks; /* in front of this one */
	uint32_t reason; /* enum log_end_reason */
	uint32_t totals; /* struct log_total that follow */
};

/** What one channel gave. */
struct log_total {
	uint32_t channel;
	uint32_t reserved;
	uint64_t bytes;	 /* raw */
	uint64_t events; /* records without notes; LOG_FTRACE_PAGES: 0 */
	uint64_t notes;
};

static_assert(sizeof(struct log_header) == 64, "on disk");
static_assert(offsetof(struct log_header, check) == 56, "on disk");
static_assert(sizeof(struct log_block_head) == 48, "on disk");
static_assert(offsetof(struct log_block_head, payload_check) == 24, "on disk");
static_assert(sizeof(struct log_device) == 104, "on disk");
static_assert(sizeof(struct log_channel) == 16, "on disk");
static_assert(sizeof(struct log_drops) == 40, "on disk");
static_assert(sizeof(struct log_name) == 32, "on disk");
static_assert(sizeof(struct log_clock) == 24, "on disk");
static_assert(sizeof(struct log_end) == 32, "on disk");
static_assert(sizeof(struct log_total) == 32, "on disk");
static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
	      "the log code is not ported to big endian");

#endif
