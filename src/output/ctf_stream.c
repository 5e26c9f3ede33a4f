/* SPDX-License-Identifier: MIT */
#include "ctf_stream.h"

#include "blktrace.h"
#include "ctf_metadata.h"
#include "escape.h"
#include "letters.h"
#include "out.h"
#include "output.h"
#include "wire.h"

#include <fcntl.h>

enum {
	CTF_MAGIC = 0xC1FC1FC1,
	PACKET_BYTES = 64 << 10,
	EVENT_ROOM = 1024 + ESCAPE_FACTOR * 256, /* an event without its payload */
};

/* In front of each packet: packet.header and packet.context of the metadata. */
struct packet_head {
	uint32_t magic;
	uint32_t stream_id;
	uint64_t begin_ns;
	uint64_t end_ns;
	uint64_t content_bits;
	uint64_t packet_bits;
	uint64_t events_discarded; /* since the stream's start */
	uint32_t cpu;
	uint32_t recording;
};

static_assert(sizeof(struct packet_head) == 56, "the metadata's layout");

struct ctf_stream {
	int fd;
	uint32_t tag;
	uint32_t cpu;
	uint8_t *bytes; /* the packet in the works, its head included */
	size_t n;
	size_t room;
	uint64_t begin_ns;
	uint64_t end_ns;
	uint64_t discarded;
};

int ctf_stream_create(int dir_fd, uint32_t tag, uint32_t cpu, struct ctf_stream **ret,
		      struct why *why)
{
	_cleanup_free_ struct ctf_stream *stream = calloc(1, sizeof(*stream));
	char name[64];

	if (!stream)
		return why_set(why, -ENOMEM, "no memory");
	snprintf(name, sizeof(name), tag ? "cpu_%u_of_%u" : "cpu_%u", cpu, tag);
	stream->tag = tag;
	stream->cpu = cpu;
	stream->fd = openat(dir_fd, name, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);
	if (stream->fd < 0)
		return why_errno(why, -errno, "cannot create the stream %s", name);
	output_give_to_user(stream->fd);
	*ret = take_ptr(stream);
	return 0;
}

void ctf_stream_destroy(struct ctf_stream *stream)
{
	if (!stream)
		return;
	close_keep_errno(stream->fd);
	free(stream->bytes);
	free(stream);
}

static int reserve(struct ctf_stream *s, size_t more)
{
	size_t room = s->room ? s->room : 4096;
	uint8_t *bytes;

	while (room - s->n < more)
		room *= 2;
	if (room == s->room)
		return 0;
	bytes = realloc(s->bytes, room);
	if (!bytes)
		return -ENOMEM;
	s->bytes = bytes;
	s->room = room;
	return 0;
}

/* Begins a packet unless there is one. */
static int open_packet(struct ctf_stream *s, uint64_t time_ns)
{
	int r;

	if (s->n)
		return 0;
	r = reserve(s, sizeof(struct packet_head));
	if (r < 0)
		return r;
	s->n = sizeof(struct packet_head);
	if (time_ns < s->end_ns)
		time_ns = s->end_ns;
	s->begin_ns = s->end_ns = time_ns;
	return 0;
}

int ctf_stream_cut(struct ctf_stream *s, struct why *why)
{
	struct packet_head head = {
		.magic = CTF_MAGIC,
		.begin_ns = s->begin_ns,
		.end_ns = s->end_ns,
		.content_bits = 8 * (uint64_t)s->n,
		.packet_bits = 8 * (uint64_t)s->n,
		.events_discarded = s->discarded,
		.cpu = s->cpu,
		.recording = s->tag,
	};
	int r;

	if (!s->n)
		return 0;
	memcpy(s->bytes, &head, sizeof(head));
	r = write_all(s->fd, s->bytes, s->n, NULL);
	s->n = 0;
	return r < 0 ? why_errno(why, r, "cannot write the trace") : 0;
}

int ctf_stream_cut_at(struct ctf_stream *s, uint64_t end_ns, struct why *why)
{
	if (s->n && end_ns > s->end_ns)
		s->end_ns = end_ns;
	return ctf_stream_cut(s, why);
}

int ctf_stream_lost_more(struct ctf_stream *s, uint64_t count, struct why *why)
{
	if (open_packet(s, s->end_ns) < 0)
		return why_set(why, -ENOMEM, "no memory");
	s->discarded += count;
	return 0;
}

int ctf_stream_lost(struct ctf_stream *s, uint64_t from_ns, uint64_t count, struct why *why)
{
	int r;

	/* Readers count from the end of one packet to the end of the next: one has to end here. */
	if (open_packet(s, from_ns) < 0)
		return why_set(why, -ENOMEM, "no memory");
	r = ctf_stream_cut_at(s, from_ns, why);
	return r < 0 ? r : ctf_stream_lost_more(s, count, why);
}

static void put(struct ctf_stream *s, const void *bytes, size_t n)
{
	if (n)
		memcpy(s->bytes + s->n, bytes, n);
	s->n += n;
}

static void put_string(struct ctf_stream *s, const char *text, size_t n)
{
	s->n += escape_text((char *)s->bytes + s->n, text, n);
	s->bytes[s->n++] = '\0';
}

static void put_texts(struct ctf_stream *s, const struct merge_item *item,
		      const struct scene *scene)
{
	const struct blkbox_event *event = &item->event;
	const char *comm =
		scene->comm(scene->context, item->tag, event->pid, event->cpu, event->time_ns);
	bool note = blkbox_event_is_note(event);
	bool has_text = note && event->action != BLKBOX_NOTE_TIMESTAMP;
	char rwbs[RWBS_MAX];
	size_t n;

	put_string(s, rwbs, note ? 0 : rwbs_format(event, rwbs));
	put_string(s, comm ? comm : "", comm ? strnlen(comm, NAMES_COMM_BYTES) : 0);
	n = has_text ? wire_pdu_text(event) : 0;
	put_string(s, (const char *)event->pdu, n < 256 ? n : 256);
}

#define PUT(stream, type, value)                      \
	do {                                          \
		type value_ = (type)(value);          \
                                                      \
		put(stream, &value_, sizeof(value_)); \
	} while (0)

static void put_event(struct ctf_stream *s, const struct merge_item *item,
		      const struct scene *scene)
{
	const struct blkbox_event *event = &item->event;

	PUT(s, uint16_t, ctf_event_id(event));
	PUT(s, uint64_t, s->end_ns);
	PUT(s, uint32_t, blkbox_device_major(event->device));
	PUT(s, uint32_t, blkbox_device_minor(event->device));
	PUT(s, uint16_t, event->action);
	PUT(s, uint64_t, event->sector);
	PUT(s, uint32_t, event->bytes);
	PUT(s, uint32_t, event->pid);
	PUT(s, uint32_t, event->sequence);
	PUT(s, int16_t, event->error);
	PUT(s, uint64_t, event->cgroup_id);
	PUT(s, uint8_t, event->protocol);
	put_texts(s, item, scene);
	PUT(s, uint16_t, event->pdu_bytes);
	put(s, event->pdu, event->pdu_bytes);
}

int ctf_stream_event(struct ctf_stream *s, const struct merge_item *item, const struct scene *scene,
		     struct why *why)
{
	const struct blkbox_event *event = &item->event;
	int r = open_packet(s, event->time_ns);

	if (r == 0)
		r = reserve(s, EVENT_ROOM + event->pdu_bytes);
	if (r < 0)
		return why_set(why, r, "no memory");
	/* Time never goes back in a stream. */
	if (event->time_ns > s->end_ns)
		s->end_ns = event->time_ns;
	put_event(s, item, scene);
	return s->n >= PACKET_BYTES ? ctf_stream_cut(s, why) : 0;
}

int ctf_stream_finish(struct ctf_stream *s, struct why *why)
{
	int r = ctf_stream_cut(s, why);

	if (r < 0)
		return r;
	r = close(s->fd);
	s->fd = -1;
	return r < 0 ? why_errno(why, -errno, "cannot write the trace") : 0;
}
