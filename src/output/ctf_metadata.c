/* SPDX-License-Identifier: MIT */
#include "ctf_metadata.h"

#include "escape.h"
#include "letters.h"

#include <inttypes.h>

static const char layout[] =
	"typealias integer { size = 8; align = 8; signed = false; } := uint8_t;\n"
	"typealias integer { size = 16; align = 8; signed = false; } := uint16_t;\n"
	"typealias integer { size = 16; align = 8; signed = true; } := int16_t;\n"
	"typealias integer { size = 32; align = 8; signed = false; } := uint32_t;\n"
	"typealias integer { size = 64; align = 8; signed = false; } := uint64_t;\n"
	"\n"
	"trace {\n"
	"	major = 1;\n"
	"	minor = 8;\n"
	"	byte_order = le;\n"
	"	packet.header := struct {\n"
	"		uint32_t magic;\n"
	"		uint32_t stream_id;\n"
	"	};\n"
	"};\n\n";

static const char stream[] = "typealias integer {\n"
			     "	size = 64; align = 8; signed = false;\n"
			     "	map = clock.monotonic.value;\n"
			     "} := timestamp_t;\n\n"
			     "stream {\n"
			     "	id = 0;\n"
			     "	packet.context := struct {\n"
			     "		timestamp_t timestamp_begin;\n"
			     "		timestamp_t timestamp_end;\n"
			     "		uint64_t content_size;\n"
			     "		uint64_t packet_size;\n"
			     "		uint64_t events_discarded;\n"
			     "		uint32_t cpu_id;\n"
			     "		uint32_t recording;\n"
			     "	};\n"
			     "	event.header := struct {\n"
			     "		uint16_t id;\n"
			     "		timestamp_t timestamp;\n"
			     "	};\n"
			     "};\n\n";

static const char fields[] = "	fields := struct {\n"
			     "		uint32_t dev_major;\n"
			     "		uint32_t dev_minor;\n"
			     "		uint16_t action;\n"
			     "		uint64_t sector;\n"
			     "		uint32_t bytes;\n"
			     "		uint32_t pid;\n"
			     "		uint32_t sequence;\n"
			     "		int16_t error;\n"
			     "		uint64_t cgroup_id;\n"
			     "		uint8_t protocol;\n"
			     "		string rwbs;\n"
			     "		string comm;\n"
			     "		string text;\n"
			     "		uint16_t payload_bytes;\n"
			     "		uint8_t payload[payload_bytes];\n"
			     "	};\n"
			     "};\n\n";

uint16_t ctf_event_id(const struct blkbox_event *event)
{
	if (!action_letters(event))
		return CTF_OTHER;
	if (blkbox_event_is_note(event))
		return (uint16_t)(CTF_NOTE + event->action);
	return event_is_zone_append_sector(event) ? CTF_ZONE_APPEND : event->action;
}

static void put_event(struct out *out, unsigned id, const char *name)
{
	out_printf(out, "event {\n	name = \"%s\";\n	id = %u;\n	stream_id = 0;\n",
		   name, id);
	out_text(out, fields);
}

static void put_events(struct out *out)
{
	struct blkbox_event event = {.protocol = 1};

	for (event.action = 0; event.action < CTF_NOTE; event.action++) {
		if (action_letters(&event))
			put_event(out, event.action, action_name(&event));
	}
	event.categories = BLKBOX_CAT_NOTIFY;
	for (event.action = 0; action_letters(&event); event.action++)
		put_event(out, (unsigned)(CTF_NOTE + event.action), action_name(&event));
	event = (struct blkbox_event){.protocol = 2, .action = BLKBOX_COMPLETE};
	put_event(out, CTF_ZONE_APPEND, action_name(&event));
	put_event(out, CTF_OTHER, "other");
}

/* A string of the metadata language: as in C. */
static void put_quoted(struct out *out, const char *text)
{
	char escaped[ESCAPE_FACTOR * LOG_NAME_BYTES];
	size_t n = escape_text(escaped, text, strnlen(text, LOG_NAME_BYTES));

	out_char(out, '"');
	for (size_t i = 0; i < n; i++) {
		if (escaped[i] == '"' || escaped[i] == '\\')
			out_char(out, '\\');
		out_char(out, escaped[i]);
	}
	out_char(out, '"');
}

static void put_clock(struct out *out, const struct recording_info *info)
{
	int64_t offset_ns = info->has_real ? info->real_offset_ns : 0;
	int64_t seconds = offset_ns / 1000000000, ns = offset_ns % 1000000000;

	if (ns < 0) {
		ns += 1000000000;
		seconds--;
	}
	out_printf(out,
		   "clock {\n"
		   "	name = \"monotonic\";\n"
		   "	description = \"CLOCK_MONOTONIC of the first recording\";\n"
		   "	freq = 1000000000;\n"
		   "	offset_s = %" PRIi64 ";\n"
		   "	offset = %" PRIi64 ";\n"
		   "};\n\n",
		   seconds, ns);
}

void ctf_metadata(struct out *out, const struct recording *recording)
{
	const struct recording_device *devices;
	size_t n = recording_devices(recording, &devices);

	out_text(out, "/* CTF 1.8 */\n\n");
	out_text(out, layout);
	out_text(out, "env {\n"
		      "	domain = \"kernel\";\n"
		      "	tracer_name = \"blkbox\";\n");
	for (size_t i = 0; i < n; i++) {
		out_printf(out, "	device_%zu = ", i);
		put_quoted(out, devices[i].name);
		out_printf(out, ";\n	device_%zu_major = %u;\n	device_%zu_minor = %u;\n",
			   i, blkbox_device_major(devices[i].device), i,
			   blkbox_device_minor(devices[i].device));
	}
	out_text(out, "};\n\n");
	put_clock(out, recording_info(recording));
	out_text(out, stream);
	put_events(out);
}
