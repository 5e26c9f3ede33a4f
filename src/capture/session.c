/* SPDX-License-Identifier: MIT */
#include "session.h"

#include "budget.h"
#include "cleanup.h"
#include "clock.h"
#include "cpus.h"
#include "flush.h"
#include "session_parts.h"

#include <signal.h>
#include <string.h>

enum {
	SETTLE_MS = 2000,	/* at most, for the readers to fetch what is finished */
	DEVICE_DESCRIPTORS = 3, /* node, directory, loss counter */
	OWN_DESCRIPTORS = 24,	/* output, timers, eventfds, signals, what the caller has */
	IDLE_WAKES_MS =
		1000, /* between two wake-ups of a reader on an idle machine, for each CPU */
};

static int copy_options(struct session *session, const struct session_options *options,
			struct why *why)
{
	session->trace = options->trace;
	session->kernel = options->kernel ? options->kernel : &kernel_linux;
	session->kind = options->source;
	session->takeover = options->takeover;
	session->shared.live = options->live;
	if (options->meta_bytes) {
		session->meta = malloc(options->meta_bytes);
		if (!session->meta)
			return why_errno(why, -ENOMEM, "cannot start a recording");
		memcpy(session->meta, options->meta, options->meta_bytes);
		session->meta_bytes = options->meta_bytes;
	}
	if (options->root) {
		session->root = options->root;
		return 0;
	}
	session->root = &session->own_root;
	return sysroot_open(&session->own_root, NULL);
}

static int resolve_devices(struct session *session, const struct session_options *options,
			   struct why *why)
{
	session->devices = calloc(options->n_devices, sizeof(*session->devices));
	session->log_devices = calloc(options->n_devices, sizeof(*session->log_devices));
	if (!session->devices || !session->log_devices)
		return why_errno(why, -ENOMEM, "cannot start a recording");
	session->n_devices = options->n_devices;
	return devices_resolve(session->root, options->devices, options->n_devices,
			       session->devices, why);
}

static int plan_memory(struct session *session, const struct session_options *options,
		       struct why *why)
{
	struct budget_request request = {
		.sub_buffer_bytes = options->trace.buffer_bytes,
		.sub_buffers = options->trace.buffer_count,
		.ring_bytes = options->ring_bytes,
		.devices = session->n_devices,
		.force = options->force,
	};
	_cleanup_(cpus_deinit) struct cpus online = {0};
	struct budget budget;
	int r = cpus_online(session->root, &online);

	if (r < 0)
		return why_errno(why, r, "cannot find out which CPUs are online");
	request.cpus = online.n;
	r = memory_available(session->root, &request.available_bytes, why);
	if (r >= 0)
		r = budget_plan(&request, &budget, why);
	if (r < 0)
		return r;
	session->trace.buffer_bytes = budget.sub_buffer_bytes;
	session->trace.buffer_count = budget.sub_buffers;
	session->ring_bytes = budget.ring_bytes;
	return descriptors_reserve(session->n_devices * (online.n + DEVICE_DESCRIPTORS) +
					   OWN_DESCRIPTORS + online.n,
				   why);
}

int session_open(const struct session_options *options, struct session **ret, struct why *why)
{
	struct session *session = calloc(1, sizeof(*session));
	int r;

	if (!session)
		return why_errno(why, -ENOMEM, "cannot start a recording");
	session->own_root.fd = -1;
	session->news.fd = -1;
	r = news_init(&session->news);
	if (r < 0)
		why_errno(why, r, "cannot start a recording");
	else
		r = copy_options(session, options, why);
	if (r >= 0)
		r = resolve_devices(session, options, why);
	if (r >= 0)
		r = plan_memory(session, options, why);
	if (r < 0) {
		session_destroy(session);
		return r;
	}
	*ret = session;
	return 0;
}

static void describe_devices(struct session *session)
{
	for (size_t i = 0; i < session->n_devices; i++) {
		const struct block_device *device = &session->devices[i];

		session->log_devices[i] = (struct log_device){
			.index = (uint32_t)i,
			.device = device->device,
			.flags = device->partition ? LOG_DEVICE_PARTITION : 0,
			.disk = device->disk,
			.start_sector = device->start_sector,
			.sectors = device->sectors,
		};
	}
}

/* Idle readers together wake about once a second, however many they are. */
static int idle_ms(void)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);

	return (int)(cpus < 1 ? 1 : cpus > 60 ? 60 : cpus) * IDLE_WAKES_MS;
}

/* Whose traces these are. That it cannot be noted is told, but no reason not to record. */
static void note_state(void *context)
{
	struct session *session = context;
	struct why unwritten = {""};

	if (session_write_state(session, &unwritten) < 0 && !session->notice.text[0])
		session->notice = unwritten;
}

/* While somebody is there who does it if we are killed on the way. */
static void forget_state(void *context)
{
	session_remove_state(context);
}

static int create_source(struct session *session, struct why *why)
{
	struct trace_source *source = NULL;
	int r = session_choose_source(session, &source, why);

	if (r < 0)
		return r;
	r = drop_tracker_init(&source->drops);
	if (r < 0) {
		source->ops->destroy(source);
		return r;
	}
	session->source = source;
	source->kernel = session->kernel;
	source->root = session->root;
	source->options = session->trace;
	source->devices = session->devices;
	source->log_devices = session->log_devices;
	source->n_devices = session->n_devices;
	source->rescue = session->sink->rescue;
	source->news = &session->news;
	/* On disk before the first set-up: whoever finds the trace later can tell whose it was. And
	 * not before the guardian, who takes it away. */
	source->guarded = note_state;
	source->unguarding = forget_state;
	source->guarded_context = session;
	session->shared.source = source;
	session->shared.idle_ms = idle_ms();
	return 0;
}

static int announce(struct session *session, struct why *why)
{
	const struct span_sink *sink = session->sink;
	int r = 0;

	if (sink->meta)
		r = session_write_meta(session, why);
	if (r >= 0 && sink->devices)
		r = sink->devices(sink->context, session->log_devices, session->n_devices, why);
	if (r >= 0 && sink->clock)
		r = sink->clock(sink->context, why);
	return r;
}

/* Kernel set-up, channels, readers, collector: all there before the first event is made. */
static int start_parts(struct session *session, struct why *why)
{
	struct trace_source *source = session->source;
	int r = source->ops->setup(source, why);

	if (r < 0)
		return r;
	session->set_up = true;
	/* Pages of the kernel's trace buffer may have been made larger than usual. */
	if (session->ring_bytes < source->ops->read_unit)
		session->ring_bytes = source->ops->read_unit;
	/* Again: the protocol is known, and whoever was named as the owner is so no more. */
	note_state(session);
	r = collector_create(&session->shared, session->sink, session->ring_bytes,
			     &session->collector);
	if (r < 0)
		return why_errno(why, r, "cannot start a recording");
	r = announce(session, why);
	if (r >= 0)
		r = collector_find_channels(session->collector, why);
	if (r >= 0)
		r = collector_start(session->collector, why);
	if (r < 0)
		return r;
	session->started_ns = clock_mono_ns();
	r = source->ops->start(source, why);
	/* After the start: what is counted before it has no events. */
	session_count_ios(session, session->ios_before);
	return r;
}

static void set_phase(struct session *session, enum phase phase)
{
	int recording = PHASE_RECORDING;

	/* Release pairs with the acquires in readers and collector. ABORTED is final. */
	if (phase == PHASE_ABORTED)
		atomic_store_explicit(&session->shared.phase, PHASE_ABORTED, memory_order_release);
	else
		atomic_compare_exchange_strong_explicit(&session->shared.phase, &recording,
							(int)phase, memory_order_release,
							memory_order_relaxed);
	if (session->collector)
		collector_kick(session->collector);
}

/* Leaves nothing in the kernel; what was not read is lost. */
static void abort_session(struct session *session)
{
	struct trace_source *source = session->source;

	set_phase(session, PHASE_ABORTED);
	if (session->collector)
		collector_join(session->collector);
	if (session->set_up)
		source->ops->teardown(source, NULL);
	session->set_up = false;
	session->started = false;
	session_remove_state(session);
}

int session_start(struct session *session, const struct span_sink *sink, struct why *why)
{
	sigset_t all, before;
	int r;

	session->sink = sink;
	describe_devices(session);
	session->ios_before = calloc(session->n_devices, sizeof(uint64_t));
	session->ios_after = calloc(session->n_devices, sizeof(uint64_t));
	if (!session->ios_before || !session->ios_after)
		return why_errno(why, -ENOMEM, "cannot start a recording");
	r = create_source(session, why);
	if (r < 0)
		return r;
	session_mark_own_writes(session);
	/* Signals are the business of the caller's thread. */
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &before);
	r = start_parts(session, why);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (!session->notice.text[0])
		session->notice = session->source->notice;
	if (r < 0) {
		abort_session(session);
		return r;
	}
	session->started = true;
	return 0;
}

static int finish_sink(struct session *session, enum log_end_reason reason, struct why *why)
{
	const struct span_sink *sink = session->sink;
	int r = collector_write_drops(session->collector, why);

	if (r >= 0)
		r = collector_write_names(session->collector, true, why);
	if (r >= 0)
		r = session_write_end_meta(session, why);
	if (r >= 0 && sink->clock)
		r = sink->clock(sink->context, why);
	if (r >= 0 && sink->finish)
		r = sink->finish(sink->context, reason, why);
	return r;
}

/*
 * The one place where a recording ends. STOP comes before the last drain, because it completes the
 * unfinished sub-buffers; everything is read before TEARDOWN, because it vanishes with it.
 */
int session_stop(struct session *session, enum log_end_reason reason, struct session_report *ret,
		 struct why *why)
{
	struct trace_source *source = session->source;
	struct why stop_why = {""};
	struct why audit_why = {""};
	int stop_result, failure, r;
	bool told;

	if (collector_end_reason(session->collector))
		reason = collector_end_reason(session->collector);
	session_count_ios(session, session->ios_after);
	collector_settle(session->collector, SETTLE_MS);
	source->ops->sample_drops(source, false);
	stop_result = source->ops->stop(source, &stop_why);
	session->stopped_ns = clock_mono_ns();
	told = reason == LOG_END_FOREIGN;
	if (stop_result == SOURCE_DISTURBED)
		reason = LOG_END_FOREIGN;
	set_phase(session, PHASE_STOPPED);
	collector_join(session->collector);
	source->ops->sample_drops(source, true);
	/* Pages were left behind if the output failed: that is told already. */
	if (collector_failure(session->collector, NULL) >= 0)
		session_audit(session, &audit_why);

	failure = collector_failure(session->collector, why);
	if (failure >= 0)
		failure = finish_sink(session, reason, why);
	if (failure < 0) {
		reason = LOG_END_FAILURE;
		collector_discount(session->collector);
	}
	r = source->ops->teardown(source, failure >= 0 ? why : NULL);
	session->set_up = false;
	session->started = false;
	session_remove_state(session);
	session_make_report(session, reason, failure, stop_result && !told ? &stop_why : NULL,
			    audit_why.text[0] ? &audit_why : NULL, ret);
	return failure < 0 ? failure : r;
}

void session_destroy(struct session *session)
{
	if (!session)
		return;
	if (session->started)
		abort_session(session);
	collector_destroy(session->collector);
	if (session->source) {
		drop_tracker_deinit(&session->source->drops);
		session->source->ops->destroy(session->source);
	}
	sysroot_close(&session->own_root);
	session_free_report(session);
	free(session->devices);
	free(session->log_devices);
	free(session->ios_before);
	free(session->ios_after);
	free(session->meta);
	news_deinit(&session->news);
	free(session);
}

int session_event_fd(const struct session *session)
{
	return collector_event_fd(session->collector);
}

void session_progress(const struct session *session, struct progress *ret)
{
	collector_progress(session->collector, ret);
}

size_t session_devices(const struct session *session, const struct block_device **ret)
{
	*ret = session->devices;
	return session->n_devices;
}

const struct trace_options *session_trace_options(const struct session *session)
{
	return &session->trace;
}

const char *session_source_name(const struct session *session)
{
	return session->source->ops->name;
}

const char *session_notice(const struct session *session)
{
	return session->notice.text[0] ? session->notice.text : NULL;
}

int session_news_fd(const struct session *session)
{
	return session->news.fd;
}

bool session_next_news(struct session *session, struct why *ret)
{
	return news_take(&session->news, ret);
}

int session_flush(struct session *session, struct why *why)
{
	_cleanup_free_ const char **paths = calloc(session->n_devices, sizeof(char *));
	int r;

	if (!paths)
		return why_errno(why, -ENOMEM, "cannot flush the devices");
	for (size_t i = 0; i < session->n_devices; i++)
		paths[i] = session->devices[i].path;
	r = flush_devices(paths, session->n_devices);
	return r < 0 ? why_errno(why, r, "cannot start a process that flushes the devices") : r;
}

int session_flush_result(int pidfd)
{
	return flush_result(pidfd);
}
