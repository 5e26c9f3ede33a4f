/* SPDX-License-Identifier: MIT */
/*
 * Whole recordings while two CPUs of two devices write as fast as they can, CPUs come online and
 * the loss counter moves, stopped at random moments. What was written is what arrives.
 */
#include "session.h"

#include "fake_kernel.h"
#include "memory_sink.h"

#include <criterion/criterion.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

enum {
	ROUNDS = 12,
	TIME_LIMIT_S = 580,
	CPUS = 2,
	DEVICES = 2
};

static const char *const names[DEVICES] = {"sda", "sdb"};

/* One CPU's writer. */
struct writer {
	struct fake_kernel *kernel;
	unsigned cpu;
	unsigned seed;
	atomic_bool stop;
	uint64_t written[DEVICES];
	pthread_t thread;
};

static void *write_events(void *argument)
{
	struct writer *writer = argument;
	unsigned char bytes[8192];

	while (!atomic_load(&writer->stop)) {
		unsigned device = (unsigned)rand_r(&writer->seed) % DEVICES;
		size_t n = (size_t)rand_r(&writer->seed) % sizeof(bytes) + 1;

		for (size_t i = 0; i < n; i++)
			bytes[i] = (unsigned char)((writer->written[device] + i) % 251);
		fake_kernel_emit(writer->kernel, names[device], writer->cpu, bytes, n);
		writer->written[device] += n;
		usleep((unsigned)rand_r(&writer->seed) % 1000);
	}
	return NULL;
}

static void check_channel(const struct memory_sink *sink, unsigned device, unsigned cpu,
			  uint64_t written)
{
	const struct memory_channel *channel = memory_sink_channel(sink, device, cpu);

	cr_assert_not_null(channel);
	if (channel->size != written)
		fprintf(stderr, "device %u, CPU %u: %zu of %llu bytes\n", device, cpu,
			channel->size, (unsigned long long)written);
	cr_assert_eq(channel->size, written);
	for (size_t i = 0; i < channel->size; i++)
		cr_assert_eq(channel->bytes[i], i % 251);
}

static void prepare(struct fake_kernel *kernel, struct fake_tree *tree)
{
	fake_tree_init(tree);
	fake_kernel_init(kernel, tree);
	fake_tree_disk(tree, "sda", 8, 0, 1 << 20);
	fake_tree_disk(tree, "sdb", 8, 16, 1 << 20);
}

static void record_once(unsigned seed, bool live)
{
	struct fake_tree tree;
	struct fake_kernel kernel;
	struct memory_sink sink;
	struct session *session;
	struct session_report report;
	struct writer writers[CPUS];
	struct why why = {""};
	char sda[] = "sda", sdb[] = "sdb";
	char *devices[] = {sda, sdb};
	struct session_options options = {
		.devices = devices,
		.n_devices = DEVICES,
		.source = SOURCE_RELAY,
		.ring_bytes = 16384,
		.live = live,
		.root = &tree.root,
		.kernel = &kernel.ops,
	};

	prepare(&kernel, &tree);
	memory_sink_init(&sink);
	sink.data_delay_us = (unsigned)rand_r(&seed) % 300;
	cr_assert_eq(session_open(&options, &session, &why), 0);
	cr_assert_eq(session_start(session, &sink.ops, &why), 0);
	for (unsigned cpu = 0; cpu < CPUS; cpu++) {
		writers[cpu] = (struct writer){.kernel = &kernel, .cpu = cpu, .seed = seed + cpu};
		cr_assert_eq(pthread_create(&writers[cpu].thread, NULL, write_events,
					    &writers[cpu]),
			     0);
	}
	usleep((unsigned)rand_r(&seed) % 700000);
	fake_kernel_set_dropped(&kernel, "sda", 3);
	fake_tree_write(&tree, FAKE_DEBUGFS "/block/sdb/trace9", "");
	usleep((unsigned)rand_r(&seed) % 700000);
	for (unsigned cpu = 0; cpu < CPUS; cpu++) {
		atomic_store(&writers[cpu].stop, true);
		pthread_join(writers[cpu].thread, NULL);
	}
	cr_assert_eq(session_stop(session, LOG_END_SIGNAL, &report, &why), 0);
	for (size_t i = 0; i < report.remarks->n; i++)
		fprintf(stderr, "%s\n", report.remarks->text[i].text);
	cr_assert_eq(report.dropped, 3);
	for (unsigned cpu = 0; cpu < CPUS; cpu++) {
		for (unsigned device = 0; device < DEVICES; device++)
			check_channel(&sink, device, cpu, writers[cpu].written[device]);
	}
	session_destroy(session);
	memory_sink_deinit(&sink);
	fake_kernel_deinit(&kernel);
	fake_tree_remove(&tree, FAKE_DEBUGFS "/block/sdb/trace9");
	fake_tree_deinit(&tree);
}

int main(void)
{
	unsigned passed = 0;

	alarm(TIME_LIMIT_S);
	for (unsigned round = 0; round < ROUNDS; round++, passed++)
		record_once(1000 * round + 1, round % 5 == 4);
	printf("session: %u passed, 0 failed\n", passed);
	return 0;
}
