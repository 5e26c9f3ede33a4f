/* SPDX-License-Identifier: MIT */
#include "truth.h"

#include <criterion/criterion.h>

enum {
	WORKER = 100,
	KWORKER = 200,
	JOURNAL = 300
};

static struct observation observations[2];
static struct truth *truth;

static void init(void)
{
	observations[0].from_ns = 1000;
	observations[0].to_ns = 1999;
	observations[1].from_ns = 3000;
	observations[1].to_ns = 3999;
	observe_task(&observations[0], WORKER, "writer");
	cr_assert_eq(truth_create(observations, 2, &truth), 0);
}

static void deinit(void)
{
	truth_destroy(truth);
}

TestSuite(truth, .init = init, .fini = deinit);

static void add(uint64_t time_ns, uint16_t action, uint32_t categories, uint32_t pid,
		uint64_t sector, uint32_t bytes, const char *name)
{
	struct blkbox_event event = {
		.time_ns = time_ns,
		.action = action,
		.categories = categories,
		.pid = pid,
		.sector = sector,
		.bytes = bytes,
	};

	cr_assert_eq(truth_add(truth, &event, name), 0);
}

static void queue(uint64_t time_ns, uint32_t categories, uint32_t pid, uint64_t sector,
		  uint32_t bytes, const char *name)
{
	add(time_ns, BLKBOX_QUEUE, categories | BLKBOX_CAT_QUEUE, pid, sector, bytes, name);
}

static void complete(uint64_t time_ns, uint32_t categories, uint64_t sector, uint32_t bytes)
{
	add(time_ns, BLKBOX_COMPLETE, categories | BLKBOX_CAT_COMPLETE, 0, sector, bytes, NULL);
}

static const struct truth_owner *owner(size_t window, uint32_t pid)
{
	static const struct truth_owner nobody;

	for (size_t i = 0; i < truth->windows[window].n_owners; i++) {
		if (truth->windows[window].owners[i].pid == pid)
			return &truth->windows[window].owners[i];
	}
	cr_assert(false, "nobody has pid %u", pid);
	return &nobody;
}

Test(truth, what_completes_is_counted_for_who_queued_it)
{
	queue(1100, BLKBOX_CAT_WRITE, WORKER, 0, 4096, "blkbox-worker");
	queue(1110, BLKBOX_CAT_WRITE, KWORKER, 8, 8192, "kworker/u4:1");
	/* Merged into one request. */
	complete(1200, BLKBOX_CAT_WRITE, 0, 12288);
	cr_expect_eq(owner(0, WORKER)->bytes.completed_write, 4096);
	cr_expect_str_eq(owner(0, WORKER)->role, "writer");
	cr_expect_eq(owner(0, KWORKER)->bytes.completed_write, 8192);
	cr_expect_str_eq(owner(0, KWORKER)->role, "kernel");
	cr_expect_eq(truth->windows[0].total.queued_write, 12288);
	cr_expect_eq(truth->windows[0].total.completed_write, 12288);
	cr_expect_eq(truth->n_pending, 0);
}

Test(truth, one_that_completes_in_parts_counts_once)
{
	queue(1100, BLKBOX_CAT_READ, WORKER, 100, 8192, NULL);
	complete(1200, BLKBOX_CAT_READ, 100, 4096);
	cr_expect_eq(truth->windows[0].total.completed_read, 4096);
	complete(1201, BLKBOX_CAT_READ, 108, 4096);
	complete(1202, BLKBOX_CAT_READ, 108, 4096);
	cr_expect_eq(truth->windows[0].total.completed_read, 8192);
}

Test(truth, a_read_does_not_complete_a_write)
{
	queue(1100, BLKBOX_CAT_WRITE, WORKER, 0, 4096, NULL);
	complete(1200, BLKBOX_CAT_READ, 0, 4096);
	cr_expect_eq(truth->windows[0].total.completed_write, 0);
	cr_expect_eq(truth->windows[0].total.completed_read, 0);
}

Test(truth, windows_are_told_apart_by_the_time_of_queueing)
{
	queue(999, BLKBOX_CAT_WRITE, WORKER, 0, 4096, NULL);
	queue(1999, BLKBOX_CAT_WRITE, WORKER, 8, 4096, NULL);
	queue(2500, BLKBOX_CAT_WRITE, WORKER, 16, 4096, NULL);
	queue(3000, BLKBOX_CAT_WRITE, WORKER, 24, 4096, NULL);
	complete(3500, BLKBOX_CAT_WRITE, 0, 4 * 4096);
	cr_expect_eq(truth->windows[0].total.queued_write, 4096);
	cr_expect_eq(truth->windows[0].total.completed_write, 4096);
	cr_expect_eq(truth->windows[1].total.completed_write, 4096);
	/* There, the task has no role: it is another experiment's. */
	cr_expect_str_eq(owner(1, WORKER)->role, "other");
}

Test(truth, kinds_of_bytes)
{
	queue(1100, BLKBOX_CAT_READ | BLKBOX_CAT_AHEAD, WORKER, 0, 4096, NULL);
	queue(1101, BLKBOX_CAT_WRITE | BLKBOX_CAT_META, JOURNAL, 100, 8192, "jbd2/loop0-8");
	queue(1102, BLKBOX_CAT_WRITE | BLKBOX_CAT_FLUSH, JOURNAL, 0, 0, "jbd2/loop0-8");
	queue(1103, BLKBOX_CAT_WRITE | BLKBOX_CAT_DISCARD, WORKER, 200, 65536, NULL);
	/* That a discard is done says nothing of bytes written. */
	complete(1200, BLKBOX_CAT_WRITE | BLKBOX_CAT_DISCARD, 200, 65536);
	cr_expect_eq(truth->windows[0].total.queued_readahead, 4096);
	cr_expect_eq(truth->windows[0].total.queued_metadata, 8192);
	cr_expect_eq(truth->windows[0].total.flushes, 1);
	cr_expect_eq(truth->windows[0].total.queued_discard, 65536);
	cr_expect_eq(truth->windows[0].total.queued_write, 8192);
	cr_expect_eq(truth->windows[0].total.completed_write, 0);
	cr_expect_str_eq(owner(0, JOURNAL)->role, "journal");
}

Test(truth, failed_requests_and_notes_do_not_count)
{
	struct blkbox_event failed = {
		.time_ns = 1200,
		.action = BLKBOX_COMPLETE,
		.categories = BLKBOX_CAT_COMPLETE | BLKBOX_CAT_WRITE,
		.bytes = 4096,
		.error = -EIO,
	};

	queue(1100, BLKBOX_CAT_WRITE, WORKER, 0, 4096, NULL);
	cr_assert_eq(truth_add(truth, &failed, NULL), 0);
	add(1300, BLKBOX_QUEUE, BLKBOX_CAT_NOTIFY, WORKER, 0, 4096, NULL);
	cr_expect_eq(truth->windows[0].total.completed_write, 0);
	cr_expect_eq(truth->windows[0].total.queued_write, 4096);
}
