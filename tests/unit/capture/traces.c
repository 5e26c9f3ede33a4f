/* SPDX-License-Identifier: MIT */
#include "traces.h"

#include "blktrace.h"
#include "fake_kernel.h"
#include "state.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

static struct fake_tree tree;
static struct fake_kernel kernel;
static struct traces traces;
static struct why why;
static struct block_device sda, sda1, sdb;

static void write_process(pid_t pid, const char *name)
{
	char path[64], text[256];

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	snprintf(text, sizeof(text),
		 "%d (%s) S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 4711 0\n", pid, name);
	fake_tree_write(&tree, path, text);
	snprintf(path, sizeof(path), "/proc/%d/fd", pid);
	fake_tree_dir(&tree, path);
}

static void open_in(pid_t pid, int fd, const char *target)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/fd/%d", pid, fd);
	fake_tree_link(&tree, path, target);
}

static void setup(void)
{
	fake_tree_init(&tree);
	fake_kernel_init(&kernel, &tree);
	fake_tree_disk(&tree, "sda", 8, 0, 2097152);
	fake_tree_partition(&tree, "sda", "sda1", 8, 1, 2048, 1024);
	fake_tree_disk(&tree, "sdb", 8, 16, 1000);
	fake_tree_dir(&tree, FAKE_DEBUGFS "/block/sdb");
	write_process(1, "init");
	open_in(1, 0, "/dev/null");
	cr_assert_eq(device_resolve(&tree.root, "sda", &sda, &why), 0);
	cr_assert_eq(device_resolve(&tree.root, "sda1", &sda1, &why), 0);
	cr_assert_eq(device_resolve(&tree.root, "sdb", &sdb, &why), 0);
}

static void teardown(void)
{
	traces_deinit(&traces);
	fake_kernel_deinit(&kernel);
	fake_tree_deinit(&tree);
}

TestSuite(traces, .init = setup, .fini = teardown);

static void start_trace(const char *path)
{
	struct bt_setup1 request = {.buf_size = 4096, .buf_nr = 2};
	int fd = kernel.ops.open(&kernel, tree.root.fd, path + 1, O_RDONLY);

	cr_assert_geq(fd, 0);
	cr_assert_eq(kernel.ops.ioctl(&kernel, fd, BT_IOC_SETUP, &request), 0);
	cr_assert_eq(kernel.ops.ioctl(&kernel, fd, BT_IOC_START, NULL), 0);
	close(fd);
}

static void list(void)
{
	traces_deinit(&traces);
	cr_assert_eq(traces_list(&tree.root, &kernel.ops, NULL, &traces, &why), 0, "%s", why.text);
}

static const struct running_trace *only_one(void)
{
	list();
	cr_assert_eq(traces.n, 1);
	return &traces.items[0];
}

Test(traces, none)
{
	list();
	cr_assert_eq(traces.n, 0);
	cr_assert_str_empty(traces.no_debugfs.text);
	cr_assert_null(traces_find(&traces, sda.disk));
}

Test(traces, of_a_partition_that_somebody_reads)
{
	const struct running_trace *trace;

	start_trace("/dev/sda1");
	fake_kernel_set_dropped(&kernel, "sda1", 338);
	write_process(77, "blktrace");
	open_in(77, 4, FAKE_DEBUGFS "/block/sda1/trace0");
	trace = only_one();
	cr_assert_str_eq(trace->name, "sda1");
	cr_assert_str_eq(trace->disk_name, "sda");
	cr_assert_eq(trace->disk, sda.disk);
	cr_assert(trace->has_channels);
	cr_assert(!trace->to_ftrace);
	cr_assert(trace->dropped_known);
	cr_assert_eq(trace->dropped, 338);
	cr_assert_eq(trace->owner, TRACE_OWNER_ALIVE);
	cr_assert_eq(trace->process.pid, 77);
	cr_assert_str_eq(trace->process.name, "blktrace");
	cr_assert_eq(traces_find(&traces, sda1.disk), trace);
	cr_assert_null(traces_find(&traces, sdb.disk));
	trace_describe_owner(trace, &why);
	cr_assert_str_eq(why.text, "sda1 is being traced by blktrace (process 77)");
}

Test(traces, left_behind)
{
	const struct running_trace *trace;

	start_trace("/dev/sda");
	/* Files of a trace that is gone, of another device, and no trace files. */
	write_process(77, "other");
	open_in(77, 1, FAKE_DEBUGFS "/block/sda/trace0 (deleted)");
	open_in(77, 2, FAKE_DEBUGFS "/block/sda1/trace0");
	open_in(77, 3, FAKE_DEBUGFS "/block/sda/trace0x");
	open_in(77, 4, FAKE_DEBUGFS "/block/sda/trace");
	open_in(77, 5, FAKE_DEBUGFS "/block/sda/state");
	open_in(77, 6, FAKE_TRACEFS "/trace_pipe");
	trace = only_one();
	cr_assert_eq(trace->owner, TRACE_OWNER_NONE);
	trace_describe_owner(trace, &why);
	cr_assert_str_eq(why.text, "sda is being traced, but nobody reads this trace: it was left "
				   "behind; 'blkbox stop sda' ends it");
}

Test(traces, of_a_recorder_that_cannot_open_its_channels_yet)
{
	const struct running_trace *trace;

	start_trace("/dev/sda");
	write_process(77, "blkbox");
	fake_tree_write(&tree, "/proc/sys/kernel/random/boot_id", "this boot\n");
	fake_tree_write(&tree, "/run/blkbox/8:0",
			"device=sda\nboot_id=this boot\npid=77\nstart_ticks=4711\nprotocol=2\n"
			"source=relay\n");
	trace = only_one();
	cr_assert_eq(trace->owner, TRACE_OWNER_ALIVE);
	cr_assert_eq(trace->process.pid, 77);
	cr_assert_eq(trace->protocol, 2);
	/* The file of a recorder that was killed. */
	fake_tree_write(&tree, "/proc/sys/kernel/random/boot_id", "another boot\n");
	cr_assert_eq(only_one()->owner, TRACE_OWNER_NONE);
}

/* Noted before the set-up, which then finds that somebody else was there first. */
Test(traces, our_own_note_is_no_owner)
{
	start_trace("/dev/sda");
	write_process(getpid(), "blkbox");
	cr_assert_eq(state_write(&tree.root, &sda,
				 &(struct trace_state){.protocol = 0, .source = "relay"}, &why),
		     0, "%s", why.text);
	cr_assert_eq(only_one()->owner, TRACE_OWNER_NONE);
	write_process(77, "blktrace");
	open_in(77, 4, FAKE_DEBUGFS "/block/sda/trace0");
	cr_assert_eq(only_one()->process.pid, 77);
}

Test(traces, made_by_sysfs)
{
	const struct running_trace *trace;

	fake_tree_write(&tree, "/sys/block/sdb/trace/enable", "1\n");
	write_process(76, "rasdaemon");
	open_in(76, 3, FAKE_TRACEFS "/instances/rasdaemon/per_cpu/cpu0/trace_pipe_raw");
	write_process(77, "cat");
	trace = only_one();
	cr_assert_str_eq(trace->name, "sdb");
	cr_assert(!trace->has_channels);
	cr_assert(!trace->dropped_known);
	cr_assert_eq(trace->owner, TRACE_OWNER_NONE);
	trace_describe_owner(trace, &why);
	cr_assert(strstr(why.text, "for ftrace"), "%s", why.text);
	fake_tree_write(&tree, FAKE_TRACEFS "/current_tracer", "blk\n");
	trace = only_one();
	cr_assert(trace->to_ftrace);
	cr_assert_eq(trace->owner, TRACE_OWNER_NONE, "an instance is another buffer");
	open_in(77, 3, FAKE_TRACEFS "/trace_pipe");
	trace = only_one();
	cr_assert_eq(trace->owner, TRACE_OWNER_ALIVE);
	cr_assert_str_eq(trace->process.name, "cat");
}

Test(traces, of_an_sg_node)
{
	const struct running_trace *trace;

	fake_tree_write(&tree, FAKE_DEBUGFS "/block/sg1/dropped", "0\n");
	fake_tree_dir(&tree, "/sys/class/scsi_generic/sg1/device/block/sdb");
	fake_tree_write(&tree, "/sys/block/sdb/trace/enable", "1\n");
	trace = only_one();
	cr_assert_str_eq(trace->name, "sg1");
	cr_assert_str_eq(trace->disk_name, "sdb");
	/* Of a tape: there is no disk. */
	fake_tree_write(&tree, FAKE_DEBUGFS "/block/sg2/dropped", "0\n");
	list();
	cr_assert_eq(traces.n, 2);
	cr_assert_null(traces_find(&traces, 0));
}

Test(traces, without_debugfs)
{
	start_trace("/dev/sda");
	fake_tree_write(&tree, "/proc/self/mounts", "");
	cr_assert(!only_one()->has_channels);
	cr_assert(strstr(traces.no_debugfs.text, "debugfs is not mounted"));
}

Test(traces, of_processes_that_this_user_may_not_see)
{
	if (geteuid() == 0)
		cr_skip_test("root sees everything");
	start_trace("/dev/sda");
	fake_tree_chmod(&tree, "/proc/1/fd", 0);
	cr_assert_eq(only_one()->owner, TRACE_OWNER_UNKNOWN);
	fake_tree_chmod(&tree, "/proc/1/fd", 0755);
}

Test(traces, ending_one_that_was_left_behind)
{
	start_trace("/dev/sda1");
	fake_tree_write(&tree, "/run/blkbox/8:0",
			"device=sda1\nboot_id=x\npid=9\nstart_ticks=1\nprotocol=1\nsource=relay\n");
	/* On any node of the queue. */
	cr_assert_eq(trace_end(&tree.root, &kernel.ops, only_one(), &sda, false, &why), 0, "%s",
		     why.text);
	list();
	cr_assert_eq(traces.n, 0);
	cr_assert_eq(kernel.teardowns, 1);
	cr_assert_eq(kernel.traces[0].stops, 1, "stopped before it was torn down");
	cr_assert(!sysroot_exists(&tree.root, "/run/blkbox/8:0"));
}

Test(traces, ending_one_that_does_not_run)
{
	struct running_trace trace;

	start_trace("/dev/sda");
	kernel.traces[0].running = false;
	trace = *only_one();
	cr_assert_eq(trace_end(&tree.root, &kernel.ops, &trace, &sda, false, &why), 0);
	cr_assert_eq(trace_end(&tree.root, &kernel.ops, &trace, &sda, false, &why), -ENOENT);
	cr_assert_str_eq(why.text, "sda has no trace");
}

Test(traces, the_trace_of_a_living_owner_is_not_touched)
{
	struct running_trace trace;

	start_trace("/dev/sda");
	write_process(77, "blktrace");
	open_in(77, 4, FAKE_DEBUGFS "/block/sda/dropped");
	trace = *only_one();
	cr_assert_eq(trace_end(&tree.root, &kernel.ops, &trace, &sda, false, &why), -EBUSY);
	cr_assert(strstr(why.text, "'kill -INT 77' ends it in good order"), "%s", why.text);
	trace.owner = TRACE_OWNER_UNKNOWN;
	cr_assert_eq(trace_end(&tree.root, &kernel.ops, &trace, &sda, false, &why), -EBUSY);
	cr_assert_eq(kernel.teardowns, 0);
	cr_assert(kernel.traces[0].running);
	cr_assert_eq(trace_end(&tree.root, &kernel.ops, &trace, &sda, true, &why), 0);
	cr_assert_eq(kernel.teardowns, 1);
}

Test(traces, a_node_that_does_not_open)
{
	start_trace("/dev/sda");
	kernel.open_fails = "/dev/sda";
	kernel.open_error = -EACCES;
	cr_assert_eq(trace_end(&tree.root, &kernel.ops, only_one(), &sda, false, &why), -EACCES);
	cr_assert_str_eq(why.text, "cannot open /dev/sda: Permission denied");
}
