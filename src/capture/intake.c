/* SPDX-License-Identifier: MIT */
#include "intake.h"

#include "cleanup.h"
#include "clock.h"

#include <string.h>

void intake_init(struct intake *intake, struct reader_shared *shared, size_t ring_bytes)
{
	*intake = (struct intake){
		.shared = shared,
		.ring_bytes = ring_bytes,
		.readers_lock = PTHREAD_MUTEX_INITIALIZER,
	};
}

void intake_deinit(struct intake *intake)
{
	for (size_t i = 0; i < intake->n_readers; i++)
		reader_destroy(intake->readers[i]);
	for (size_t i = 0; i < intake->n_channels; i++)
		channel_destroy(intake->channels[i]);
	free(intake->readers);
	free(intake->channels);
	pthread_mutex_destroy(&intake->readers_lock);
}

static int add_channel(void *context, const struct log_channel *found, int fd_)
{
	_cleanup_close_ int fd = fd_;
	struct intake *intake = context;
	struct log_channel id = *found;
	struct channel **more =
		reallocarray(intake->channels, intake->n_channels + 1, sizeof(struct channel *));
	int r;

	if (!more)
		return -ENOMEM;
	intake->channels = more;
	id.channel = (uint32_t)intake->n_channels;
	r = channel_adopt_create(&id, take_fd(&fd), intake->ring_bytes, &more[intake->n_channels]);
	if (r < 0)
		return r;
	intake->n_channels++;
	return 0;
}

static int by_cpu(const void *a_, const void *b_)
{
	const struct channel *const *a = a_, *const *b = b_;

	if ((*a)->id.cpu != (*b)->id.cpu)
		return (*a)->id.cpu < (*b)->id.cpu ? -1 : 1;
	return (*a)->id.channel < (*b)->id.channel ? -1 : 1;
}

static int start_reader(struct intake *intake, struct channel **channels, size_t n)
{
	struct reader **more;
	struct reader *reader;
	int r;

	pthread_mutex_lock(&intake->readers_lock);
	more = reallocarray(intake->readers, intake->n_readers + 1, sizeof(*more));
	if (more)
		intake->readers = more;
	pthread_mutex_unlock(&intake->readers_lock);
	if (!more)
		return -ENOMEM;
	r = reader_start(intake->shared, channels, n, &reader);
	if (r < 0)
		return r;
	pthread_mutex_lock(&intake->readers_lock);
	intake->readers[intake->n_readers++] = reader;
	pthread_mutex_unlock(&intake->readers_lock);
	return 0;
}

/* One thread for each CPU among the new channels, whatever number of devices it has. */
static int start_readers(struct intake *intake, size_t first)
{
	size_t n = intake->n_channels - first;
	_cleanup_free_ struct channel **sorted = calloc(n + 1, sizeof(struct channel *));
	size_t from = 0;

	if (!sorted)
		return -ENOMEM;
	memcpy(sorted, intake->channels + first, n * sizeof(*sorted));
	qsort(sorted, n, sizeof(*sorted), by_cpu);
	for (size_t i = 1; i <= n; i++) {
		int r;

		if (i < n && sorted[i]->id.cpu == sorted[from]->id.cpu)
			continue;
		r = start_reader(intake, sorted + from, i - from);
		if (r < 0)
			return r;
		from = i;
	}
	return 0;
}

static int announce_channels(struct intake *intake, size_t first, const struct span_sink *sink,
			     struct why *why)
{
	size_t n = intake->n_channels - first;
	_cleanup_free_ struct log_channel *ids = calloc(n + 1, sizeof(*ids));

	if (!ids)
		return why_errno(why, -ENOMEM, "cannot take up the trace channels");
	for (size_t i = 0; i < n; i++)
		ids[i] = intake->channels[first + i]->id;
	if (!sink->channels)
		return 0;
	return sink->channels(sink->context, ids, n, why);
}

/* Nobody was told of these: as if they had not been found. */
static void forget_channels(struct intake *intake, size_t first)
{
	while (intake->n_channels > first)
		channel_destroy(intake->channels[--intake->n_channels]);
}

int intake_find_channels(struct intake *intake, const struct span_sink *sink, bool *ret_sink_failed,
			 struct why *why)
{
	struct trace_source *source = intake->shared->source;
	size_t first = intake->n_channels;
	int r, taken = 0;

	if (why)
		why->text[0] = '\0';
	r = source->ops->find_channels(source, add_channel, intake, why);
	if (intake->n_channels > first) {
		taken = announce_channels(intake, first, sink, r < 0 ? NULL : why);
		if (taken < 0) {
			forget_channels(intake, first);
			*ret_sink_failed = true;
		} else {
			taken = start_readers(intake, first);
		}
	}
	if (r >= 0)
		r = taken;
	if (r < 0 && why && !why->text[0])
		why_errno(why, r, "cannot read the trace channels");
	return r;
}

void intake_settle(struct intake *intake, int timeout_ms)
{
	uint64_t deadline_ns = clock_mono_ns() + (uint64_t)timeout_ms * NS_PER_MS;

	pthread_mutex_lock(&intake->readers_lock);
	for (size_t i = 0; i < intake->n_readers; i++) {
		struct reader *reader = intake->readers[i];
		/* The pass that runs now may be past the channel; the one after it is not. */
		uint64_t enough = reader_passes(reader) + 2;

		while (reader_passes(reader) < enough && !reader_ended(reader) &&
		       clock_mono_ns() < deadline_ns) {
			reader_kick(reader);
			poll(NULL, 0, 1);
		}
	}
	pthread_mutex_unlock(&intake->readers_lock);
}

void intake_kick(struct intake *intake)
{
	pthread_mutex_lock(&intake->readers_lock);
	for (size_t i = 0; i < intake->n_readers; i++)
		reader_kick(intake->readers[i]);
	pthread_mutex_unlock(&intake->readers_lock);
}

/* Its reader has ended. */
static void finish_channel(const struct intake *intake, struct channel *channel)
{
	struct trace_source *source = intake->shared->source;

	if (source->ops->produced && channel->fd >= 0)
		source->ops->produced(source, channel, &channel->produced_bytes);
	channel_close(channel);
}

void intake_join(struct intake *intake)
{
	for (size_t i = 0; i < intake->n_readers; i++)
		reader_join(intake->readers[i]);
	/* The kernel does not let go of its trace buffer while somebody may read it. */
	for (size_t i = 0; i < intake->n_channels; i++)
		finish_channel(intake, intake->channels[i]);
}

bool intake_ended(const struct intake *intake)
{
	for (size_t i = 0; i < intake->n_readers; i++) {
		if (!reader_ended(intake->readers[i]))
			return false;
	}
	return true;
}
