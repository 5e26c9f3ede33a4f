/* SPDX-License-Identifier: MIT */
/*
 * <blkbox/session.h>: recordings for other programs.
 */
#include <blkbox/session.h>

#include "caches.h"
#include "cleanup.h"
#include "log_sink.h"
#include "public.h"
#include "session.h"

#include <string.h>
#include <sys/wait.h>

struct blkbox_session {
	struct session *session;
	struct log_sink *log;
	bool flush;
	bool started;
	bool stopped;
	bool tried; /* to start, with whatever outcome */
	/* What the report points to. */
	struct blkbox_device_report *devices;
	struct blkbox_cpu_report *cpus;
	struct blkbox_loss_window *losses;
	const char *remarks[COLLECTOR_REMARKS_MAX];
};

int public_result(int r, const struct why *why, char *ret)
{
	if (r < 0 && ret)
		snprintf(ret, BLKBOX_WHY_MAX, "%s", why->text);
	return r;
}

static int open_parts(const struct blkbox_options *options, struct blkbox_session *session,
		      struct why *why)
{
	struct session_options inner = {
		/* Not written to: the type only spares argv a cast. */
		.devices = (char *const *)options->devices,
		.n_devices = options->n_devices,
		.source = (enum source_kind)options->source,
		.trace =
			{
				.mask = options->mask,
				.buffer_bytes = options->buffer_bytes,
				.buffer_count = options->buffer_count,
				.pid = options->pid,
				.first_sector = options->first_sector,
				.last_sector = options->last_sector,
			},
		.force = options->allow_memory,
		.takeover = options->takeover,
	};
	struct log_sink_options log = {
		.compress = !options->no_compress,
		.force = options->overwrite,
	};
	int r;

	if (!options->n_devices)
		return why_set(why, -EINVAL, "no device was named");
	r = session_open(&inner, &session->session, why);
	if (r < 0)
		return r;
	return options->output ? log_sink_create(options->output, &log, &session->log, why)
			       : log_sink_create_in_memory(&log, &session->log, why);
}

int blkbox_session_open(const struct blkbox_options *options, struct blkbox_session **ret,
			char *why_text)
{
	struct blkbox_session *session = calloc(1, sizeof(*session));
	struct why why = {""};
	int r;

	if (!session)
		return public_result(why_errno(&why, -ENOMEM, "cannot open a session"), &why,
				     why_text);
	session->flush = !options->no_flush;
	r = open_parts(options, session, &why);
	if (r < 0) {
		blkbox_session_discard(session);
		return public_result(r, &why, why_text);
	}
	*ret = session;
	return 0;
}

void blkbox_session_discard(struct blkbox_session *session)
{
	if (!session)
		return;
	session_destroy(session->session);
	if (session->log && !session->stopped)
		log_sink_discard(session->log);
	log_sink_destroy(session->log);
	free(session->devices);
	free(session->cpus);
	free(session->losses);
	free(session);
}

int blkbox_session_start(struct blkbox_session *session, char *why_text)
{
	struct why why = {""};
	int r;

	if (session->tried)
		return public_result(why_set(&why, -EALREADY, "a session records only once"), &why,
				     why_text);
	session->tried = true;
	r = session_start(session->session, log_sink_span_sink(session->log), &why);
	session->started = r >= 0;
	return public_result(r, &why, why_text);
}

static uint32_t device_of(const struct session_report *report, uint32_t index)
{
	return index < report->n_devices ? report->devices[index].device.device : 0;
}

static void copy_devices(struct blkbox_session *session, const struct session_report *from,
			 struct blkbox_report *to)
{
	for (size_t i = 0; i < from->n_devices; i++) {
		const struct device_report *device = &from->devices[i];
		struct blkbox_device_report *copy = &session->devices[i];

		memcpy(copy->name, device->device.name, sizeof(copy->name));
		copy->device = device->device.device;
		copy->protocol = device->device.protocol;
		copy->events = device->events;
		copy->notes = device->notes;
		copy->bytes = device->bytes;
		copy->dropped = device->dropped;
		to->events += device->events;
	}
	to->devices = session->devices;
	to->n_devices = from->n_devices;
}

static void copy_cpus(struct blkbox_session *session, const struct session_report *from,
		      struct blkbox_report *to)
{
	for (size_t i = 0; i < from->n_channels; i++) {
		const struct channel_report *channel = &from->channels[i];

		session->cpus[i] = (struct blkbox_cpu_report){
			.device = device_of(from, channel->id.device_index),
			.cpu = channel->id.cpu,
			.events = channel->total.events,
			.notes = channel->total.notes,
			.bytes = channel->total.bytes,
		};
	}
	to->cpus = session->cpus;
	to->n_cpus = from->n_channels;
}

static void copy_losses(struct blkbox_session *session, const struct session_report *from,
			struct blkbox_report *to)
{
	for (size_t i = 0; i < from->n_windows; i++) {
		const struct log_drops *window = &from->windows[i];

		/* What STOP itself counts is no loss. */
		if (window->flags & LOG_DROPS_AT_STOP)
			continue;
		session->losses[to->n_losses++] = (struct blkbox_loss_window){
			.device = device_of(from, window->device_index),
			.from_ns = window->from_ns,
			.to_ns = window->to_ns,
			.count = window->count,
		};
	}
	to->losses = session->losses;
}

static void copy_report(struct blkbox_session *session, const struct session_report *from,
			struct blkbox_report *to)
{
	*to = (struct blkbox_report){.complete = from->complete, .dropped = from->dropped};
	session->devices = calloc(from->n_devices + 1, sizeof(*session->devices));
	session->cpus = calloc(from->n_channels + 1, sizeof(*session->cpus));
	session->losses = calloc(from->n_windows + 1, sizeof(*session->losses));
	if (session->devices)
		copy_devices(session, from, to);
	if (session->cpus)
		copy_cpus(session, from, to);
	if (session->losses)
		copy_losses(session, from, to);
	for (size_t i = 0; i < from->remarks->n; i++)
		session->remarks[i] = from->remarks->text[i].text;
	to->remarks = session->remarks;
	to->n_remarks = from->remarks->n;
}

/* The library has nobody to interrupt it: it waits for the end of the flush. */
static void flush_and_wait(struct blkbox_session *session)
{
	_cleanup_close_ int pidfd = session_flush(session->session, NULL);

	if (pidfd >= 0)
		session_flush_result(pidfd);
}

int blkbox_session_stop(struct blkbox_session *session, struct blkbox_report *ret, char *why_text)
{
	struct session_report report;
	struct blkbox_report copy;
	struct why why = {""};
	int r;

	if (!session->started)
		return public_result(why_set(&why, -EINVAL, "the session does not record"), &why,
				     why_text);
	if (session->flush)
		flush_and_wait(session);
	r = session_stop(session->session, LOG_END_CALLER, &report, &why);
	session->started = false;
	session->stopped = true;
	copy_report(session, &report, &copy);
	if (ret)
		*ret = copy;
	return public_result(r, &why, why_text);
}

int blkbox_session_event_fd(const struct blkbox_session *session)
{
	return session->started ? session_event_fd(session->session) : -1;
}

int blkbox_session_news_fd(const struct blkbox_session *session)
{
	return session_news_fd(session->session);
}

int blkbox_session_next_news(struct blkbox_session *session, char text[BLKBOX_WHY_MAX])
{
	struct why why;

	if (!session_next_news(session->session, &why))
		return 0;
	snprintf(text, BLKBOX_WHY_MAX, "%s", why.text);
	return 1;
}

int blkbox_session_log_fd(struct blkbox_session *session)
{
	return log_sink_finished(session->log) ? log_sink_take_fd(session->log) : -1;
}

int blkbox_drop_page_cache(char *why_text)
{
	struct why why = {""};
	struct sysroot root;
	int r = sysroot_open(&root, NULL);

	if (r < 0)
		return public_result(why_errno(&why, r, "cannot open /"), &why, why_text);
	r = caches_drop(&root, &why);
	sysroot_close(&root);
	return public_result(r, &why, why_text);
}
