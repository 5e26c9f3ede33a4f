/* SPDX-License-Identifier: MIT */
/* A whole recording, threads and all, on a made-up kernel. */
#include "session.h"

#include "fake_kernel.h"
#include "memory_sink.h"
#include "state.h"

#include <criterion/criterion.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
	RECORD_BYTES = 48,
	SDA = 8 << 20,
	SDB = 8 << 20 | 16
};

static char sda[] = "sda", sdb[] = "sdb";
static struct fake_tree tree;
static struct fake_kernel kernel;
static struct memory_sink sink;
static struct session *session;
static struct session_report report;
static struct why why;

static void init(void)
{
	char path[64];

	fake_tree_init(&tree);
	fake_kernel_init(&kernel, &tree);
	fake_tree_disk(&tree, "sda", 8, 0, 1 << 20);
	fake_tree_disk(&tree, "sdb", 8, 16, 1 << 20);
	snprintf(path, sizeof(path), "/proc/%d/stat", getpid());
	fake_tree_write(&tree, path,
			"1 (unit) S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 4711 0 0\n");
	memory_sink_init(&sink);
	session = NULL;
	why.text[0] = '\0';
}

static void deinit(void)
{
	session_destroy(session);
	memory_sink_deinit(&sink);
	fake_kernel_deinit(&kernel);
	fake_tree_deinit(&tree);
}

TestSuite(session, .init = init, .fini = deinit, .timeout = 60);

static int open_devices(char *const *devices, size_t n)
{
	struct session_options options = {
		.devices = devices,
		.n_devices = n,
		.source = SOURCE_RELAY,
		.root = &tree.root,
		.kernel = &kernel.ops,
	};

	return session_open(&options, &session, &why);
}

static void start(size_t n)
{
	char *devices[] = {sda, sdb};

	cr_assert_eq(open_devices(devices, n), 0, "%s", why.text);
	cr_assert_eq(session_start(session, &sink.ops, &why), 0, "%s", why.text);
}

static int stop(void)
{
	return session_stop(session, LOG_END_SIGNAL, &report, &why);
}

static void emit(const char *name, unsigned cpu, unsigned n, unsigned char fill)
{
	unsigned char *bytes = malloc((size_t)n * RECORD_BYTES);

	memset(bytes, fill, (size_t)n * RECORD_BYTES);
	fake_kernel_emit(&kernel, name, cpu, bytes, (size_t)n * RECORD_BYTES);
	free(bytes);
}

static void assert_channel(uint32_t device, uint32_t cpu, unsigned n, unsigned char fill)
{
	const struct memory_channel *channel = memory_sink_channel(&sink, device, cpu);

	cr_assert_not_null(channel);
	cr_assert_eq(channel->size, (size_t)n * RECORD_BYTES);
	for (size_t i = 0; i < channel->size; i++)
		cr_assert_eq(channel->bytes[i], fill);
}

static void assert_nothing_left(void)
{
	struct trace_state state;

	cr_assert_null(fake_kernel_trace(&kernel, "sda"));
	cr_assert_null(fake_kernel_trace(&kernel, "sdb"));
	cr_assert_eq(state_read(&tree.root, SDA, &state), -ENOENT);
	cr_assert_eq(state_read(&tree.root, SDB, &state), -ENOENT);
}

Test(session, every_byte_of_every_cpu_and_device_arrives)
{
	struct trace_state state;

	start(2);
	cr_assert_eq(state_read(&tree.root, SDA, &state), 0);
	cr_assert_eq(state.pid, getpid());
	emit("sda", 0, 100, 1);
	emit("sda", 1, 20000, 2); /* more than a block */
	emit("sdb", 1, 7, 3);
	cr_assert_eq(stop(), 0, "%s", why.text);
	assert_channel(0, 0, 100, 1);
	assert_channel(0, 1, 20000, 2);
	assert_channel(1, 0, 0, 0);
	assert_channel(1, 1, 7, 3);
	cr_assert(sink.finished && sink.has_meta);
	cr_assert_eq(sink.n_devices, 2);
	cr_assert_eq(sink.reason, LOG_END_SIGNAL);
	cr_assert(report.complete);
	cr_assert_eq(report.n_channels, 4);
	cr_assert_eq(report.devices[0].events, 20100);
	cr_assert_eq(report.devices[1].events, 7);
	assert_nothing_left();
}

Test(session, unfinished_sub_buffers_are_read_only_after_stop)
{
	struct progress progress;

	start(1);
	kernel.unfinished_bytes = 10 * RECORD_BYTES + 5;
	emit("sda", 0, 30, 9);
	sleep(2); /* two ticks: what is to be read by now has been read */
	session_progress(session, &progress);
	cr_assert_eq(progress.bytes, 30 * RECORD_BYTES - kernel.unfinished_bytes);
	cr_assert_eq(stop(), 0);
	assert_channel(0, 0, 30, 9);
}

Test(session, a_ring_smaller_than_the_data_loses_nothing)
{
	char *devices[] = {sda};
	struct session_options options = {
		.devices = devices,
		.n_devices = 1,
		.source = SOURCE_RELAY,
		.ring_bytes = 4096,
		.root = &tree.root,
		.kernel = &kernel.ops,
	};

	sink.data_delay_us = 2000;
	cr_assert_eq(session_open(&options, &session, &why), 0, "%s", why.text);
	cr_assert_eq(session_start(session, &sink.ops, &why), 0, "%s", why.text);
	emit("sda", 1, 5000, 4);
	cr_assert_eq(stop(), 0);
	assert_channel(0, 1, 5000, 4);
	cr_assert_gt(report.full_waits, 0);
}

Test(session, protocol_v2_where_the_kernel_has_it)
{
	kernel.v2 = true;
	start(1);
	cr_assert_eq(fake_kernel_trace(&kernel, "sda")->protocol, 2);
	cr_assert_eq(stop(), 0);
	cr_assert_eq(report.devices[0].device.protocol, 2);
}

Test(session, drops_are_dated_and_those_of_stop_told_apart)
{
	start(1);
	fake_kernel_set_dropped(&kernel, "sda", 5);
	sleep(1);
	fake_kernel_set_dropped(&kernel, "sda", 12);
	cr_assert_eq(stop(), 0);
	cr_assert_eq(report.dropped, 12);
	cr_assert_eq(report.devices[0].dropped, 12);
	cr_assert_not(report.complete);
	cr_assert_eq(report.n_windows, 2);
	cr_assert_eq(sink.n_drops, 2);
	cr_assert_eq(sink.drops[0].count, 5);
	cr_assert_eq(sink.drops[1].count, 7);
	cr_assert_lt(sink.drops[0].from_ns, sink.drops[0].to_ns);
	cr_assert_leq(sink.drops[0].to_ns, sink.drops[1].from_ns);
}

Test(session, a_busy_queue_is_left_alone)
{
	kernel.setup_errors = 1;
	kernel.setup_error = -EBUSY;
	char *devices[] = {sda};

	cr_assert_eq(open_devices(devices, 1), 0);
	cr_assert_eq(session_start(session, &sink.ops, &why), -EBUSY);
	cr_assert_neq(why.text[0], '\0');
	cr_assert_eq(kernel.teardowns, 0);
	assert_nothing_left();
}

Test(session, whose_trace_it_is_stays_known_when_another_is_refused)
{
	static const char first[] = "device=sda\nboot_id=0b\npid=12\nstart_ticks=99\n"
				    "protocol=1\nsource=relay\n";
	char *devices[] = {sda};
	struct trace_state state;

	fake_tree_write(&tree, "/proc/sys/kernel/random/boot_id", "0b\n");
	fake_tree_write(&tree, "/proc/12/stat",
			"12 (first) S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 99 0 0\n");
	fake_tree_write(&tree, "/run/blkbox/8:0", first);
	kernel.setup_errors = 1;
	kernel.setup_error = -EBUSY;
	cr_assert_eq(open_devices(devices, 1), 0);
	cr_assert_eq(session_start(session, &sink.ops, &why), -EBUSY);
	cr_assert_eq(state_read(&tree.root, SDA, &state), 0);
	cr_assert_eq(state.pid, 12);
}

Test(session, whose_trace_it_is_is_known_with_its_protocol)
{
	struct trace_state state;

	kernel.v2 = true;
	/* Of a process that is about to remove it: the kernel lets us in already. */
	fake_tree_write(&tree, "/proc/12/stat",
			"12 (first) S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 99 0 0\n");
	fake_tree_write(&tree, "/proc/sys/kernel/random/boot_id", "0b\n");
	fake_tree_write(
		&tree, "/run/blkbox/8:0",
		"device=sda\nboot_id=0b\npid=12\nstart_ticks=99\nprotocol=1\nsource=relay\n");
	start(1);
	cr_assert_eq(state_read(&tree.root, SDA, &state), 0);
	cr_assert_eq(state.pid, getpid());
	cr_assert_eq(state.protocol, 2);
	cr_assert_eq(stop(), 0);
	assert_nothing_left();
}

Test(session, memory_that_is_short_for_a_moment_is_asked_for_again)
{
	kernel.setup_errors = 1;
	kernel.setup_error = -EIO;
	start(1);
	cr_assert_eq(kernel.setups, 1);
	cr_assert_eq(stop(), 0);
}

Test(session, the_second_device_that_fails_takes_the_first_one_down)
{
	char *devices[] = {sda, sdb};

	kernel.open_fails = "sdb/dropped";
	kernel.open_error = -EACCES;
	cr_assert_eq(open_devices(devices, 2), 0);
	cr_assert_eq(session_start(session, &sink.ops, &why), -EACCES);
	cr_assert_eq(kernel.setups, 2);
	cr_assert_eq(kernel.teardowns, 2);
	assert_nothing_left();
}

Test(session, a_start_that_fails_is_undone)
{
	char *devices[] = {sda};

	kernel.start_error = -EINVAL;
	cr_assert_eq(open_devices(devices, 1), 0);
	cr_assert_eq(session_start(session, &sink.ops, &why), -EINVAL);
	assert_nothing_left();
}

Test(session, lockdown_is_named_and_undone)
{
	char *devices[] = {sda};

	kernel.locked_down = true;
	fake_tree_write(&tree, "/sys/kernel/security/lockdown",
			"none [integrity] confidentiality\n");
	cr_assert_eq(open_devices(devices, 1), 0);
	cr_assert_eq(session_start(session, &sink.ops, &why), -EPERM);
	cr_assert_not_null(strstr(why.text, "lockdown"), "%s", why.text);
	assert_nothing_left();
}

Test(session, a_trace_that_somebody_else_ended_is_noticed_and_theirs_is_spared)
{
	start(1);
	emit("sda", 0, 3, 1);
	sleep(1);
	fake_kernel_end_trace(&kernel, "sda");
	sleep(1);
	cr_assert_neq(session_event_fd(session), -1);
	cr_assert_eq(stop(), 0);
	cr_assert_eq(report.reason, LOG_END_FOREIGN);
	cr_assert_not(report.complete);
	cr_assert_geq(report.remarks->n, 1);
	cr_assert_eq(kernel.teardowns, 0);
	assert_channel(0, 0, 3, 1);
}

Test(session, a_device_that_is_removed_ends_its_trace_and_not_the_other_one)
{
	start(2);
	emit("sda", 0, 3, 1);
	sleep(1);
	fake_tree_remove(&tree, "/sys/dev/block/8:0");
	fake_kernel_end_trace(&kernel, "sda");
	sleep(1);
	emit("sdb", 1, 4, 2);
	cr_assert_eq(stop(), 0);
	cr_assert_eq(report.reason, LOG_END_SIGNAL);
	cr_assert_eq(report.remarks->n, 1);
	cr_assert_not_null(strstr(report.remarks->text[0].text, "sda was removed"));
	assert_channel(0, 0, 3, 1);
	assert_channel(1, 1, 4, 2);
	assert_nothing_left();
}

Test(session, the_only_device_that_is_removed_ends_it)
{
	struct pollfd end;

	start(1);
	emit("sda", 0, 3, 1);
	sleep(1);
	/* All that is finished has been read: only its poll tells that the file is dead. */
	fake_tree_remove(&tree, "/sys/dev/block/8:0");
	fake_kernel_end_trace(&kernel, "sda");
	end = (struct pollfd){.fd = session_event_fd(session), .events = POLLIN};
	cr_assert_eq(poll(&end, 1, 20000), 1, "it does not end");
	cr_assert_eq(stop(), 0);
	cr_assert_eq(report.reason, LOG_END_DEVICE);
	cr_assert_not(report.complete);
	assert_channel(0, 0, 3, 1);
}

Test(session, the_blk_tracer_started_meanwhile_is_noticed)
{
	start(1);
	fake_tree_write(&tree, FAKE_TRACEFS "/current_tracer", "blk\n");
	sleep(1);
	cr_assert_eq(stop(), 0);
	cr_assert_eq(report.reason, LOG_END_FOREIGN);
	cr_assert_not(report.complete);
	assert_nothing_left();
}

Test(session, an_output_that_fails_ends_it)
{
	start(1);
	sink.data_error = -ENOSPC;
	emit("sda", 0, 10000, 1);
	sleep(1);
	cr_assert_eq(stop(), -ENOSPC);
	cr_assert_not_null(strstr(why.text, "No space left"));
	cr_assert_eq(report.reason, LOG_END_FAILURE);
	cr_assert_not(report.complete);
	cr_assert_not(sink.finished);
	assert_nothing_left();
}

/* Waits for a sentence with @word. */
static void assert_news(const char *word)
{
	struct pollfd polls = {.fd = session_news_fd(session), .events = POLLIN};
	struct why news;

	cr_assert_eq(poll(&polls, 1, 20000), 1, "no word of '%s'", word);
	cr_assert(session_next_news(session, &news));
	cr_assert_not_null(strstr(news.text, word), "%s", news.text);
}

Test(session, an_output_that_takes_nothing_for_a_while_loses_nothing)
{
	struct pollfd end;

	start(1);
	sink.may_pass = true;
	sink.data_error = -ENOSPC;
	emit("sda", 0, 10000, 1);
	assert_news("recording goes on in memory");
	emit("sda", 1, 500, 2);
	end = (struct pollfd){.fd = session_event_fd(session), .events = POLLIN};
	cr_assert_eq(poll(&end, 1, 1200), 0, "it ended");
	sink.data_error = 0;
	assert_news("takes events again");
	cr_assert_eq(stop(), 0, "%s", why.text);
	assert_channel(0, 0, 10000, 1);
	assert_channel(0, 1, 500, 2);
	cr_assert(report.complete);
}

Test(session, an_output_that_takes_nothing_ends_it_when_the_memory_is_full)
{
	char *devices[] = {sda};
	struct session_options options = {
		.devices = devices,
		.n_devices = 1,
		.source = SOURCE_RELAY,
		.ring_bytes = 65536,
		.root = &tree.root,
		.kernel = &kernel.ops,
	};
	struct pollfd end;

	cr_assert_eq(session_open(&options, &session, &why), 0, "%s", why.text);
	cr_assert_eq(session_start(session, &sink.ops, &why), 0, "%s", why.text);
	emit("sda", 0, 100, 1);
	sleep(1);
	sink.may_pass = true;
	sink.data_error = -EIO;
	emit("sda", 0, 5000, 1);
	assert_news("recording goes on in memory");
	end = (struct pollfd){.fd = session_event_fd(session), .events = POLLIN};
	cr_assert_eq(poll(&end, 1, 20000), 1, "it does not end");
	cr_assert_eq(stop(), -EIO);
	cr_assert_not_null(strstr(why.text, "64 KiB for each channel"), "%s", why.text);
	cr_assert_eq(report.reason, LOG_END_FAILURE);
	cr_assert_not(report.complete);
	/* Of what is there, and of nothing else. */
	cr_assert_eq(report.devices[0].events * RECORD_BYTES,
		     memory_sink_channel(&sink, 0, 0)->size);
	assert_nothing_left();
}

Test(session, an_output_that_takes_nothing_until_the_end_fails)
{
	start(1);
	sink.may_pass = true;
	sink.data_error = -EDQUOT;
	emit("sda", 0, 10000, 1);
	assert_news("recording goes on in memory");
	cr_assert_eq(stop(), -EDQUOT);
	cr_assert_eq(report.devices[0].events, 0);
	assert_nothing_left();
}

Test(session, destroyed_without_a_stop_it_leaves_nothing)
{
	start(2);
	emit("sda", 0, 10, 1);
	session_destroy(session);
	session = NULL;
	assert_nothing_left();
}

Test(session, a_device_that_worked_unseen_is_told)
{
	fake_tree_write(&tree, "/sys/dev/block/8:0/stat", "1 0 8 0 0 0 0 0 0 0 0\n");
	start(1);
	fake_tree_write(&tree, "/sys/dev/block/8:0/stat", "5 0 8 0 2 0 0 0 0 0 0\n");
	cr_assert_eq(stop(), 0);
	cr_assert_eq(report.remarks->n, 1);
	cr_assert_not_null(strstr(report.remarks->text[0].text, "6 I/Os"), "%s",
			   report.remarks->text[0].text);
}

Test(session, a_cpu_that_comes_online_gets_its_reader)
{
	start(1);
	fake_tree_write(&tree, FAKE_DEBUGFS "/block/sda/trace7", "");
	sleep(1);
	emit("sda", 7, 11, 5);
	cr_assert_eq(stop(), 0);
	assert_channel(0, 7, 11, 5);
	fake_tree_remove(&tree, FAKE_DEBUGFS "/block/sda/trace7");
}

Test(session, what_the_kernel_skipped_is_a_loss)
{
	start(1);
	emit("sda", 0, 10, 1);
	sleep(1);
	kernel.skipped_bytes = 96;
	cr_assert_eq(stop(), 0);
	assert_channel(0, 0, 10, 1);
	cr_assert_not(report.complete);
	cr_assert_eq(report.dropped, 4); /* two on each CPU */
	cr_assert_eq(sink.n_drops, 2);
	cr_assert_not_null(strstr(report.remarks->text[0].text, "96 bytes of CPU"));
}

Test(session, a_cpu_that_came_online_just_before_the_end_is_read_too)
{
	start(1);
	fake_tree_write(&tree, FAKE_DEBUGFS "/block/sda/trace7", "");
	emit("sda", 7, 3, 5);
	cr_assert_eq(stop(), 0);
	assert_channel(0, 7, 3, 5);
	fake_tree_remove(&tree, FAKE_DEBUGFS "/block/sda/trace7");
}
