/* SPDX-License-Identifier: MIT */
/**
 * @file
 * The kernel's block tracing ABI, protocol v1 and v2 (Linux 6.19), as blkbox declares it.
 *
 * Own declarations, because installed headers know only v1. All fields are in the byte order of the
 * machine that recorded; the magic tells which one that was.
 */
#ifndef BLKBOX_UAPI_BLKTRACE_H
#define BLKBOX_UAPI_BLKTRACE_H

#include <assert.h>
#include <linux/ioctl.h>
#include <stddef.h>
#include <stdint.h>

/* Records: magic = BT_MAGIC | version. */
#define BT_MAGIC      0x65617400u
#define BT_MAGIC_MASK 0xffffff00u
enum {
	BT_VERSION_1 = 7,
	BT_VERSION_2 = 8,
};

/** Categories: bit n of an act_mask, bit BT_CATEGORY_SHIFT + n of an action. */
#define BT_CATEGORY_SHIFT 16
enum bt_category {
	BT_READ = 1 << 0,
	BT_WRITE = 1 << 1,
	BT_FLUSH = 1 << 2, /* flush operation, or preflush flag */
	BT_SYNC = 1 << 3,
	BT_QUEUE = 1 << 4, /* queue, merge, getrq, plug, unplug, insert, remap */
	BT_REQUEUE = 1 << 5,
	BT_ISSUE = 1 << 6,
	BT_COMPLETE = 1 << 7,
	BT_FS = 1 << 8,
	BT_PC = 1 << 9, /* passthrough */
	BT_NOTIFY = 1 << 10,
	BT_AHEAD = 1 << 11,
	BT_META = 1 << 12,
	BT_DISCARD = 1 << 13,
	BT_DRV_DATA = 1 << 14,
	BT_FUA = 1 << 15,
	/* v2 only */
	BT_ZONE_APPEND = 1 << 16,
	BT_ZONE_RESET = 1 << 17,
	BT_ZONE_RESET_ALL = 1 << 18,
	BT_ZONE_FINISH = 1 << 19,
	BT_ZONE_OPEN = 1 << 20,
	BT_ZONE_CLOSE = 1 << 21,
	BT_WRITE_ZEROES = 1 << 22,
};

/** Action codes: the low 16 bits of an action, without BT_CGROUP. */
enum bt_action {
	BT_ACT_QUEUE = 1,
	BT_ACT_BACKMERGE = 2,
	BT_ACT_FRONTMERGE = 3,
	BT_ACT_GETRQ = 4,
	BT_ACT_SLEEPRQ = 5,
	BT_ACT_REQUEUE = 6,
	BT_ACT_ISSUE = 7,
	/* Without BT_COMPLETE in the categories (v2): the final sector of a zone append. */
	BT_ACT_COMPLETE = 8,
	BT_ACT_PLUG = 9,
	BT_ACT_UNPLUG = 10,
	BT_ACT_UNPLUG_TIMER = 11,
	BT_ACT_INSERT = 12,
	BT_ACT_SPLIT = 13,
	BT_ACT_BOUNCE = 14,
	BT_ACT_REMAP = 15,
	BT_ACT_ABORT = 16,
	BT_ACT_DRV_DATA = 17,
	/* v2 only */
	BT_ACT_ZONE_PLUG = 18,
	BT_ACT_ZONE_UNPLUG = 19,
};

/** Notify codes: the low 16 bits of an action with BT_NOTIFY, without BT_CGROUP. */
enum bt_note {
	BT_NOTE_PROCESS = 0,
	BT_NOTE_TIMESTAMP = 1,
	BT_NOTE_MESSAGE = 2,
};

/** Flag in an action: the payload starts with a 64-bit cgroup id. */
#define BT_CGROUP 0x100u

/** Protocol v1 record; `pdu_len` bytes follow it, with no padding. */
struct bt_record1 {
	uint32_t magic;
	uint32_t sequence;
	uint64_t time_ns; /* CLOCK_MONOTONIC */
	uint64_t sector;  /* 512 bytes, on the whole disk */
	uint32_t bytes;
	uint32_t action;
	uint32_t pid;
	uint32_t device; /* major << 20 | minor */
	uint32_t cpu;
	uint16_t error; /* negative errno */
	uint16_t pdu_len;
};

/** Protocol v2 record; `pdu_len` bytes follow it, with no padding. */
struct bt_record2 {
	uint32_t magic;
	uint32_t sequence;
	uint64_t time_ns;
	uint64_t sector;
	uint32_t bytes;
	uint32_t pid;
	uint64_t action;
	uint32_t device;
	uint32_t cpu;
	uint16_t error;
	uint16_t pdu_len;
	uint8_t pad[12]; /* not initialised by the kernel: never compare */
};

/** Payload of a remap; big endian on every machine. */
struct bt_remap {
	uint32_t device_from;
	uint32_t device_to;
	uint64_t sector_from;
};

/** Payload of a timestamp note. */
struct bt_timestamp {
	uint32_t sec; /* CLOCK_REALTIME */
	uint32_t nsec;
};

enum {
	BT_COMM_BYTES = 16,   /* payload of a process note */
	BT_MESSAGE_MAX = 127, /* payload of a message, without its cgroup id */
	BT_NAME1_BYTES = 32,
	BT_NAME2_BYTES = 64,
	BT_DEFAULT_MASK = 0xffff, /* what the kernel makes of mask 0, in v2 too */
};

/** Argument of BT_IOC_SETUP. */
struct bt_setup1 {
	char name[BT_NAME1_BYTES]; /* out */
	uint16_t act_mask;
	uint8_t pad0[2];
	uint32_t buf_size; /* bytes of a sub-buffer */
	uint32_t buf_nr;   /* sub-buffers for each CPU */
	uint8_t pad1[4];
	uint64_t start_lba;
	uint64_t end_lba;
	uint32_t pid;
	uint8_t pad2[4];
};

/** Argument of BT_IOC_SETUP2. */
struct bt_setup2 {
	char name[BT_NAME2_BYTES]; /* out */
	uint64_t act_mask;
	uint32_t buf_size;
	uint32_t buf_nr;
	uint64_t start_lba;
	uint64_t end_lba;
	uint32_t pid;
	uint32_t flags; /* must be 0 */
	uint64_t reserved[11];
};

#define BT_IOC_SETUP	_IOWR(0x12, 115, struct bt_setup1)
#define BT_IOC_START	_IO(0x12, 116)
#define BT_IOC_STOP	_IO(0x12, 117)
#define BT_IOC_TEARDOWN _IO(0x12, 118)
#define BT_IOC_SETUP2	_IOWR(0x12, 142, struct bt_setup2)

static_assert(sizeof(struct bt_record1) == 48, "v1 record");
static_assert(offsetof(struct bt_record1, sequence) == 4, "v1 record");
static_assert(offsetof(struct bt_record1, time_ns) == 8, "v1 record");
static_assert(offsetof(struct bt_record1, sector) == 16, "v1 record");
static_assert(offsetof(struct bt_record1, bytes) == 24, "v1 record");
static_assert(offsetof(struct bt_record1, action) == 28, "v1 record");
static_assert(offsetof(struct bt_record1, pid) == 32, "v1 record");
static_assert(offsetof(struct bt_record1, device) == 36, "v1 record");
static_assert(offsetof(struct bt_record1, cpu) == 40, "v1 record");
static_assert(offsetof(struct bt_record1, error) == 44, "v1 record");
static_assert(offsetof(struct bt_record1, pdu_len) == 46, "v1 record");

static_assert(sizeof(struct bt_record2) == 64, "v2 record");
static_assert(offsetof(struct bt_record2, sequence) == 4, "v2 record");
static_assert(offsetof(struct bt_record2, time_ns) == 8, "v2 record");
static_assert(offsetof(struct bt_record2, sector) == 16, "v2 record");
static_assert(offsetof(struct bt_record2, bytes) == 24, "v2 record");
static_assert(offsetof(struct bt_record2, pid) == 28, "v2 record");
static_assert(offsetof(struct bt_record2, action) == 32, "v2 record");
static_assert(offsetof(struct bt_record2, device) == 40, "v2 record");
static_assert(offsetof(struct bt_record2, cpu) == 44, "v2 record");
static_assert(offsetof(struct bt_record2, error) == 48, "v2 record");
static_assert(offsetof(struct bt_record2, pdu_len) == 50, "v2 record");
static_assert(offsetof(struct bt_record2, pad) == 52, "v2 record");

static_assert(sizeof(struct bt_remap) == 16, "remap payload");
static_assert(offsetof(struct bt_remap, device_to) == 4, "remap payload");
static_assert(offsetof(struct bt_remap, sector_from) == 8, "remap payload");
static_assert(sizeof(struct bt_timestamp) == 8, "timestamp payload");

static_assert(sizeof(struct bt_setup1) == 72, "v1 set-up");
static_assert(offsetof(struct bt_setup1, act_mask) == 32, "v1 set-up");
static_assert(offsetof(struct bt_setup1, buf_size) == 36, "v1 set-up");
static_assert(offsetof(struct bt_setup1, buf_nr) == 40, "v1 set-up");
static_assert(offsetof(struct bt_setup1, start_lba) == 48, "v1 set-up");
static_assert(offsetof(struct bt_setup1, end_lba) == 56, "v1 set-up");
static_assert(offsetof(struct bt_setup1, pid) == 64, "v1 set-up");

static_assert(sizeof(struct bt_setup2) == 192, "v2 set-up");
static_assert(offsetof(struct bt_setup2, act_mask) == 64, "v2 set-up");
static_assert(offsetof(struct bt_setup2, buf_size) == 72, "v2 set-up");
static_assert(offsetof(struct bt_setup2, buf_nr) == 76, "v2 set-up");
static_assert(offsetof(struct bt_setup2, start_lba) == 80, "v2 set-up");
static_assert(offsetof(struct bt_setup2, end_lba) == 88, "v2 set-up");
static_assert(offsetof(struct bt_setup2, pid) == 96, "v2 set-up");
static_assert(offsetof(struct bt_setup2, flags) == 100, "v2 set-up");
static_assert(offsetof(struct bt_setup2, reserved) == 104, "v2 set-up");

static_assert(BT_IOC_SETUP == 0xC0481273u, "set-up ioctl");
static_assert(BT_IOC_SETUP2 == 0xC0C0128Eu, "set-up ioctl");
static_assert(BT_IOC_START == 0x1274u && BT_IOC_STOP == 0x1275u && BT_IOC_TEARDOWN == 0x1276u,
	      "control ioctls");

#endif
