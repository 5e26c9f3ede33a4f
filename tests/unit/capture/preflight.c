/* SPDX-License-Identifier: MIT */
#include "preflight.h"

#include "fake_kernel.h"

#include <criterion/criterion.h>
#include <limits.h>
#include <string.h>

static struct fake_tree tree;
static struct fake_kernel kernel;
static struct preflight preflight;
static struct why why;
static struct block_device sda;
static const struct trace_options options = {.buffer_bytes = 262144, .buffer_count = 128};

enum {
	BOTH_BUILT = 1 << SOURCE_RELAY | 1 << SOURCE_FTRACE
};

static void setup(void)
{
	fake_tree_init(&tree);
	fake_kernel_init(&kernel, &tree);
	fake_tree_disk(&tree, "sda", 8, 0, 2097152);
	cr_assert_eq(device_resolve(&tree.root, "sda", &sda, &why), 0);
}

static void teardown(void)
{
	preflight_deinit(&preflight);
	fake_kernel_deinit(&kernel);
	fake_tree_deinit(&tree);
}

TestSuite(preflight, .init = setup, .fini = teardown);

static void run(void)
{
	preflight_deinit(&preflight);
	cr_assert_eq(preflight_run(&tree.root, &kernel.ops, NULL, &sda, 1, &preflight, &why), 0,
		     "%s", why.text);
}

static const struct need *find(const char *name)
{
	for (size_t i = 0; i < preflight.n; i++) {
		if (!strcmp(preflight.needs[i].name, name))
			return &preflight.needs[i];
	}
	cr_assert_fail("there is no need '%s'", name);
	return NULL;
}

static void expect(const char *name, enum need_state state, const char *words)
{
	const struct need *need;

	run();
	need = find(name);
	cr_expect_eq(need->state, state, "%s: %d", name, need->state);
	cr_expect(strstr(need->why.text, words), "%s: '%s' has no '%s'", name, need->why.text,
		  words);
	cr_expect_eq(need->error < 0, state == NEED_NOT_MET);
}

static void expect_verdict(bool relay, bool ftrace)
{
	cr_expect_eq(preflight.relay, relay);
	cr_expect_eq(preflight.ftrace, ftrace);
}

Test(preflight, everything_is_there)
{
	enum source_kind kind;

	kernel.v2 = true;
	run();
	for (size_t i = 0; i < preflight.n; i++)
		cr_expect_eq(preflight.needs[i].state, NEED_MET, "%s: %s", preflight.needs[i].name,
			     preflight.needs[i].why.text);
	expect_verdict(true, true);
	expect("block tracing", NEED_MET, "protocol v2");
	cr_assert_str_eq(find("block tracing")->device, "sda");
	cr_assert_str_empty(find("debugfs")->device);
	cr_assert_eq(preflight_source(&preflight, SOURCE_AUTO, BOTH_BUILT, &kind, &why), 0);
	cr_assert_eq(kind, SOURCE_RELAY);
	cr_assert_eq(kernel.setups, 0, "nothing was made");
}

Test(preflight, protocol)
{
	expect("block tracing", NEED_MET, "protocol v1");
	fake_tree_write(&tree, "/sys/block/sda/queue/zoned", "host-aware\n");
	cr_assert_eq(device_resolve(&tree.root, "sda", &sda, &why), 0);
	expect("block tracing", NEED_MET, "zone operations will look like writes");
	kernel.v2 = true;
	expect("block tracing", NEED_MET, "protocol v2");
	kernel.no_blktrace = true;
	expect("block tracing", NEED_NOT_MET, "CONFIG_BLK_DEV_IO_TRACE");
	expect_verdict(false, false);
}

Test(preflight, privilege)
{
	const char status[] = "/proc/self/status";

	fake_tree_write(&tree, status, "Name: x\nUid:\t1000\t1000\t1000\t1000\nCapEff:\t0\n");
	expect("privilege", NEED_NOT_MET, "not root, and without CAP_DAC_READ_SEARCH");
	expect_verdict(false, false);
	fake_tree_write(&tree, status, "Name: x\nUid:\t1000\t1000\t1000\t1000\nCapEff:\t200004\n");
	expect("privilege", NEED_MET, "has the capabilities");
	/* An executable that is set-uid root. */
	fake_tree_write(&tree, status, "Name: x\nUid:\t1000\t0\t0\t0\nCapEff:\t1ffffffffff\n");
	expect("privilege", NEED_MET, "root");
	/* A container's root, as Docker makes it by default. */
	fake_tree_write(&tree, status, "Name: x\nUid:\t0\t0\t0\t0\nCapEff:\ta80425fb\n");
	expect("privilege", NEED_MET, "no CAP_SYS_ADMIN (a container?)");
	fake_tree_write(&tree, "/proc/self/uid_map", "         0       1000          1\n");
	expect("privilege", NEED_NOT_MET, "user namespace");
	fake_tree_write(&tree, "/proc/self/uid_map", "0 0 4294967295\n");
	fake_tree_write(&tree, status, "garbage");
	expect("privilege", NEED_UNKNOWN, "/proc/self/status");
	expect_verdict(true, true);
}

Test(preflight, without_debugfs_there_is_ftrace)
{
	enum source_kind kind = SOURCE_AUTO;

	fake_tree_write(&tree, "/proc/self/mounts", "tracefs " FAKE_TRACEFS " tracefs rw 0 0\n");
	expect("debugfs", NEED_NOT_MET, "debugfs is not mounted");
	expect_verdict(false, true);
	cr_assert_eq(preflight_source(&preflight, SOURCE_AUTO, BOTH_BUILT, &kind, &why), 0);
	cr_assert_eq(kind, SOURCE_FTRACE);
	cr_assert(strstr(why.text, "cannot be had: debugfs is not mounted"), "%s", why.text);
}

Test(preflight, lockdown)
{
	const char lockdown[] = "/sys/kernel/security/lockdown";

	fake_tree_write(&tree, lockdown, "none [integrity] confidentiality\n");
	expect("no lockdown", NEED_NOT_MET, "Secure Boot");
	expect_verdict(false, true);
	fake_tree_write(&tree, lockdown, "none integrity [confidentiality]\n");
	expect("no lockdown", NEED_NOT_MET, "forbids debugfs and tracefs");
	expect_verdict(false, false);
	fake_tree_remove(&tree, lockdown);
	expect("no lockdown", NEED_UNKNOWN, "mount -t securityfs");
	expect_verdict(true, true);
}

Test(preflight, tracers)
{
	const char tracer[] = FAKE_TRACEFS "/current_tracer";

	fake_tree_write(&tree, tracer, "function\n");
	expect("blk tracer off", NEED_MET, "");
	expect("tracefs", NEED_NOT_MET, "ftrace's tracer 'function' is on");
	expect_verdict(true, false);
	fake_tree_write(&tree, tracer, "blk\n");
	expect("blk tracer off", NEED_NOT_MET, "takes the events of all traces");
	expect("tracefs", NEED_NOT_MET, "ftrace's tracer 'blk' is on");
	expect_verdict(false, false);
	cr_assert_eq(preflight_tracer_conflict(&tree.root, &why), -EBUSY);
	cr_assert(strstr(why.text, "'echo nop > " FAKE_TRACEFS "/current_tracer'"), "%s", why.text);
	fake_tree_write(&tree, tracer, "nop\n");
	fake_tree_write(&tree, FAKE_TRACEFS "/available_tracers", "function blkx nop\n");
	expect("tracefs", NEED_NOT_MET, "no blk tracer (CONFIG_BLK_DEV_IO_TRACE)");
	fake_tree_write(&tree, "/proc/self/mounts", "debugfs " FAKE_DEBUGFS " debugfs rw 0 0\n");
	expect("tracefs", NEED_NOT_MET, "tracefs is not mounted");
	expect("blk tracer off", NEED_UNKNOWN, "without tracefs");
	expect_verdict(true, false);
}

/* Whatever a recording through ftrace would refuse. */
Test(preflight, somebody_uses_the_trace_buffer)
{
	fake_tree_write(&tree, FAKE_TRACEFS "/events/enable", "X\n");
	fake_tree_write(&tree, FAKE_TRACEFS "/set_event", "sched:sched_switch\n");
	expect("tracefs", NEED_NOT_MET, "sched:sched_switch");
	expect_verdict(true, false);
	fake_tree_write(&tree, FAKE_TRACEFS "/events/enable", "0\n");
	fake_tree_write(&tree, FAKE_TRACEFS "/tracing_cpumask", "1\n");
	expect("tracefs", NEED_NOT_MET, "CPU 1 would not be recorded");
	fake_tree_write(&tree, FAKE_TRACEFS "/tracing_cpumask", "3\n");
	fake_tree_write(&tree, FAKE_TRACEFS "/per_cpu/cpu1/stats", "entries: 12\n");
	expect("tracefs", NEED_NOT_MET, "12 entries");
	fake_tree_write(&tree, FAKE_TRACEFS "/per_cpu/cpu1/stats", "entries: 0\n");
	expect("tracefs", NEED_MET, "its blk tracer is free");
	/* Another disk's relay trace would get no events any more. */
	fake_tree_disk(&tree, "sdb", 8, 16, 1000);
	fake_tree_write(&tree, "/sys/block/sdb/trace/enable", "1\n");
	fake_tree_write(&tree, FAKE_DEBUGFS "/block/sdb/dropped", "0\n");
	fake_tree_dir(&tree, "/proc/1/fd");
	expect("tracefs", NEED_NOT_MET, "would take its events away");
	expect_verdict(true, false);
}

Test(preflight, delay_accounting_stops_nobody)
{
	fake_tree_write(&tree, "/proc/sys/kernel/task_delayacct", "0\n");
	expect("delay accounting", NEED_NOT_MET, "sysctl kernel.task_delayacct=1");
	fake_tree_remove(&tree, "/proc/sys/kernel/task_delayacct");
	expect("delay accounting", NEED_NOT_MET, "CONFIG_TASK_DELAY_ACCT");
	expect_verdict(true, true);
}

Test(preflight, somebody_traces_the_device)
{
	fake_tree_write(&tree, "/sys/block/sda/trace/enable", "1\n");
	fake_tree_dir(&tree, "/proc/1/fd");
	expect("no other trace", NEED_NOT_MET, "sda is being traced for ftrace");
	expect_verdict(false, false);
}

Test(preflight, a_node_that_does_not_open)
{
	kernel.open_fails = "/dev/sda";
	kernel.open_error = -ENOMEDIUM;
	expect("block tracing", NEED_NOT_MET, "cannot open /dev/sda: No medium found");
}

static void run_without_device(void)
{
	preflight_deinit(&preflight);
	cr_assert_eq(preflight_run(&tree.root, &kernel.ops, NULL, NULL, 0, &preflight, &why), 0);
}

Test(preflight, without_a_device)
{
	run_without_device();
	cr_assert_eq(find("block tracing")->state, NEED_MET);
	expect_verdict(true, true);
	fake_tree_remove(&tree, "/sys/block/sda/trace/enable");
	run_without_device();
	cr_assert_eq(find("block tracing")->state, NEED_NOT_MET);
	fake_tree_remove(&tree, "/sys/block/sda");
	run_without_device();
	cr_assert_eq(find("block tracing")->state, NEED_UNKNOWN);
}

Test(preflight, the_source_that_is_insisted_on)
{
	enum source_kind kind = 77;

	fake_tree_write(&tree, "/sys/kernel/security/lockdown", "none [integrity] x\n");
	run();
	cr_assert_eq(preflight_source(&preflight, SOURCE_RELAY, BOTH_BUILT, &kind, &why), -EPERM);
	cr_assert(strstr(why.text, "lockdown"), "%s", why.text);
	cr_assert_eq(preflight_source(&preflight, SOURCE_AUTO, 1 << SOURCE_RELAY, &kind, &why),
		     -EPERM);
	cr_assert_eq(kind, 77);
	cr_assert_eq(preflight_source(&preflight, SOURCE_FTRACE, BOTH_BUILT, &kind, &why), 0);
	cr_assert_eq(kind, SOURCE_FTRACE);
	cr_assert_eq(preflight_source(&preflight, SOURCE_FTRACE, 1 << SOURCE_RELAY, &kind, &why),
		     -EOPNOTSUPP);
	fake_tree_write(&tree, FAKE_TRACEFS "/current_tracer", "function\n");
	run();
	cr_assert_eq(preflight_source(&preflight, SOURCE_FTRACE, BOTH_BUILT, &kind, &why), -EBUSY);
	cr_assert_eq(preflight_source(&preflight, SOURCE_AUTO, BOTH_BUILT, &kind, &why), -EPERM);
}

Test(preflight, relay_before_the_first_ioctl)
{
	char path[PATH_MAX] = "before", small[4];
	const char lockdown[] = "/sys/kernel/security/lockdown";

	cr_assert_eq(preflight_relay(&tree.root, &kernel.ops, NULL, small, sizeof(small), &why),
		     -ENAMETOOLONG);
	fake_tree_write(&tree, lockdown, "none [integrity] confidentiality\n");
	cr_assert_eq(preflight_relay(&tree.root, &kernel.ops, NULL, path, sizeof(path), &why),
		     -EPERM);
	cr_assert(strstr(why.text, "lockdown"));
	fake_tree_write(&tree, lockdown, "[none] integrity confidentiality\n");
	fake_tree_write(&tree, FAKE_TRACEFS "/current_tracer", "blk\n");
	cr_assert_eq(preflight_relay(&tree.root, &kernel.ops, NULL, path, sizeof(path), &why),
		     -EBUSY);
	cr_assert_eq(preflight_relay(&tree.root, &kernel.ops, "/none", path, sizeof(path), &why),
		     -ENOENT);
	cr_assert_str_eq(path, "before");
	fake_tree_write(&tree, FAKE_TRACEFS "/current_tracer", "nop\n");
	cr_assert_eq(preflight_relay(&tree.root, &kernel.ops, NULL, path, sizeof(path), &why), 0);
	cr_assert_str_eq(path, FAKE_DEBUGFS);
}

static void expect_setup(int error, const char *words)
{
	int r = preflight_explain_setup(&tree.root, &kernel.ops, &sda, &options, error, &why);

	cr_expect_eq(r, error);
	cr_expect(strstr(why.text, words), "'%s' has no '%s'", why.text, words);
}

Test(preflight, what_a_failed_setup_means)
{
	expect_setup(-ENOTTY, "CONFIG_BLK_DEV_IO_TRACE");
	expect_setup(-EIO, "could not allocate the trace buffers of sda: 128 x 256 KiB");
	expect_setup(-ENOMEM, "128 x 256 KiB for each CPU");
	expect_setup(-ENOENT, "trace directory of sda: debugfs is switched off");
	expect_setup(-EINVAL, "128 buffers of 262144 bytes");
	expect_setup(-ENXIO, "cannot set up the trace of sda: No such device");
	expect_setup(-EBUSY, "'blkbox status' tells by whom");
	fake_tree_write(&tree, "/sys/block/sda/trace/enable", "1\n");
	fake_tree_write(&tree, FAKE_DEBUGFS "/block/sda/dropped", "0\n");
	fake_tree_write(&tree, "/proc/77/stat",
			"77 (blktrace) S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 4711 0\n");
	fake_tree_link(&tree, "/proc/77/fd/9", FAKE_DEBUGFS "/block/sda/trace1");
	expect_setup(-EBUSY, "sda is being traced by blktrace (process 77)");
	fake_tree_remove(&tree, "/sys/dev/block/8:0");
	expect_setup(-ENOENT, "sda was removed");
}

Test(preflight, what_a_file_that_does_not_open_means)
{
	cr_assert_eq(preflight_explain_open(&tree.root, "sda", "trace0", -EPERM, &why), -EPERM);
	cr_assert(strstr(why.text, "cannot open trace0 of sda: kernel lockdown"), "%s", why.text);
	cr_assert(strstr(why.text, "(see /sys/kernel/security/lockdown)"), "%s", why.text);
	cr_assert_eq(preflight_explain_open(&tree.root, "sda", "trace0", -EACCES, &why), -EACCES);
	cr_assert(strstr(why.text, "run as root"));
	cr_assert_eq(preflight_explain_open(&tree.root, "sda", "trace0", -ENOENT, &why), -ENOENT);
	cr_assert(strstr(why.text, "is gone"));
	cr_assert_eq(preflight_explain_open(&tree.root, "sda", "trace0", -EMFILE, &why), -EMFILE);
	cr_assert_str_eq(why.text, "cannot open trace0 of sda: Too many open files");
}
