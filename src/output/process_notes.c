/* SPDX-License-Identifier: MIT */
#include "process_notes.h"

#include <string.h>
#include <uthash.h>

struct key {
	uint32_t tag, pid;
	uint32_t cpu; /* of the idle threads, which are all 0; else 0 */
};

/* A thread, and the name that was told of it last. */
struct thread {
	struct key key;
	char comm[NAMES_COMM_BYTES + 1];
	UT_hash_handle hh;
};

struct process_notes {
	struct sink sink;
	struct sink *next;
	const struct recording *recording;
	struct thread *threads;
};

static bool lacks_notes(const struct recording *recording, uint32_t tag)
{
	struct log_reader *log = input_log(recording_input(recording, tag));
	const char *source = log ? log_reader_meta(log, "source") : NULL;

	return source && !strcmp(source, "ftrace");
}

static int find_thread(struct process_notes *notes, const struct merge_item *item,
		       struct thread **ret)
{
	struct key key = {
		.tag = item->tag,
		.pid = item->event.pid,
		.cpu = item->event.pid ? 0 : item->event.cpu,
	};

	HASH_FIND(hh, notes->threads, &key, sizeof(key), *ret);
	if (*ret)
		return 0;
	*ret = calloc(1, sizeof(**ret));
	if (!*ret)
		return -ENOMEM;
	(*ret)->key = key;
	HASH_ADD(hh, notes->threads, key, sizeof(key), *ret);
	return 0;
}

static int tell_name(struct process_notes *notes, const struct merge_item *item, const char *comm,
		     struct why *why)
{
	uint8_t payload[NAMES_COMM_BYTES] = {0};
	struct merge_item note = {
		.event =
			{
				.time_ns = item->event.time_ns,
				.categories = BLKBOX_CAT_NOTIFY,
				.action = BLKBOX_NOTE_PROCESS,
				.pid = item->event.pid,
				.device = item->event.device,
				.cpu = item->event.cpu,
				.protocol = item->event.protocol,
				.pdu = payload,
				.pdu_bytes = sizeof(payload),
			},
		.tag = item->tag,
	};

	memcpy(payload, comm, strnlen(comm, sizeof(payload)));
	return sink_event(notes->next, &note, why);
}

static int notes_event(struct sink *sink, const struct merge_item *item, struct why *why)
{
	struct process_notes *notes = (struct process_notes *)sink;
	const struct blkbox_event *event = &item->event;
	struct thread *thread;
	const char *comm = NULL;
	int r = 0;

	if (lacks_notes(notes->recording, item->tag))
		comm = recording_comm(notes->recording, item->tag, event->pid, event->cpu,
				      event->time_ns);
	if (comm) {
		if (find_thread(notes, item, &thread) < 0)
			return why_set(why, -ENOMEM, "no memory");
		if (strncmp(thread->comm, comm, NAMES_COMM_BYTES) != 0) {
			snprintf(thread->comm, sizeof(thread->comm), "%s", comm);
			r = tell_name(notes, item, comm, why);
		}
	}
	return r < 0 ? r : sink_event(notes->next, item, why);
}

static int notes_left_out(struct sink *sink, const struct merge_item *item, struct why *why)
{
	return sink_left_out(((struct process_notes *)sink)->next, item, why);
}

static int notes_flush(struct sink *sink, struct why *why)
{
	return sink_flush(((struct process_notes *)sink)->next, why);
}

static int notes_finish(struct sink *sink, struct why *why)
{
	return sink_finish(((struct process_notes *)sink)->next, why);
}

static void notes_destroy(struct sink *sink)
{
	struct process_notes *notes = (struct process_notes *)sink;
	struct thread *thread, *next;

	HASH_ITER (hh, notes->threads, thread, next) {
		HASH_DEL(notes->threads, thread);
		free(thread);
	}
	sink_destroy(notes->next);
	free(notes);
}

static const struct sink_ops notes_ops = {
	.event = notes_event,
	.left_out = notes_left_out,
	.flush = notes_flush,
	.finish = notes_finish,
	.destroy = notes_destroy,
};

int process_notes_adopt_create(struct sink *next, const struct recording *recording,
			       struct sink **ret)
{
	struct process_notes *notes = calloc(1, sizeof(*notes));

	if (!notes) {
		sink_destroy(next);
		return -ENOMEM;
	}
	notes->sink.ops = &notes_ops;
	notes->next = next;
	notes->recording = recording;
	*ret = &notes->sink;
	return 0;
}
