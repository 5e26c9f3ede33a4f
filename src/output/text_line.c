/* SPDX-License-Identifier: MIT */
#include "text_line.h"

#include "escape.h"
#include "letters.h"
#include "wire.h"

/* Room for a line without its free text: numbers of full width. */
enum {
	LINE_MAX_BYTES = 512
};

static char *put_right(char *to, const char *text, size_t n, size_t width)
{
	for (; width > n; width--)
		*to++ = ' ';
	memcpy(to, text, n);
	return to + n;
}

static char *put_number(char *to, uint64_t number, size_t width)
{
	char digits[20];

	return put_right(to, digits, format_u64(digits, number), width);
}

static char *put_text(char *to, const char *text)
{
	size_t n = strlen(text);

	memcpy(to, text, n);
	return to + n;
}

size_t text_comm(const struct text_line *line, char ret[static TEXT_COMM_MAX])
{
	const char *comm = line->scene->comm(line->scene->context, line->tag, line->event->pid,
					     line->event->cpu, line->event->time_ns);

	if (!comm)
		comm = "<...>";
	return escape_text(ret, comm, strnlen(comm, NAMES_COMM_BYTES));
}

void text_hex(struct out *out, const uint8_t *bytes, size_t n)
{
	size_t used = n;

	/* Command blocks end in many zeroes; one of them is shown. */
	while (used && !bytes[used - 1])
		used--;
	for (size_t i = 0; i < n; i++) {
		out_printf(out, i ? " %02x" : "%02x", bytes[i]);
		if (i >= used) {
			out_text(out, " ..");
			break;
		}
	}
}

static uint64_t absolute(int64_t ns)
{
	return ns < 0 ? -(uint64_t)ns : (uint64_t)ns;
}

/* Notes may be older than the first event, which is time 0. */
static char *put_seconds(char *to, int64_t ns)
{
	char digits[21];
	size_t n = 0;

	if (ns < 0)
		digits[n++] = '-';
	n += format_u64(digits + n, absolute(ns) / 1000000000);
	return put_right(to, digits, n, 5);
}

/* "  8,0    1       58     0.244815430   237  Q  WS " */
static char *put_head(char *to, const struct text_line *line)
{
	const struct blkbox_event *event = line->event;
	uint32_t device = event->device, from;
	char rwbs[RWBS_MAX];
	uint64_t sector;
	char *minor;
	uint64_t ns;

	/* A remap stands with the device that the I/O goes to. */
	if (event->action == BLKBOX_REMAP && !blkbox_event_is_note(event))
		wire_pdu_remap(event, &from, &device, &sector);
	to = put_number(to, blkbox_device_major(device), 3);
	*to++ = ',';
	minor = to;
	to = put_number(to, blkbox_device_minor(device), 0);
	while (to - minor < 3)
		*to++ = ' ';
	*to++ = ' ';
	to = put_number(to, event->cpu, 2);
	*to++ = ' ';
	to = put_number(to, event->sequence, 8);
	*to++ = ' ';
	to = put_seconds(to, line->since_ns);
	*to++ = '.';
	ns = absolute(line->since_ns) % 1000000000;
	for (int digit = 8; digit >= 0; digit--, ns /= 10)
		to[digit] = (char)('0' + ns % 10);
	to += 9;
	*to++ = ' ';
	to = put_number(to, event->pid, 5);
	*to++ = ' ';
	to = put_right(to, line->act, strlen(line->act), 2);
	*to++ = ' ';
	if (blkbox_event_is_note(event))
		to = put_right(to, "N", 1, 3);
	else
		to = put_right(to, rwbs, rwbs_format(event, rwbs), 3);
	*to++ = ' ';
	return to;
}

static char *put_comm(char *to, const struct text_line *line)
{
	*to++ = '[';
	to += text_comm(line, to);
	*to++ = ']';
	return to;
}

static char *put_elapsed(char *to, const struct text_line *line)
{
	if (line->time.elapsed_ns == TRACK_NONE)
		return to;
	*to++ = '(';
	to = put_number(to, line->time.elapsed_ns, 8);
	return put_text(to, ") ");
}

/* "8 + 8 ", or nothing for what has no place. */
static char *put_place(char *to, const struct blkbox_event *event)
{
	/* Zone operations have a place, but no data. */
	if (!(event->bytes / 512) && !(event->categories >> 16))
		return to;
	to = put_number(to, event->sector, 0);
	to = put_text(to, " + ");
	to = put_number(to, event->bytes / 512, 0);
	*to++ = ' ';
	return to;
}

static char *put_error(char *to, const struct blkbox_event *event)
{
	*to++ = '[';
	if (event->error < 0)
		*to++ = '-';
	to = put_number(to, (uint64_t)(event->error < 0 ? -event->error : event->error), 0);
	*to++ = ']';
	return to;
}

static char *put_completion(char *to, const struct text_line *line)
{
	const struct blkbox_event *event = line->event;

	if (!(event->bytes / 512) && event->sector != UINT64_MAX) {
		/* Also without data; ~0 is the kernel's word for no place. */
		to = put_number(to, event->sector, 0);
		if (event->categories >> 16)
			to = put_text(to, " + 0");
		*to++ = ' ';
	} else if (event->bytes / 512) {
		to = put_place(to, event);
	}
	to = put_elapsed(to, line);
	return put_error(to, event);
}

static char *put_remap(char *to, const struct blkbox_event *event)
{
	uint32_t from, device;
	uint64_t sector;

	to = put_number(to, event->sector, 0);
	to = put_text(to, " + ");
	to = put_number(to, event->bytes / 512, 0);
	if (!wire_pdu_remap(event, &from, &device, &sector))
		return to;
	to = put_text(to, " <- (");
	to = put_number(to, blkbox_device_major(from), 0);
	*to++ = ',';
	to = put_number(to, blkbox_device_minor(from), 0);
	to = put_text(to, ") ");
	return put_number(to, sector, 0);
}

static char *put_unplug(char *to, const struct text_line *line)
{
	uint64_t depth = 0;

	wire_pdu_u64(line->event, &depth);
	to = put_comm(to, line);
	*to++ = ' ';
	return put_number(to, depth, 0);
}

static char *put_split(char *to, const struct text_line *line)
{
	uint64_t sector = 0;

	wire_pdu_u64(line->event, &sector);
	to = put_number(to, line->event->sector, 0);
	to = put_text(to, " / ");
	to = put_number(to, sector, 0);
	*to++ = ' ';
	return put_comm(to, line);
}

/* What stands behind the head, for all that has no long payload. */
static char *put_tail(char *to, const struct text_line *line)
{
	switch (line->event->action) {
	case BLKBOX_COMPLETE:
		if (event_is_zone_append_sector(line->event))
			break;
		return put_completion(to, line);
	case BLKBOX_REQUEUE:
		return put_completion(to, line);
	case BLKBOX_PLUG:
		return put_comm(to, line);
	case BLKBOX_UNPLUG:
	case BLKBOX_UNPLUG_TIMER:
		return put_unplug(to, line);
	case BLKBOX_REMAP:
		return put_remap(to, line->event);
	case BLKBOX_SPLIT:
		return put_split(to, line);
	default:
		break;
	}
	to = put_place(to, line->event);
	to = put_elapsed(to, line);
	return put_comm(to, line);
}

static void print_payload(struct out *out, const struct blkbox_event *event)
{
	if (!event->pdu_bytes)
		return;
	out_char(out, '(');
	text_hex(out, event->pdu, event->pdu_bytes);
	out_text(out, ") ");
}

/* Passthrough commands, driver data and unknown actions: bytes, and the payload as it is. */
static void print_with_payload(struct out *out, const struct text_line *line)
{
	const struct blkbox_event *event = line->event;
	char *to = out_room(out, LINE_MAX_BYTES), *from = to;

	if (event->categories & BLKBOX_CAT_PC) {
		if (event->action != BLKBOX_COMPLETE && event->action != BLKBOX_REQUEUE) {
			to = put_number(to, event->bytes, 0);
			*to++ = ' ';
		}
	} else {
		to = put_place(to, event);
	}
	out_commit(out, (size_t)(to - from));
	if (event->action != BLKBOX_QUEUE && event->action != BLKBOX_REQUEUE)
		print_payload(out, event);
	from = to = out_room(out, LINE_MAX_BYTES);
	if (event->action == BLKBOX_COMPLETE || event->action == BLKBOX_REQUEUE)
		to = put_error(to, event);
	else
		to = put_comm(to, line);
	out_commit(out, (size_t)(to - from));
}

static void print_message(struct out *out, const struct blkbox_event *event)
{
	const char *from = (const char *)event->pdu;
	size_t n = event->pdu_bytes;

	while (n) {
		size_t piece = n < 1024 ? n : 1024;
		char *room = out_room(out, ESCAPE_FACTOR * 1024);

		out_commit(out, escape_text(room, from, piece));
		from += piece;
		n -= piece;
	}
}

static bool shows_payload(const struct blkbox_event *event)
{
	if (event->categories & BLKBOX_CAT_PC)
		return event->action == BLKBOX_QUEUE || event->action == BLKBOX_ISSUE ||
		       event->action == BLKBOX_INSERT || event->action == BLKBOX_COMPLETE ||
		       event->action == BLKBOX_REQUEUE;
	return event->action == BLKBOX_DRV_DATA || event->action > BLKBOX_ZONE_UNPLUG ||
	       event->action == 0;
}

void text_line_print(struct out *out, const struct text_line *line, bool late)
{
	const struct blkbox_event *event = line->event;
	char *from = out_room(out, LINE_MAX_BYTES), *to = put_head(from, line);
	bool note = blkbox_event_is_note(event);

	if (!note && !shows_payload(event))
		to = put_tail(to, line);
	out_commit(out, (size_t)(to - from));
	if (note)
		print_message(out, event);
	else if (shows_payload(event))
		print_with_payload(out, line);
	if (late)
		out_text(out, " (late)");
	out_char(out, '\n');
}
