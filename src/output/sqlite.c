/* SPDX-License-Identifier: MIT */
#include "sqlite.h"

#include "escape.h"
#include "ios.h"
#include "wire.h"

#include <sqlite3.h>
#include <uthash.h>

static const char schema[] =
	"PRAGMA journal_mode=OFF;"
	"PRAGMA synchronous=OFF;"
	"PRAGMA locking_mode=EXCLUSIVE;"
	"BEGIN;"
	"CREATE TABLE meta (key TEXT PRIMARY KEY, value);"
	"CREATE TABLE devices (id INTEGER PRIMARY KEY, recording INTEGER, major INTEGER,"
	" minor INTEGER, name TEXT, sectors INTEGER, protocol INTEGER);"
	"CREATE TABLE processes (id INTEGER PRIMARY KEY, recording INTEGER, pid INTEGER, name "
	"TEXT);"
	"CREATE TABLE events (id INTEGER PRIMARY KEY, time_ns INTEGER, device INTEGER REFERENCES"
	" devices, cpu INTEGER, sequence INTEGER, process INTEGER REFERENCES processes,"
	" pid INTEGER, action TEXT, rwbs TEXT, operation TEXT, sector INTEGER, bytes INTEGER,"
	" error INTEGER, cgroup_id INTEGER, categories INTEGER, number INTEGER,"
	" from_device TEXT, from_sector INTEGER, text TEXT);"
	"CREATE TABLE ios (id INTEGER PRIMARY KEY, device INTEGER REFERENCES devices,"
	" process INTEGER REFERENCES processes, pid INTEGER, operation TEXT, sector INTEGER,"
	" bytes INTEGER, queued_ns INTEGER, issued_ns INTEGER, completed_ns INTEGER,"
	" latency_ns INTEGER, error INTEGER, requeues INTEGER, cgroup_id INTEGER);"
	"CREATE TABLE losses (id INTEGER PRIMARY KEY, recording INTEGER, device INTEGER,"
	" cpu INTEGER, from_ns INTEGER, to_ns INTEGER, count INTEGER);";

/* Indexes last: filling a table without them is faster. */
static const char finish[] =
	"CREATE INDEX events_by_time ON events (time_ns);"
	"CREATE INDEX events_by_place ON events (device, sector);"
	"CREATE INDEX ios_by_time ON ios (device, issued_ns);"
	"CREATE INDEX ios_by_process ON ios (process);"
	"CREATE INDEX ios_by_latency ON ios (latency_ns);"
	"CREATE VIEW slowest_ios AS SELECT d.name AS device, p.name AS process, i.pid,"
	" i.operation, i.sector, i.bytes, i.latency_ns / 1e6 AS latency_ms,"
	" (i.issued_ns - m.value) / 1e9 AS issued_s, i.error FROM ios i"
	" JOIN devices d ON d.id = i.device LEFT JOIN processes p ON p.id = i.process"
	" JOIN meta m ON m.key = 'start_ns' ORDER BY i.latency_ns DESC;"
	"CREATE VIEW process_totals AS SELECT p.name AS process, i.operation, count(*) AS ios,"
	" sum(i.bytes) AS bytes, avg(i.latency_ns) / 1e6 AS mean_ms, max(i.latency_ns) / 1e6 AS"
	" max_ms, sum(i.error != 0) AS errors FROM ios i LEFT JOIN processes p"
	" ON p.id = i.process GROUP BY p.name, i.operation ORDER BY sum(i.bytes) DESC;"
	"CREATE VIEW per_second AS SELECT d.name AS device, (i.completed_ns - m.value)"
	" / 1000000000 AS second, i.operation, count(*) AS ios, sum(i.bytes) AS bytes,"
	" avg(i.latency_ns) / 1e6 AS mean_ms, max(i.latency_ns) / 1e6 AS max_ms FROM ios i"
	" JOIN devices d ON d.id = i.device JOIN meta m ON m.key = 'start_ns'"
	" GROUP BY 1, 2, 3 ORDER BY 1, 2, 3;"
	"COMMIT;";

enum insert {
	INSERT_META,
	INSERT_DEVICE,
	INSERT_PROCESS,
	INSERT_EVENT,
	INSERT_IO,
	INSERT_LOSS,
	INSERTS
};

static const char *const inserts[] = {
	[INSERT_META] = "INSERT INTO meta VALUES (?,?)",
	[INSERT_DEVICE] = "INSERT INTO devices VALUES (?,?,?,?,?,?,?)",
	[INSERT_PROCESS] = "INSERT INTO processes VALUES (?,?,?,?)",
	[INSERT_EVENT] = "INSERT INTO events VALUES (NULL,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
	[INSERT_IO] = "INSERT INTO ios VALUES (NULL,?,?,?,?,?,?,?,?,?,?,?,?,?)",
	[INSERT_LOSS] = "INSERT INTO losses VALUES (NULL,?,?,?,?,?,?)",
};

/* A thread under one of its names: a row of processes. */
struct process_key {
	uint32_t tag, pid;
	char comm[NAMES_COMM_BYTES];
};

struct process {
	struct process_key key;
	int64_t id;
	UT_hash_handle hh;
};

struct sqlite_sink {
	struct sink sink;
	sqlite3 *db;
	sqlite3_stmt *statements[INSERTS];
	const struct scene *scene;
	const struct recording *recording;
	struct ios *ios;
	struct process *processes;
};

static int say(struct sqlite_sink *s, struct why *why)
{
	int code = sqlite3_errcode(s->db);
	int error = code == SQLITE_FULL ? -ENOSPC : code == SQLITE_NOMEM ? -ENOMEM : -EIO;

	return why_set(why, error, "cannot write the database: %s", sqlite3_errmsg(s->db));
}

/* Binds in the order of calls. */
struct binder {
	sqlite3_stmt *statement;
	int n;
};

static void bind_number(struct binder *b, uint64_t number)
{
	/* SQLite's integers have a sign; ~0 is the kernel's word for no place. */
	if (number > INT64_MAX)
		sqlite3_bind_null(b->statement, ++b->n);
	else
		sqlite3_bind_int64(b->statement, ++b->n, (int64_t)number);
}

static void bind_signed(struct binder *b, int64_t number)
{
	sqlite3_bind_int64(b->statement, ++b->n, number);
}

static void bind_null(struct binder *b)
{
	sqlite3_bind_null(b->statement, ++b->n);
}

static void bind_time(struct binder *b, uint64_t ns)
{
	if (ns)
		bind_number(b, ns);
	else
		bind_null(b);
}

static void bind_text(struct binder *b, const char *text)
{
	sqlite3_bind_text(b->statement, ++b->n, text, text ? -1 : 0, SQLITE_TRANSIENT);
}

static struct binder start(struct sqlite_sink *s, enum insert insert)
{
	return (struct binder){.statement = s->statements[insert]};
}

static int insert(struct sqlite_sink *s, struct binder *b, struct why *why)
{
	int r = sqlite3_step(b->statement);

	sqlite3_reset(b->statement);
	return r == SQLITE_DONE ? 0 : say(s, why);
}

static int64_t device_id(const struct sqlite_sink *s, uint32_t tag, uint32_t device)
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
	b = start(s, INSERT_PROCESS);
	bind_signed(&b, process->id);
	bind_number(&b, tag);
	bind_number(&b, pid);
	bind_text(&b, escaped);
	*ret = process->id;
	return insert(s, &b, why);
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

static int put_event(struct sqlite_sink *s, const struct merge_item *item, struct why *why)
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
	b = start(s, INSERT_EVENT);
	bind_number(&b, event->time_ns);
	bind_signed(&b, device_id(s, item->tag, event->device));
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
	return insert(s, &b, why);
}

static int put_io(struct sqlite_sink *s, const struct io *io, struct why *why)
{
	uint64_t from_ns = io->issued_ns ? io->issued_ns : io->queued_ns;
	int64_t process;
	struct binder b;
	int r = process_id(s, io->tag, io->pid, io->cpu, from_ns, &process, why);

	if (r < 0)
		return r;
	b = start(s, INSERT_IO);
	bind_signed(&b, device_id(s, io->tag, io->device));
	bind_time(&b, (uint64_t)process);
	bind_number(&b, io->pid);
	bind_text(&b, operation_name(io->operation));
	bind_number(&b, io->sector);
	bind_number(&b, io->bytes);
	bind_time(&b, io->queued_ns);
	bind_time(&b, io->issued_ns);
	bind_time(&b, io->completed_ns);
	bind_number(&b, io_latency_ns(io));
	bind_signed(&b, io->error);
	bind_number(&b, io->requeues);
	bind_time(&b, io->cgroup_id);
	return insert(s, &b, why);
}

static int sqlite_event(struct sink *sink, const struct merge_item *item, struct why *why)
{
	struct sqlite_sink *s = (struct sqlite_sink *)sink;
	struct io io;
	int r = put_event(s, item, why);

	if (r < 0)
		return r;
	r = ios_event(s->ios, item, &io);
	if (r < 0)
		return why_set(why, r, "no memory");
	return r > 0 ? put_io(s, &io, why) : 0;
}

static int put_meta(struct sqlite_sink *s, const char *key, int64_t value, struct why *why)
{
	struct binder b = start(s, INSERT_META);

	bind_text(&b, key);
	bind_signed(&b, value);
	return insert(s, &b, why);
}

/* How far the table of I/Os may be trusted. */
static int put_counts(struct sqlite_sink *s, struct why *why)
{
	uint64_t issues, completions;
	int r;

	ios_unmatched(s->ios, &issues, &completions);
	r = put_meta(s, "unmatched_issues", (int64_t)issues, why);
	if (r == 0)
		r = put_meta(s, "unmatched_completions", (int64_t)completions, why);
	if (r == 0)
		r = put_meta(s, "in_flight_at_end", (int64_t)ios_in_flight(s->ios), why);
	if (r == 0)
		r = put_meta(s, "inverted_ios", (int64_t)ios_inverted(s->ios), why);
	return r;
}

static int sqlite_finish(struct sink *sink, struct why *why)
{
	struct sqlite_sink *s = (struct sqlite_sink *)sink;
	int r = put_counts(s, why);

	if (r < 0)
		return r;
	if (sqlite3_exec(s->db, finish, NULL, NULL, NULL) != SQLITE_OK)
		return say(s, why);
	return 0;
}

static void sqlite_destroy(struct sink *sink)
{
	struct sqlite_sink *s = (struct sqlite_sink *)sink;
	struct process *process, *next;

	for (int i = 0; i < INSERTS; i++)
		sqlite3_finalize(s->statements[i]);
	sqlite3_close(s->db);
	HASH_ITER (hh, s->processes, process, next) {
		HASH_DEL(s->processes, process);
		free(process);
	}
	ios_destroy(s->ios);
	free(s);
}

static const struct sink_ops sqlite_ops = {
	.event = sqlite_event,
	.finish = sqlite_finish,
	.destroy = sqlite_destroy,
};

static int put_all_meta(struct sqlite_sink *s, struct why *why)
{
	const struct recording_info *info = recording_info(s->recording);
	int r = put_meta(s, "schema", 1, why);

	if (r == 0)
		r = put_meta(s, "start_ns", (int64_t)info->start_ns, why);
	if (r == 0)
		r = put_meta(s, "last_ns", (int64_t)info->last_ns, why);
	if (r == 0)
		r = put_meta(s, "dropped", (int64_t)info->dropped, why);
	if (r == 0 && info->has_real)
		r = put_meta(s, "wall_offset_ns", info->real_offset_ns, why);
	return r;
}

static int put_devices(struct sqlite_sink *s, struct why *why)
{
	const struct recording_device *devices;
	size_t n = recording_devices(s->recording, &devices);
	int r = 0;

	for (size_t i = 0; i < n && r == 0; i++) {
		struct binder b = start(s, INSERT_DEVICE);

		bind_number(&b, i + 1);
		bind_number(&b, devices[i].tag);
		bind_number(&b, blkbox_device_major(devices[i].device));
		bind_number(&b, blkbox_device_minor(devices[i].device));
		bind_text(&b, devices[i].name);
		bind_time(&b, devices[i].sectors);
		bind_number(&b, devices[i].protocol);
		r = insert(s, &b, why);
	}
	return r;
}

static int put_losses(struct sqlite_sink *s, struct why *why)
{
	const struct recording_loss *losses;
	size_t n = recording_losses(s->recording, &losses);
	int r = 0;

	for (size_t i = 0; i < n && r == 0; i++) {
		struct binder b = start(s, INSERT_LOSS);

		bind_number(&b, losses[i].tag);
		bind_time(&b, (uint64_t)device_id(s, losses[i].tag, losses[i].device));
		if (losses[i].cpu == LOG_NO_CPU)
			bind_null(&b);
		else
			bind_number(&b, losses[i].cpu);
		bind_number(&b, losses[i].from_ns);
		bind_number(&b, losses[i].to_ns);
		bind_number(&b, losses[i].count);
		r = insert(s, &b, why);
	}
	return r;
}

static int open_database(struct sqlite_sink *s, const char *path, struct why *why)
{
	int r;

	if (sqlite3_open_v2(path, &s->db, SQLITE_OPEN_READWRITE, NULL) != SQLITE_OK ||
	    sqlite3_exec(s->db, schema, NULL, NULL, NULL) != SQLITE_OK)
		return say(s, why);
	for (int i = 0; i < INSERTS; i++) {
		if (sqlite3_prepare_v2(s->db, inserts[i], -1, &s->statements[i], NULL) != SQLITE_OK)
			return say(s, why);
	}
	r = put_all_meta(s, why);
	if (r == 0)
		r = put_devices(s, why);
	return r == 0 ? put_losses(s, why) : r;
}

int sqlite_sink_create(const char *path, const struct scene *scene,
		       const struct recording *recording, struct sink **ret, struct why *why)
{
	struct sqlite_sink *s = calloc(1, sizeof(*s));
	int r;

	if (!s)
		return why_set(why, -ENOMEM, "no memory");
	s->sink.ops = &sqlite_ops;
	s->scene = scene;
	s->recording = recording;
	r = ios_create(&s->ios);
	if (r < 0)
		why_set(why, r, "no memory");
	else
		r = open_database(s, path, why);
	if (r < 0) {
		sqlite_destroy(&s->sink);
		return r;
	}
	*ret = &s->sink;
	return 0;
}
