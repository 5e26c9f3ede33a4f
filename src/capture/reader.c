/* SPDX-License-Identifier: MIT */
#include "reader.h"

#include "cleanup.h"
#include "clock.h"
#include "cpus.h"

#include <sched.h>
#include <string.h>

enum {
	READER_REST_MS = 2
}; /* between the two looks at a channel after STOP */

struct reader {
	struct reader_shared *shared;
	struct channel **channels;
	size_t n;
	struct pollfd *polls; /* [0] the eventfd, then one for each channel */
	struct ring_sleep sleep;
	pthread_t thread;
	bool running;
	bool pinned; /* to its CPU */
	_Atomic uint64_t passes;
	atomic_bool ended;
};

/* What one pass over the channels found. */
struct pass {
	bool moved;    /* bytes came */
	bool finished; /* all channels are drained for good */
};

static enum phase current_phase(const struct reader *reader)
{
	/* Acquire pairs with the release in the session: STOP came before. */
	return (enum phase)atomic_load_explicit(&reader->shared->phase, memory_order_acquire);
}

/* After STOP a channel is empty when read() said so twice in a row: a late record may follow. */
static void note_empty(struct channel *channel, enum read_mode mode)
{
	if (mode == READ_REST && ++channel->empty_reads >= 2)
		channel->finished = true;
}

/* Reads until the channel is empty or its ring full. Returns true if bytes came. */
static bool drain(struct reader *reader, struct channel *channel, enum read_mode mode)
{
	struct trace_source *source = reader->shared->source;
	bool moved = false;

	for (;;) {
		size_t room;
		uint8_t *at = ring_room(&channel->ring, &room);
		ssize_t n;

		if (room < source->ops->read_unit)
			return moved;
		n = source->ops->read(source, channel, at, room, mode);
		if (n == 0) {
			note_empty(channel, mode);
			return moved;
		}
		if (n < 0) {
			/* The kernel took it away; check() finds out why. */
			atomic_store_explicit(&channel->gone, true, memory_order_relaxed);
			channel->finished = true;
			return moved;
		}
		channel->empty_reads = 0;
		ring_commit(&channel->ring, (size_t)n);
		moved = true;
		if (ring_filled(&channel->ring) >= reader->shared->wake_bytes)
			ring_wake(reader->shared->collector_sleep);
	}
}

static bool is_full(const struct reader *reader, struct channel *channel)
{
	size_t room;

	ring_room(&channel->ring, &room);
	return room < reader->shared->source->ops->read_unit;
}

static bool is_offline(const struct reader *reader, uint32_t cpu)
{
	_cleanup_(cpus_deinit) struct cpus online = {0};

	return cpus_online(reader->shared->source->root, &online) == 0 &&
	       !cpus_contain(&online, cpu);
}

/*
 * Only on the channel's own CPU are its unfinished sub-buffers whole. And a reader elsewhere can
 * look just when the writer has finished the last free sub-buffer but not yet said that it is full:
 * the kernel then takes the oldest one for overwritten and skips it, uncounted. A thread is moved
 * away when its CPU goes offline, and must go back by itself.
 */
static enum read_mode reading_mode(struct reader *reader, enum phase phase)
{
	enum read_mode on_cpu = reader->shared->live ? READ_LIVE : READ_FINISHED;
	uint32_t cpu = reader->channels[0]->id.cpu;
	size_t bytes = CPU_ALLOC_SIZE(cpu + 1);
	cpu_set_t *set;
	bool offline;

	if (phase == PHASE_STOPPED)
		return READ_REST;
	if (reader->shared->source->ops->any_cpu)
		return on_cpu;
	/* Merely to be there is not enough: the scheduler could move us in the middle of a read. */
	if (reader->pinned && sched_getcpu() == (int)cpu)
		return on_cpu;
	set = CPU_ALLOC(cpu + 1);
	if (!set)
		return READ_FINISHED;
	CPU_ZERO_S(bytes, set);
	CPU_SET_S(cpu, bytes, set);
	/* On a CPU that is offline nobody writes. EINVAL may also come from a cpuset. */
	reader->pinned = sched_setaffinity(0, bytes, set) == 0;
	offline = !reader->pinned && errno == EINVAL && is_offline(reader, cpu);
	CPU_FREE(set);
	return offline || reader->pinned ? on_cpu : READ_FINISHED;
}

static struct pass pass_over(struct reader *reader, enum phase phase)
{
	enum read_mode common_mode = reading_mode(reader, phase);
	struct pass pass = {.finished = true};

	for (size_t i = 0; i < reader->n; i++) {
		struct channel *channel = reader->channels[i];
		enum read_mode mode = channel->hung_up ? READ_REST : common_mode;

		if (channel->finished)
			continue;
		channel->pass_ns = clock_mono_ns();
		if (drain(reader, channel, mode))
			pass.moved = true;
		if (mode == READ_LIVE && !is_full(reader, channel))
			/* Release: whoever sees the time sees the bytes in the ring. */
			atomic_store_explicit(&channel->complete_until_ns, channel->pass_ns,
					      memory_order_release);
		pass.finished &= channel->finished;
	}
	atomic_fetch_add_explicit(&reader->passes, 1, memory_order_release);
	return pass;
}

/* Fills the poll set: our eventfd, and the channels that can be read and have room. */
static void fill_polls(struct reader *reader, bool with_channels)
{
	reader->polls[0] = (struct pollfd){.fd = reader->sleep.fd, .events = POLLIN};
	for (size_t i = 0; i < reader->n; i++) {
		struct channel *channel = reader->channels[i];
		bool full = is_full(reader, channel);
		bool ask = with_channels && !full && !channel->finished;

		/* A full ring's channel is not polled: the collector wakes us. */
		reader->polls[i + 1] = (struct pollfd){
			.fd = ask ? channel->fd : -1,
			.events = POLLIN,
		};
		if (full)
			atomic_fetch_add_explicit(&channel->full_waits, 1, memory_order_relaxed);
	}
}

/*
 * Sleeps until the kernel has data, the collector made room, or somebody kicks us.
 *
 * @phase: that the last pass saw
 * @fruitless: the kernel said "data" but gave none: a sub-buffer that finished empty (somebody
 * stopped the trace) stays readable, and asking again at once would spin
 */
static void wait_for_news(struct reader *reader, enum phase phase, bool fruitless)
{
	const struct reader_shared *shared = reader->shared;
	const struct kernel_ops *kernel = shared->source->kernel;
	int timeout_ms = shared->live || fruitless ? READER_LIVE_MS : shared->idle_ms;

	if (phase == PHASE_STOPPED)
		timeout_ms = READER_REST_MS;
	ring_sleep_prepare(&reader->sleep);
	/* The second look, after saying that we sleep: at the rings and at the phase. */
	fill_polls(reader, !shared->live && !fruitless && phase == PHASE_RECORDING);
	if (current_phase(reader) != phase)
		timeout_ms = 0;
	kernel->poll(kernel->context, reader->polls, (nfds_t)(reader->n + 1), timeout_ms);
	ring_sleep_done(&reader->sleep);
}

/*
 * A trace that is torn down hangs up. Only a read tells that it is gone, and the next pass must not
 * spare it because the size of the file says that there is nothing new.
 */
static bool kernel_said_data(struct reader *reader)
{
	bool said_data = false;

	for (size_t i = 0; i < reader->n; i++) {
		const struct pollfd *poll = &reader->polls[i + 1];

		if (poll->fd < 0 || !poll->revents)
			continue;
		said_data = true;
		if (poll->revents & POLLHUP)
			reader->channels[i]->hung_up = true;
	}
	return said_data;
}

static void *reader_main(void *argument)
{
	struct reader *reader = argument;
	bool said_data = false;

	for (;;) {
		enum phase phase = current_phase(reader);
		struct pass pass;

		if (phase == PHASE_ABORTED)
			break;
		pass = pass_over(reader, phase);
		if (pass.finished)
			break;
		/*
		 * Also after bytes came: what is there by now makes poll() return at once, and a
		 * kernel that waits until there is more of it is not asked for every bit.
		 */
		wait_for_news(reader, phase, said_data && !pass.moved);
		said_data = kernel_said_data(reader);
	}
	/* Release pairs with the acquire in reader_ended(): all our bytes are in the rings. */
	atomic_store_explicit(&reader->ended, true, memory_order_release);
	ring_wake_always(reader->shared->collector_sleep);
	return NULL;
}

int reader_start(struct reader_shared *shared, struct channel **channels, size_t n,
		 struct reader **ret)
{
	struct reader *reader = NULL;
	char name[16];
	int r;

	if (posix_memalign((void **)&reader, RING_CACHE_LINE, sizeof(*reader)))
		return -ENOMEM;
	*reader = (struct reader){.shared = shared, .n = n, .sleep = {.fd = -1}};
	r = ring_sleep_init(&reader->sleep);
	reader->channels = calloc(n, sizeof(*reader->channels));
	reader->polls = calloc(n + 1, sizeof(*reader->polls));
	if (r >= 0 && (!reader->channels || !reader->polls))
		r = -ENOMEM;
	if (r >= 0) {
		memcpy(reader->channels, channels, n * sizeof(*channels));
		for (size_t i = 0; i < n; i++)
			channels[i]->reader_sleep = &reader->sleep;
		r = -pthread_create(&reader->thread, NULL, reader_main, reader);
	}
	if (r < 0) {
		reader_destroy(reader);
		return r;
	}
	reader->running = true;
	snprintf(name, sizeof(name), "blkbox-cpu%u", channels[0]->id.cpu % 100000);
	pthread_setname_np(reader->thread, name);
	*ret = reader;
	return 0;
}

void reader_join(struct reader *reader)
{
	if (!reader->running)
		return;
	pthread_join(reader->thread, NULL);
	reader->running = false;
}

void reader_destroy(struct reader *reader)
{
	if (!reader)
		return;
	reader_join(reader);
	for (size_t i = 0; reader->channels && i < reader->n; i++) {
		if (reader->channels[i])
			reader->channels[i]->reader_sleep = NULL;
	}
	ring_sleep_deinit(&reader->sleep);
	free(reader->channels);
	free(reader->polls);
	free(reader);
}

void reader_kick(struct reader *reader)
{
	ring_wake_always(&reader->sleep);
}

uint64_t reader_passes(const struct reader *reader)
{
	return atomic_load_explicit(&reader->passes, memory_order_acquire);
}

bool reader_ended(const struct reader *reader)
{
	return atomic_load_explicit(&reader->ended, memory_order_acquire);
}
