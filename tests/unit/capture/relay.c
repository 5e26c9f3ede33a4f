/* SPDX-License-Identifier: MIT */
/* The relay source alone, without threads. */
#include "trace_source.h"

#include "cleanup.h"
#include "fake_kernel.h"

#include <criterion/criterion.h>
#include <string.h>

enum {
	CHANNELS_MAX = 8
};

static struct fake_tree tree;
static struct fake_kernel kernel;
static struct block_device devices[2];
static struct log_device log_devices[2];
static struct trace_source *source;
static struct channel *channels[CHANNELS_MAX];
static size_t n_channels;
static struct why why;

static void init(void)
{
	fake_tree_init(&tree);
	fake_kernel_init(&kernel, &tree);
	fake_tree_disk(&tree, "sda", 8, 0, 1 << 20);
	fake_tree_disk(&tree, "cciss!c0d0", 104, 0, 1 << 20);
	fake_tree_partition(&tree, "sda", "sda1", 8, 1, 2048, 1 << 10);
	cr_assert_eq(relay_source_create(&source), 0);
	cr_assert_eq(drop_tracker_init(&source->drops), 0);
	source->kernel = &kernel.ops;
	source->root = &tree.root;
	source->devices = devices;
	source->log_devices = log_devices;
	source->options = (struct trace_options){.buffer_bytes = 65536, .buffer_count = 4};
	n_channels = 0;
}

static void deinit(void)
{
	for (size_t i = 0; i < n_channels; i++)
		channel_destroy(channels[i]);
	drop_tracker_deinit(&source->drops);
	source->ops->destroy(source);
	fake_kernel_deinit(&kernel);
	fake_tree_deinit(&tree);
}

TestSuite(relay, .init = init, .fini = deinit, .timeout = 30);

static int add_channel(void *context, const struct log_channel *id, int fd)
{
	(void)context;
	cr_assert_lt(n_channels, CHANNELS_MAX);
	return channel_adopt_create(id, fd, 4096, &channels[n_channels]) < 0 ? -ENOMEM
									     : (n_channels++, 0);
}

static void add_device(const char *spec)
{
	cr_assert_eq(device_resolve(&tree.root, spec, &devices[source->n_devices], &why), 0, "%s",
		     why.text);
	source->n_devices++;
}

static void set_up(void)
{
	cr_assert_eq(source->ops->setup(source, &why), 0, "%s", why.text);
	cr_assert_eq(source->ops->find_channels(source, add_channel, NULL, &why), 0, "%s",
		     why.text);
}

static void start(const char *spec)
{
	add_device(spec);
	set_up();
	cr_assert_eq(source->ops->start(source, &why), 0, "%s", why.text);
}

static struct channel *channel_of(uint32_t cpu)
{
	for (size_t i = 0; i < n_channels; i++) {
		if (channels[i]->id.cpu == cpu)
			return channels[i];
	}
	cr_assert_fail("no channel of CPU %u", cpu);
	return NULL;
}

static void emit(size_t n)
{
	char bytes[1024];

	memset(bytes, 'e', sizeof(bytes));
	fake_kernel_emit(&kernel, "sda", 0, bytes, n);
}

static ssize_t read_from(size_t size, enum read_mode mode)
{
	char bytes[1024];

	cr_assert_leq(size, sizeof(bytes));
	return source->ops->read(source, channel_of(0), bytes, size, mode);
}

static void assert_asked_for(unsigned protocol)
{
	const struct fake_trace *trace = fake_kernel_trace(&kernel, "sda");

	cr_assert_eq(trace->protocol, (int)protocol);
	cr_assert_eq(trace->buffer_bytes, 65536);
	cr_assert_eq(trace->buffer_count, 4);
	cr_assert_eq(trace->pid, 4711);
	cr_assert_eq(trace->start_lba, 1ull << 40);
	cr_assert_eq(trace->end_lba, (1ull << 40) + 7);
	cr_assert_not(trace->running);
	cr_assert_eq(log_devices[0].protocol, protocol);
	cr_assert_str_eq(log_devices[0].name, "sda");
}

static void ask(uint32_t mask)
{
	source->options.mask = mask;
	source->options.pid = 4711;
	source->options.first_sector = 1ull << 40;
	source->options.last_sector = (1ull << 40) + 7;
	add_device("sda");
}

Test(relay, v1_gets_the_options_as_asked)
{
	ask(0x00c3);
	set_up();
	assert_asked_for(1);
	cr_assert_eq(fake_kernel_trace(&kernel, "sda")->mask, 0x00c3);
}

Test(relay, v2_gets_categories_that_v1_has_no_bits_for)
{
	kernel.v2 = true;
	ask(0x4000c3);
	set_up();
	assert_asked_for(2);
	cr_assert_eq(fake_kernel_trace(&kernel, "sda")->mask, 0x4000c3);
}

Test(relay, v1_leaves_out_the_categories_that_it_does_not_know)
{
	ask(0x4000c3);
	set_up();
	cr_assert_eq(fake_kernel_trace(&kernel, "sda")->mask, 0x00c3);
}

/* A mask that becomes 0 would record everything. */
Test(relay, categories_of_v2_alone_are_refused_by_v1)
{
	ask(0x400000);
	cr_assert_eq(source->ops->setup(source, &why), -EOPNOTSUPP);
	cr_assert_not_null(strstr(why.text, "write_zeroes"), "%s", why.text);
	cr_assert_eq(kernel.setups, 0);
}

Test(relay, a_name_with_a_slash_is_found_under_sysfs_spelling)
{
	add_device("cciss/c0d0");
	set_up();
	cr_assert_eq(n_channels, 2);
	cr_assert_not_null(fake_kernel_trace(&kernel, "cciss!c0d0"));
	cr_assert_eq(source->ops->teardown(source, &why), 0);
	cr_assert_null(fake_kernel_trace(&kernel, "cciss!c0d0"));
}

Test(relay, a_partition_has_the_trace_under_its_own_name)
{
	add_device("sda1");
	set_up();
	cr_assert_str_eq(log_devices[0].name, "sda1");
	cr_assert_str_eq(fake_kernel_trace(&kernel, "sda1")->disk, "sda");
	cr_assert_eq(n_channels, 2);
}

Test(relay, cpu_numbers_with_holes_and_files_that_are_none)
{
	add_device("sda");
	cr_assert_eq(source->ops->setup(source, &why), 0, "%s", why.text);
	fake_tree_remove(&tree, FAKE_DEBUGFS "/block/sda/trace1");
	fake_tree_write(&tree, FAKE_DEBUGFS "/block/sda/trace11", "");
	fake_tree_write(&tree, FAKE_DEBUGFS "/block/sda/trace", "");
	fake_tree_write(&tree, FAKE_DEBUGFS "/block/sda/trace1x", "");
	fake_tree_write(&tree, FAKE_DEBUGFS "/block/sda/trace-1", "");
	fake_tree_write(&tree, FAKE_DEBUGFS "/block/sda/trace99999999999999999999", "");
	cr_assert_eq(source->ops->find_channels(source, add_channel, NULL, &why), 0);
	cr_assert_eq(n_channels, 2);
	channel_of(0);
	channel_of(11);
	cr_assert_eq(source->ops->find_channels(source, add_channel, NULL, &why), 0);
	cr_assert_eq(n_channels, 2, "each channel comes once");
	fake_tree_remove(&tree, FAKE_DEBUGFS "/block/sda/trace11");
}

Test(relay, only_finished_bytes_are_read_and_no_more_than_there_is_room_for)
{
	start("sda");
	kernel.unfinished_bytes = 100;
	emit(80);
	cr_assert_eq(read_from(1024, READ_FINISHED), 0, "less than is unfinished");
	emit(220);
	cr_assert_eq(read_from(150, READ_FINISHED), 150);
	cr_assert_eq(read_from(1024, READ_FINISHED), 50);
	cr_assert_eq(read_from(1024, READ_FINISHED), 0);
	cr_assert_eq(read_from(60, READ_LIVE), 60, "the rest, as on the CPU itself");
	kernel.unfinished_bytes = 0;
	cr_assert_eq(read_from(1024, READ_FINISHED), 40, "goes on behind what was read live");
	cr_assert_eq(channel_of(0)->bytes_read, 300);
}

Test(relay, the_rest_is_there_after_stop)
{
	start("sda");
	kernel.unfinished_bytes = 100;
	emit(300);
	cr_assert_eq(read_from(1024, READ_FINISHED), 200);
	cr_assert_eq(source->ops->stop(source, &why), 0);
	cr_assert_eq(read_from(1024, READ_REST), 100);
	cr_assert_eq(read_from(1024, READ_REST), 0);
	cr_assert_eq(source->ops->teardown(source, &why), 0);
	cr_assert_eq(read_from(1024, READ_REST), -EIO);
}

Test(relay, a_trace_that_somebody_else_stopped_is_told_and_torn_down)
{
	start("sda");
	fake_kernel_trace(&kernel, "sda")->running = false;
	cr_assert_eq(source->ops->check(source, &why), 0, "it cannot be seen");
	cr_assert_eq(source->ops->stop(source, &why), SOURCE_DISTURBED);
	cr_assert_not_null(strstr(why.text, "already been ended"), "%s", why.text);
	cr_assert_eq(source->ops->teardown(source, &why), 0);
	cr_assert_eq(kernel.teardowns, 1);
}

Test(relay, another_ones_trace_on_the_same_disk_is_left_alone)
{
	struct fake_trace *theirs = &kernel.traces[0];

	start("sda");
	fake_kernel_end_trace(&kernel, "sda");
	*theirs = (struct fake_trace){.in_use = true, .running = true};
	strcpy(theirs->disk, "sda");
	strcpy(theirs->name, "sda");
	fake_tree_write(&tree, FAKE_DEBUGFS "/block/sda/dropped", "0\n");
	cr_assert_eq(source->ops->check(source, &why), -EBUSY);
	cr_assert_not_null(strstr(why.text, "somebody else"), "%s", why.text);
	cr_assert_eq(source->ops->check(source, &why), 0, "told once");
	cr_assert_geq(source->ops->stop(source, &why), 0);
	cr_assert_eq(source->ops->teardown(source, &why), 0);
	cr_assert(theirs->running && theirs->in_use);
	cr_assert_eq(theirs->stops, 0);
	cr_assert_eq(kernel.teardowns, 0);
	theirs->in_use = false;
}

Test(relay, started_traces_are_stopped_before_they_are_torn_down)
{
	start("sda");
	cr_assert_eq(source->ops->teardown(source, &why), 0);
	cr_assert_eq(kernel.traces[0].stops, 1);
	cr_assert_eq(kernel.teardowns, 1);
	cr_assert_eq(source->ops->teardown(source, &why), 0);
	cr_assert_eq(kernel.teardowns, 1, "once");
}

Test(relay, drops_before_the_first_look_are_not_ours)
{
	start("sda");
	fake_kernel_set_dropped(&kernel, "sda", 3);
	source->ops->sample_drops(source, false);
	fake_kernel_set_dropped(&kernel, "sda", 5);
	source->ops->sample_drops(source, true);
	cr_assert_eq(drop_tracker_sum(&source->drops, 0, false), 3);
	cr_assert_eq(drop_tracker_sum(&source->drops, 0, true), 2);
}
