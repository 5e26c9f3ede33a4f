/* SPDX-License-Identifier: MIT */
/* The rows of events and I/Os. */
#include "sqlite_private.h"

#include "escape.h"
#include "owner.h"
#include "wire.h"

int64_t sqlite_device_id(const struct sqlite_sink *s, uint32_t tag, uint32_t device)
{
	const struct recording_device *devices;
	size_t n = recording_devices(s->recording, &devices);

	for (size_t i = 0; i < n; i++) {
		if (devices[i].tag == tag && devices[i].device == device)
			return (int64_t)i + 1;
	}
	return 0;
}

/* The row of a thread's name; a new one if it is new. *@ret 0: the name is not known. */
static int process_id(struct sqlite_sink *s, uint32_t tag, uint32_t pid, uint32_t cpu,
		      uint64_t time_ns, int64_t *ret, struct why *why)
{
	const char *comm = s->scene->comm(s->scene->context, tag, pid, cpu, time_ns);
	char escaped[ESCAPE_FACTOR * NAMES_COMM_BYTES + 1];
	struct process_key key = {.tag = tag, .pid = pid};
	struct process *process;
	struct binder b;

	*ret = 0;
	if (!comm)
		return 0;
	memcpy(key.comm, comm, strnlen(comm, NAMES_COMM_BYTES));
	HASH_FIND(hh, s->processes, &key, sizeof(key), process);
	if (process) {
		*ret = process->id;
		return 0;
	}
	process = calloc(1, sizeof(*process));
	if (!process)
		return why_set(why, -ENOMEM, "no memory");
	process->key = key;
	process->id = (int64_t)HASH_COUNT(s->processes) + 1;
	HASH_ADD(hh, s->processes, key, sizeof(process->key), process);
	escaped[escape_text(escaped, key.comm, strnlen(key.comm, sizeof(key.comm)))] = '\0';
	b = sqlite_insert(s, INSERT_PROCESS);
	bind_signed(&b, process->id);
	bind_number(&b, tag);
	bind_number(&b, pid);
	bind_text(&b, escaped);
	*ret = process->id;
	return sqlite_step(s, &b, why);
}

static void bind_payload(struct binder *b, const struct blkbox_event *event)
{
	char escaped[ESCAPE_FACTOR * 256 + 1];
	uint32_t from, to;
	uint64_t value;
	size_t n;

	if (blkbox_event_is_note(event)) {
		bind_null(b);
		bind_null(b);
		bind_null(b);
		n = wire_pdu_text(event);
		escaped[escape_text(escaped, (const char *)event->pdu, n < 256 ? n : 256)] = '\0';
		bind_text(b, event->action == BLKBOX_NOTE_TIMESTAMP ? NULL : escaped);
		return;
	}
	if ((event->action == BLKBOX_UNPLUG || event->action == BLKBOX_UNPLUG_TIMER ||
	     event->action == BLKBOX_SPLIT) &&
	    wire_pdu_u64(event, &value))
		bind_number(b, value);
	else
		bind_null(b);
	if (event->action == BLKBOX_REMAP && wire_pdu_remap(event, &from, &to, &value)) {
		snprintf(escaped, sizeof(escaped), "%u:%u", blkbox_device_major(from),
			 blkbox_device_minor(from));
		bind_text(b, escaped);
		bind_number(b, value);
	} else {
		bind_null(b);
		bind_null(b);
	}
	bind_null(b);
}

int sqlite_put_event(struct sqlite_sink *s, const struct merge_item *item, struct why *why)
{
	const struct blkbox_event *event = &item->event;
	const char *letters = action_letters(event);
	bool note = blkbox_event_is_note(event);
	char number[20], rwbs[RWBS_MAX];
	int64_t process;
	struct binder b;
	int r = process_id(s, item->tag, event->pid, event->cpu, event->time_ns, &process, why);

	if (r < 0)
		return r;
	snprintf(number, sizeof(number), "%u", event->action);
	rwbs_format(event, rwbs);
	b = sqlite_insert(s, INSERT_EVENT);
	bind_number(&b, event->time_ns);
	bind_signed(&b, sqlite_device_id(s, item->tag, event->device));
	bind_number(&b, event->cpu);
	bind_number(&b, event->sequence);
	bind_time(&b, (uint64_t)process);
	bind_number(&b, event->pid);
	bind_text(&b, letters ? letters : number);
	bind_text(&b, note ? NULL : rwbs);
	bind_text(&b, note ? NULL : operation_name(operation_of(event)));
	bind_number(&b, event->sector);
	bind_number(&b, event->bytes);
	bind_signed(&b, event->error);
	bind_time(&b, event->cgroup_id);
	bind_number(&b, event->categories);
	bind_payload(&b, event);
	return sqlite_step(s, &b, why);
}

/* Where a lost event or clocks that differ may have bent it, there is no latency. */
static void bind_span(struct binder *b, const struct track_io *io, uint64_t from_ns, uint64_t to_ns)
{
	if (from_ns && to_ns >= from_ns && io_is_measured(io))
		bind_number(b, to_ns - from_ns);
	else
		bind_null(b);
}

/* What I/Os and requests have in common: the device, the process, what and where. */
static int bind_io(struct sqlite_sink *s, struct binder *b, const struct track_io *io,
		   struct why *why)
{
	const struct track_owner *owner = &io->owner;
	int64_t process;
	int r = process_id(s, io->tag, owner->pid, owner->cpu, owner->time_ns, &process, why);

	if (r < 0)
		return r;
	bind_signed(b, sqlite_device_id(s, io->tag, io->device));
	bind_time(b, (uint64_t)process);
	bind_number(b, owner->pid);
	bind_text(b, operation_name(io->operation));
	bind_number(b, io->sector);
	bind_number(b, io->bytes);
	return 0;
}

int sqlite_put_io(struct sqlite_sink *s, const struct track_io *io, struct why *why)
{
	const struct track_times *t = &io->times;
	const struct track_owner *owner = &io->owner;
	uint64_t data_ns = t->data_completed_ns ? t->data_completed_ns : t->completed_ns;
	const char *comm =
		s->scene->comm(s->scene->context, io->tag, owner->pid, owner->cpu, owner->time_ns);
	enum owner_kind kind = owner_kind(io, comm);
	struct binder b = sqlite_insert(s, INSERT_IO);
	int r = bind_io(s, &b, io, why);

	if (r < 0)
		return r;
	bind_text(&b, owner_kind_name(kind));
	bind_time(&b, t->queued_ns);
	bind_time(&b, t->issued_ns);
	bind_time(&b, t->completed_ns);
	bind_span(&b, io, track_io_begin_ns(io), t->completed_ns);
	bind_span(&b, io, t->issued_ns, data_ns);
	bind_signed(&b, io->error);
	bind_number(&b, io->requeues);
	bind_number(&b, t->issued_ns ? io->pieces : 0);
	bind_time(&b, owner->cgroup_id);
	return sqlite_step(s, &b, why);
}

int sqlite_put_request(struct sqlite_sink *s, const struct track_io *request, struct why *why)
{
	const struct track_times *t = &request->times;
	struct binder b = sqlite_insert(s, INSERT_REQUEST);
	int r = bind_io(s, &b, request, why);

	if (r < 0)
		return r;
	bind_time(&b, t->issued_ns);
	bind_time(&b, t->completed_ns);
	bind_span(&b, request, t->issued_ns, t->completed_ns);
	bind_signed(&b, request->error);
	bind_number(&b, request->requeues);
	bind_number(&b, request->pieces);
	return sqlite_step(s, &b, why);
}
