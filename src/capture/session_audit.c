/* SPDX-License-Identifier: MIT */
#include "session_parts.h"

#include "clock.h"
#include "wire.h"

#include <inttypes.h>

/*
 * The kernel can skip a sub-buffer that was never read, when a reader on another CPU frees one in
 * the wrong moment. It counts nothing then, and up to 6.18 no sequence number shows it.
 */
static void audit_channel(struct session *session, struct channel *channel, struct why *ret_why)
{
	uint64_t missing = channel->produced_bytes - channel->bytes_read;
	struct log_drops drops = {
		.device_index = channel->id.device_index,
		.cpu = channel->id.cpu,
		.from_ns = session->started_ns,
		.to_ns = clock_mono_ns(),
		/* Records without payload: almost all are. */
		.count = (missing + WIRE_HEAD_MIN - 1) / WIRE_HEAD_MIN,
	};

	if (channel->produced_bytes <= channel->bytes_read)
		return;
	drop_tracker_add(&session->source->drops, &drops);
	why_set(ret_why, 0, "%" PRIu64 " bytes of CPU %u of %s (about %" PRIu64 " events) %s",
		missing, channel->id.cpu, session->log_devices[channel->id.device_index].name,
		drops.count,
		channel->gone ? "were still unread when its trace was taken away"
			      : "were skipped by the kernel, whose buffers were full, and not "
				"counted as dropped");
}

void session_audit(struct session *session, struct why *ret_why)
{
	struct trace_source *source = session->source;
	struct channel *const *channels;
	size_t n = collector_channels(session->collector, &channels);

	if (source->ops->audit)
		source->ops->audit(source, ret_why);
	for (size_t i = 0; i < n; i++)
		audit_channel(session, channels[i], ret_why);
}
