/* SPDX-License-Identifier: MIT */
/* Readers and what holds them together, over a source that hands out what a test puts into it. */
#include "intake.h"

#include "cleanup.h"
#include "fake_kernel.h"
#include "memory_sink.h"

#include <criterion/criterion.h>
#include <string.h>

enum {
	RING_BYTES = 4096,
	PATIENCE_MS = 10000
};

/* What the kernel would hold, one number of bytes for each of two CPUs. */
struct tap {
	struct trace_source source;
	unsigned cpus; /* that find_channels() has to tell */
	unsigned told;
	_Atomic uint64_t bytes[4];
	_Atomic int error; /* of read() */
	_Atomic unsigned reads;
};

static struct tap tap;
static struct reader_shared shared;
static struct ring_sleep collector;
static struct memory_sink sink;
static struct intake intake;
static struct why why;

static int find_channels(struct trace_source *source, source_channel_fn *fn, void *context,
			 struct why *ret_why)
{
	int r = 0;

	(void)source;
	(void)ret_why;
	while (r == 0 && tap.told < tap.cpus) {
		struct log_channel id = {.cpu = tap.told++, .kind = LOG_RELAY_RECORDS};

		r = fn(context, &id, -1);
	}
	return r;
}

static ssize_t read_tap(struct trace_source *source, struct channel *channel, void *room,
			size_t size, enum read_mode mode)
{
	_Atomic uint64_t *left = &tap.bytes[channel->id.cpu];
	size_t n = *left < size ? *left : size;

	(void)source;
	(void)mode;
	tap.reads++;
	if (tap.error)
		return tap.error;
	memset(room, (int)channel->id.cpu + 1, n);
	*left -= n;
	return (ssize_t)n;
}

static struct sysroot root;
static const struct trace_source_ops ops = {.name = "tap",
					    .read_unit = 1,
					    .find_channels = find_channels,
					    .read = read_tap};

static void init(void)
{
	cr_assert_eq(sysroot_open(&root, NULL), 0);
	tap = (struct tap){.source = {.ops = &ops, .kernel = &kernel_linux, .root = &root},
			   .cpus = 2};
	cr_assert_eq(ring_sleep_init(&collector), 0);
	shared = (struct reader_shared){
		.source = &tap.source,
		.phase = PHASE_RECORDING,
		.idle_ms = 5,
		.collector_sleep = &collector,
		.wake_bytes = RING_BYTES / 2,
	};
	memory_sink_init(&sink);
	intake_init(&intake, &shared, RING_BYTES);
}

static void deinit(void)
{
	atomic_store(&shared.phase, PHASE_ABORTED);
	intake_kick(&intake);
	intake_deinit(&intake);
	sysroot_close(&root);
	memory_sink_deinit(&sink);
	ring_sleep_deinit(&collector);
}

TestSuite(intake, .init = init, .fini = deinit, .timeout = 30);

static void find(void)
{
	bool sink_failed = false;

	cr_assert_eq(intake_find_channels(&intake, &sink.ops, &sink_failed, &why), 0, "%s",
		     why.text);
}

static size_t take_all(struct channel *channel)
{
	size_t sum = 0, n;

	for (;;) {
		const uint8_t *bytes = ring_peek(&channel->ring, &n);

		if (!n)
			return sum;
		for (size_t i = 0; i < n; i++)
			cr_assert_eq(bytes[i], channel->id.cpu + 1);
		ring_release(&channel->ring, n);
		sum += n;
	}
}

Test(intake, each_cpu_has_its_reader_and_each_channel_its_number)
{
	find();
	cr_assert_eq(intake.n_channels, 2);
	cr_assert_eq(intake.n_readers, 2);
	cr_assert_eq(sink.n_channels, 2);
	tap.cpus = 3;
	find();
	cr_assert_eq(intake.n_channels, 3);
	cr_assert_eq(intake.n_readers, 3);
	cr_assert_eq(intake.channels[2]->id.channel, 2);
	find();
	cr_assert_eq(sink.n_channels, 3, "nothing new, nothing told");
}

Test(intake, after_settling_what_was_there_is_in_the_rings)
{
	find();
	tap.bytes[0] = 1000;
	tap.bytes[1] = 7;
	intake_settle(&intake, PATIENCE_MS);
	cr_assert_eq(take_all(intake.channels[0]), 1000);
	cr_assert_eq(take_all(intake.channels[1]), 7);
}

Test(intake, settling_does_not_wait_for_a_reader_that_ended)
{
	find();
	tap.error = -EIO;
	intake_settle(&intake, PATIENCE_MS);
	for (int i = 0; i < PATIENCE_MS && !intake_ended(&intake); i++)
		usleep(1000);
	cr_assert(intake_ended(&intake));
	cr_assert(atomic_load(&intake.channels[0]->gone));
	intake_settle(&intake, INT32_MAX);
}

Test(intake, a_full_ring_is_not_read_on_and_nothing_is_lost)
{
	size_t sum;

	find();
	tap.bytes[0] = 3 * RING_BYTES + 5;
	intake_settle(&intake, PATIENCE_MS);
	cr_assert_eq(tap.bytes[0], 2 * RING_BYTES + 5);
	cr_assert_eq(ring_filled(&intake.channels[0]->ring), RING_BYTES);
	cr_assert_gt(intake.channels[0]->full_waits, 0);
	sum = take_all(intake.channels[0]);
	for (int i = 0; i < PATIENCE_MS && sum < 3 * RING_BYTES + 5; i++) {
		ring_wake(intake.channels[0]->reader_sleep);
		usleep(1000);
		sum += take_all(intake.channels[0]);
	}
	cr_assert_eq(sum, 3 * RING_BYTES + 5);
}

Test(intake, after_stop_readers_end_when_all_is_read)
{
	find();
	tap.bytes[1] = 100;
	atomic_store(&shared.phase, PHASE_STOPPED);
	intake_kick(&intake);
	intake_join(&intake);
	cr_assert(intake_ended(&intake));
	cr_assert_eq(take_all(intake.channels[1]), 100);
	cr_assert_geq(intake.channels[0]->empty_reads, 2, "one empty look is not enough");
}

Test(intake, when_nobody_takes_the_bytes_readers_end_at_once)
{
	find();
	tap.bytes[0] = 100 * RING_BYTES;
	atomic_store(&shared.phase, PHASE_ABORTED);
	intake_kick(&intake);
	intake_join(&intake);
	cr_assert(intake_ended(&intake));
	cr_assert_gt(tap.bytes[0], 90 * RING_BYTES);
}

Test(intake, the_collector_is_woken_when_enough_has_come)
{
	struct pollfd news = {.fd = collector.fd, .events = POLLIN};

	find();
	ring_sleep_prepare(&collector);
	tap.bytes[0] = RING_BYTES / 2 - 1;
	intake_settle(&intake, PATIENCE_MS);
	cr_assert_eq(poll(&news, 1, 0), 0, "too little to wake somebody for");
	tap.bytes[0] = 1;
	intake_settle(&intake, PATIENCE_MS);
	cr_assert_eq(poll(&news, 1, PATIENCE_MS), 1);
}
