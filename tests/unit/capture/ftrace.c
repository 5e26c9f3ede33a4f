/* SPDX-License-Identifier: MIT */
#include "drops.h"
#include "fake_kernel.h"
#include "trace_source.h"
#include "tracing_state.h"

#include <criterion/criterion.h>
#include <string.h>
#include <unistd.h>

static struct fake_tree tree;
static struct fake_kernel kernel;
static struct why why;
static struct block_device sda;
static struct log_device log_device;
static struct trace_source *source;

/* As Linux 6.1 shows them. */
static const char header_page[] = "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n"
				  "\tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;\n"
				  "\tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;\n"
				  "\tfield: char data;\toffset:16;\tsize:4080;\tsigned:0;\n";
static const char header_event[] = "# compressed entry header\n"
				   "\ttype_len    :    5 bits\n"
				   "\ttime_delta  :   27 bits\n"
				   "\tarray       :   32 bits\n"
				   "\n"
				   "\tpadding     : type == 29\n"
				   "\ttime_extend : type == 30\n"
				   "\ttime_stamp : type == 31\n"
				   "\tdata max type_len  == 28\n";

static void write_stats(unsigned cpu, unsigned overrun)
{
	char path[64], text[128];

	snprintf(path, sizeof(path), FAKE_TRACEFS "/per_cpu/cpu%u/stats", cpu);
	snprintf(text, sizeof(text),
		 "entries: 0\noverrun: %u\ncommit overrun: 0\nbytes: 0\ndropped events: 0\n"
		 "read events: 0\n",
		 overrun);
	fake_tree_write(&tree, path, text);
}

static void make_tracefs(void)
{
	fake_tree_write(&tree, FAKE_TRACEFS "/trace_clock", "[local] global mono\n");
	fake_tree_write(&tree, FAKE_TRACEFS "/options/overwrite", "1\n");
	fake_tree_write(&tree, FAKE_TRACEFS "/tracing_on", "1\n");
	fake_tree_write(&tree, FAKE_TRACEFS "/buffer_size_kb", "1408\n");
	fake_tree_write(&tree, FAKE_TRACEFS "/events/header_page", header_page);
	fake_tree_write(&tree, FAKE_TRACEFS "/events/header_event", header_event);
	fake_tree_write(&tree, FAKE_TRACEFS "/events/ftrace/user_stack/format",
			"name: user_stack\nID: 12\n");
	for (unsigned cpu = 0; cpu < 2; cpu++) {
		char path[64];

		snprintf(path, sizeof(path), FAKE_TRACEFS "/per_cpu/cpu%u/buffer_size_kb", cpu);
		fake_tree_write(&tree, path, "1408\n");
		snprintf(path, sizeof(path), FAKE_TRACEFS "/per_cpu/cpu%u/trace_pipe_raw", cpu);
		fake_tree_write(&tree, path, "");
		write_stats(cpu, 0);
	}
}

static void setup(void)
{
	char path[64], text[128];

	fake_tree_init(&tree);
	fake_kernel_init(&kernel, &tree);
	kernel.v2 = true;
	make_tracefs();
	snprintf(path, sizeof(path), "/proc/%d/stat", getpid());
	snprintf(text, sizeof(text),
		 "%d (unit) S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 4711 0\n", getpid());
	fake_tree_write(&tree, path, text);
	fake_tree_disk(&tree, "sda", 8, 0, 1000);
	cr_assert_eq(device_resolve(&tree.root, "sda", &sda, &why), 0);
	log_device.device = sda.device;
	cr_assert_eq(ftrace_source_create(&source), 0);
	cr_assert_eq(drop_tracker_init(&source->drops), 0);
	source->kernel = &kernel.ops;
	source->root = &tree.root;
	source->options = (struct trace_options){.buffer_bytes = 262144, .buffer_count = 4};
	source->devices = &sda;
	source->log_devices = &log_device;
	source->n_devices = 1;
}

static void teardown(void)
{
	drop_tracker_deinit(&source->drops);
	source->ops->destroy(source);
	fake_kernel_deinit(&kernel);
	fake_tree_deinit(&tree);
}

TestSuite(ftrace, .init = setup, .fini = teardown, .timeout = 30);

static void expect_file(const char *path, const char *text)
{
	char found[256];

	cr_assert_geq(sysroot_read(&tree.root, found, sizeof(found), "%s", path), 0, "%s", path);
	cr_expect_str_eq(found, text, "%s is '%s', not '%s'", path, found, text);
}

static int close_it(void *context, const struct log_channel *id, int fd)
{
	(void)context;
	(void)id;
	close(fd);
	return 0;
}

static void find_channels(void)
{
	cr_assert_geq(source->ops->find_channels(source, close_it, NULL, &why), 0, "%s", why.text);
}

static void set_up(void)
{
	cr_assert_geq(source->ops->setup(source, &why), 0, "%s", why.text);
	/* The kernel shows all clocks. */
	fake_tree_write(&tree, FAKE_TRACEFS "/trace_clock", "local global [mono]\n");
}

static void start(void)
{
	set_up();
	find_channels();
	cr_assert_geq(source->ops->start(source, &why), 0, "%s", why.text);
	expect_file("/sys/block/sda/trace/enable", "1");
	cr_assert_eq(source->ops->check(source, &why), 0, "%s", why.text);
}

static void tear_down(void)
{
	cr_assert_eq(source->ops->teardown(source, &why), 0, "%s", why.text);
	expect_file(FAKE_TRACEFS "/current_tracer", "nop");
	cr_expect_not(sysroot_exists(&tree.root, "/run/blkbox/tracing"));
}

static size_t devices_noted(void)
{
	struct tracing_state noted;
	size_t n;

	cr_assert_eq(tracing_state_load(&tree.root, &noted), 0);
	n = noted.n_devices;
	tracing_state_deinit(&noted);
	return n;
}

Test(ftrace, all_is_put_back)
{
	start();
	cr_expect_eq(devices_noted(), 1);
	cr_expect_eq(source->ops->stop(source, &why), 0, "%s", why.text);
	expect_file("/sys/block/sda/trace/enable", "0");
	tear_down();
	expect_file(FAKE_TRACEFS "/tracing_on", "1");
}

/* Killed without a note, it would leave the machine changed for ever. */
Test(ftrace, nothing_is_changed_that_cannot_be_noted)
{
	fake_tree_remove(&tree, "/run");
	cr_expect_eq(source->ops->setup(source, &why), -ENOENT);
	cr_expect(strstr(why.text, "cannot note the machine's tracing state in /run/blkbox"), "%s",
		  why.text);
	expect_file(FAKE_TRACEFS "/current_tracer", "nop");
	expect_file(FAKE_TRACEFS "/trace_clock", "[local] global mono");
}

Test(ftrace, the_next_device_of_a_number_is_left_alone)
{
	start();
	fake_tree_remove(&tree, "/sys/block/sda/trace/enable");
	cr_expect_eq(source->ops->check(source, &why), -ENODEV);
	cr_expect_eq(devices_noted(), 0);
	fake_tree_write(&tree, "/sys/block/sda/trace/enable", "1\n");
	source->ops->stop(source, &why);
	tear_down();
	expect_file("/sys/block/sda/trace/enable", "1");
}

Test(ftrace, the_next_trace_of_a_device_is_left_alone)
{
	start();
	fake_tree_write(&tree, "/sys/block/sda/trace/enable", "0\n");
	cr_expect_eq(source->ops->check(source, &why), -EBUSY);
	cr_expect_eq(devices_noted(), 0);
	fake_tree_write(&tree, "/sys/block/sda/trace/enable", "1\n");
	source->ops->stop(source, &why);
	tear_down();
	expect_file("/sys/block/sda/trace/enable", "1");
}

Test(ftrace, losses_before_a_channel_is_found_count)
{
	fake_tree_write(&tree, "/sys/devices/system/cpu/online", "0\n");
	write_stats(1, 5); /* offline, so that the kernel does not reset it */
	set_up();
	find_channels();
	cr_assert_geq(source->ops->start(source, &why), 0, "%s", why.text);
	fake_tree_write(&tree, "/sys/devices/system/cpu/online", "0-1\n");
	write_stats(0, 2);
	write_stats(1, 8);
	find_channels();
	cr_expect_eq(drop_tracker_sum(&source->drops, LOG_NO_CHANNEL, false), 3);
	source->ops->sample_drops(source, false);
	cr_expect_eq(drop_tracker_sum(&source->drops, LOG_NO_CHANNEL, false), 5);
}

Test(ftrace, a_buffer_that_is_made_later_starts_at_no_loss)
{
	fake_tree_write(&tree, "/sys/devices/system/cpu/online", "0\n");
	fake_tree_remove(&tree, FAKE_TRACEFS "/per_cpu/cpu1/stats");
	set_up();
	fake_tree_write(&tree, "/sys/devices/system/cpu/online", "0-1\n");
	write_stats(1, 8);
	find_channels();
	cr_expect_eq(drop_tracker_sum(&source->drops, LOG_NO_CHANNEL, false), 8);
}
