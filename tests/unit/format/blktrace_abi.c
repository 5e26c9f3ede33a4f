/* SPDX-License-Identifier: MIT */
/* Our declarations of the kernel's ABI against the installed header, which knows v1. */
#include "blktrace.h"

#include <criterion/criterion.h>
#include <linux/blktrace_api.h>
#include <linux/fs.h>

#define expect_field(ours, our_field, theirs, their_field)                                        \
	do {                                                                                      \
		cr_assert_eq(offsetof(ours, our_field), offsetof(theirs, their_field));           \
		cr_assert_eq(sizeof(((ours *)0)->our_field), sizeof(((theirs *)0)->their_field)); \
	} while (0)

Test(blktrace_abi, record)
{
	cr_assert_eq(sizeof(struct bt_record1), sizeof(struct blk_io_trace));
	expect_field(struct bt_record1, magic, struct blk_io_trace, magic);
	expect_field(struct bt_record1, sequence, struct blk_io_trace, sequence);
	expect_field(struct bt_record1, time_ns, struct blk_io_trace, time);
	expect_field(struct bt_record1, sector, struct blk_io_trace, sector);
	expect_field(struct bt_record1, bytes, struct blk_io_trace, bytes);
	expect_field(struct bt_record1, action, struct blk_io_trace, action);
	expect_field(struct bt_record1, pid, struct blk_io_trace, pid);
	expect_field(struct bt_record1, device, struct blk_io_trace, device);
	expect_field(struct bt_record1, cpu, struct blk_io_trace, cpu);
	expect_field(struct bt_record1, error, struct blk_io_trace, error);
	expect_field(struct bt_record1, pdu_len, struct blk_io_trace, pdu_len);
	cr_assert_eq(BT_MAGIC, BLK_IO_TRACE_MAGIC);
	cr_assert_eq((int)BT_VERSION_1, BLK_IO_TRACE_VERSION);
}

Test(blktrace_abi, remap)
{
	cr_assert_eq(sizeof(struct bt_remap), sizeof(struct blk_io_trace_remap));
	expect_field(struct bt_remap, device_from, struct blk_io_trace_remap, device_from);
	expect_field(struct bt_remap, device_to, struct blk_io_trace_remap, device_to);
	expect_field(struct bt_remap, sector_from, struct blk_io_trace_remap, sector_from);
}

Test(blktrace_abi, setup)
{
	cr_assert_eq(sizeof(struct bt_setup1), sizeof(struct blk_user_trace_setup));
	expect_field(struct bt_setup1, name, struct blk_user_trace_setup, name);
	expect_field(struct bt_setup1, act_mask, struct blk_user_trace_setup, act_mask);
	expect_field(struct bt_setup1, buf_size, struct blk_user_trace_setup, buf_size);
	expect_field(struct bt_setup1, buf_nr, struct blk_user_trace_setup, buf_nr);
	expect_field(struct bt_setup1, start_lba, struct blk_user_trace_setup, start_lba);
	expect_field(struct bt_setup1, end_lba, struct blk_user_trace_setup, end_lba);
	expect_field(struct bt_setup1, pid, struct blk_user_trace_setup, pid);
	cr_assert_eq((int)BT_NAME1_BYTES, BLKTRACE_BDEV_SIZE);
	cr_assert_eq(BT_IOC_SETUP, BLKTRACESETUP);
	cr_assert_eq(BT_IOC_START, BLKTRACESTART);
	cr_assert_eq(BT_IOC_STOP, BLKTRACESTOP);
	cr_assert_eq(BT_IOC_TEARDOWN, BLKTRACETEARDOWN);
}

Test(blktrace_abi, categories)
{
	cr_assert_eq(BT_CATEGORY_SHIFT, BLK_TC_SHIFT);
	cr_assert_eq((int)BT_READ, (int)BLK_TC_READ);
	cr_assert_eq((int)BT_WRITE, (int)BLK_TC_WRITE);
	cr_assert_eq((int)BT_FLUSH, (int)BLK_TC_FLUSH);
	cr_assert_eq((int)BT_SYNC, (int)BLK_TC_SYNC);
	cr_assert_eq((int)BT_QUEUE, (int)BLK_TC_QUEUE);
	cr_assert_eq((int)BT_REQUEUE, (int)BLK_TC_REQUEUE);
	cr_assert_eq((int)BT_ISSUE, (int)BLK_TC_ISSUE);
	cr_assert_eq((int)BT_COMPLETE, (int)BLK_TC_COMPLETE);
	cr_assert_eq((int)BT_FS, (int)BLK_TC_FS);
	cr_assert_eq((int)BT_PC, (int)BLK_TC_PC);
	cr_assert_eq((int)BT_NOTIFY, (int)BLK_TC_NOTIFY);
	cr_assert_eq((int)BT_AHEAD, (int)BLK_TC_AHEAD);
	cr_assert_eq((int)BT_META, (int)BLK_TC_META);
	cr_assert_eq((int)BT_DISCARD, (int)BLK_TC_DISCARD);
	cr_assert_eq((int)BT_DRV_DATA, (int)BLK_TC_DRV_DATA);
	cr_assert_eq((int)BT_FUA, (int)BLK_TC_FUA);
}

Test(blktrace_abi, actions)
{
	cr_assert_eq((int)BT_ACT_QUEUE, (int)__BLK_TA_QUEUE);
	cr_assert_eq((int)BT_ACT_BACKMERGE, (int)__BLK_TA_BACKMERGE);
	cr_assert_eq((int)BT_ACT_FRONTMERGE, (int)__BLK_TA_FRONTMERGE);
	cr_assert_eq((int)BT_ACT_GETRQ, (int)__BLK_TA_GETRQ);
	cr_assert_eq((int)BT_ACT_SLEEPRQ, (int)__BLK_TA_SLEEPRQ);
	cr_assert_eq((int)BT_ACT_REQUEUE, (int)__BLK_TA_REQUEUE);
	cr_assert_eq((int)BT_ACT_ISSUE, (int)__BLK_TA_ISSUE);
	cr_assert_eq((int)BT_ACT_COMPLETE, (int)__BLK_TA_COMPLETE);
	cr_assert_eq((int)BT_ACT_PLUG, (int)__BLK_TA_PLUG);
	cr_assert_eq((int)BT_ACT_UNPLUG, (int)__BLK_TA_UNPLUG_IO);
	cr_assert_eq((int)BT_ACT_UNPLUG_TIMER, (int)__BLK_TA_UNPLUG_TIMER);
	cr_assert_eq((int)BT_ACT_INSERT, (int)__BLK_TA_INSERT);
	cr_assert_eq((int)BT_ACT_SPLIT, (int)__BLK_TA_SPLIT);
	cr_assert_eq((int)BT_ACT_BOUNCE, (int)__BLK_TA_BOUNCE);
	cr_assert_eq((int)BT_ACT_REMAP, (int)__BLK_TA_REMAP);
	cr_assert_eq((int)BT_ACT_ABORT, (int)__BLK_TA_ABORT);
	cr_assert_eq((int)BT_ACT_DRV_DATA, (int)__BLK_TA_DRV_DATA);
	cr_assert_eq((int)BT_CGROUP, (int)__BLK_TA_CGROUP);
	cr_assert_eq((int)BT_NOTE_PROCESS, (int)__BLK_TN_PROCESS);
	cr_assert_eq((int)BT_NOTE_TIMESTAMP, (int)__BLK_TN_TIMESTAMP);
	cr_assert_eq((int)BT_NOTE_MESSAGE, (int)__BLK_TN_MESSAGE);
}
