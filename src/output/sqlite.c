/* SPDX-License-Identifier: MIT */
#include "sqlite.h"

#include "sqlite_private.h"

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
	" bytes INTEGER, owner TEXT, queued_ns INTEGER, issued_ns INTEGER, completed_ns INTEGER,"
	" latency_ns INTEGER, device_ns INTEGER, error INTEGER, requeues INTEGER,"
	" requests INTEGER, cgroup_id INTEGER);"
	"CREATE TABLE requests (id INTEGER PRIMARY KEY, device INTEGER REFERENCES devices,"
	" process INTEGER REFERENCES processes, pid INTEGER, operation TEXT, sector INTEGER,"
	" bytes INTEGER, issued_ns INTEGER, completed_ns INTEGER, latency_ns INTEGER,"
	" error INTEGER, requeues INTEGER, ios INTEGER);"
	"CREATE TABLE losses (id INTEGER PRIMARY KEY, recording INTEGER, device INTEGER,"
	" cpu INTEGER, from_ns INTEGER, to_ns INTEGER, count INTEGER);";

/* Indexes last: filling a table without them is faster. */
static const char finish[] =
	"CREATE INDEX events_by_time ON events (time_ns);"
	"CREATE INDEX events_by_place ON events (device, sector);"
	"CREATE INDEX ios_by_time ON ios (device, completed_ns);"
	"CREATE INDEX ios_by_process ON ios (process);"
	"CREATE INDEX ios_by_latency ON ios (latency_ns);"
	"CREATE INDEX requests_by_time ON requests (device, issued_ns);"
	"CREATE VIEW slowest_ios AS SELECT d.name AS device, p.name AS process, i.pid,"
	" i.operation, i.sector, i.bytes, i.latency_ns / 1e6 AS latency_ms,"
	" i.device_ns / 1e6 AS device_ms, (coalesce(i.queued_ns, i.issued_ns) - m.value) / 1e9"
	" AS queued_s FROM ios i JOIN devices d ON d.id = i.device LEFT JOIN processes p"
	" ON p.id = i.process JOIN meta m ON m.key = 'start_ns' WHERE i.error = 0 AND"
	" i.latency_ns IS NOT NULL AND i.operation != 'passthrough'"
	" ORDER BY i.latency_ns DESC;"
	"CREATE VIEW failed_ios AS SELECT d.name AS device, p.name AS process, i.pid,"
	" i.operation, i.sector, i.bytes, i.error, i.latency_ns / 1e6 AS latency_ms,"
	" (i.completed_ns - m.value) / 1e9 AS completed_s FROM ios i"
	" JOIN devices d ON d.id = i.device LEFT JOIN processes p ON p.id = i.process"
	" JOIN meta m ON m.key = 'start_ns' WHERE i.error != 0 ORDER BY i.completed_ns;"
	"CREATE VIEW process_totals AS SELECT p.name AS process, i.owner, i.operation,"
	" sum(i.error = 0) AS ios, sum(i.bytes) FILTER (WHERE i.error = 0) AS bytes,"
	" sum(i.latency_ns) FILTER (WHERE i.error = 0) / 1e6 AS waited_ms,"
	" avg(i.latency_ns) FILTER (WHERE i.error = 0) / 1e6 AS mean_ms,"
	" max(i.latency_ns) FILTER (WHERE i.error = 0) / 1e6 AS max_ms,"
	" sum(i.error != 0) AS errors FROM ios i LEFT JOIN processes p ON p.id = i.process"
	" GROUP BY p.name, i.owner, i.operation ORDER BY sum(i.bytes) DESC;"
	"CREATE VIEW per_second AS SELECT d.name AS device, (i.completed_ns - m.value)"
	" / 1000000000 AS second, i.operation, sum(i.error = 0) AS ios,"
	" sum(i.bytes) FILTER (WHERE i.error = 0) AS bytes,"
	" avg(i.latency_ns) FILTER (WHERE i.error = 0) / 1e6 AS mean_ms,"
	" max(i.latency_ns) FILTER (WHERE i.error = 0) / 1e6 AS max_ms,"
	" sum(i.error != 0) AS errors FROM ios i"
	" JOIN devices d ON d.id = i.device JOIN meta m ON m.key = 'start_ns'"
	" GROUP BY 1, 2, 3 ORDER BY 1, 2, 3;"
	"COMMIT;";

static const char *const inserts[] = {
	[INSERT_META] = "INSERT INTO meta VALUES (?,?)",
	[INSERT_DEVICE] = "INSERT INTO devices VALUES (?,?,?,?,?,?,?)",
	[INSERT_PROCESS] = "INSERT INTO processes VALUES (?,?,?,?)",
	[INSERT_EVENT] = "INSERT INTO events VALUES (NULL,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
	[INSERT_IO] = "INSERT INTO ios VALUES (NULL,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
	[INSERT_REQUEST] = "INSERT INTO requests VALUES (NULL,?,?,?,?,?,?,?,?,?,?,?,?)",
	[INSERT_LOSS] = "INSERT INTO losses VALUES (NULL,?,?,?,?,?,?)",
};

int sqlite_say(struct sqlite_sink *s, struct why *why)
{
	int code = sqlite3_errcode(s->db);
	int error = code == SQLITE_FULL ? -ENOSPC : code == SQLITE_NOMEM ? -ENOMEM : -EIO;

	return why_set(why, error, "cannot write the database: %s", sqlite3_errmsg(s->db));
}

int sqlite_step(struct sqlite_sink *s, struct binder *b, struct why *why)
{
	int r = sqlite3_step(b->statement);

	sqlite3_reset(b->statement);
	return r == SQLITE_DONE ? 0 : sqlite_say(s, why);
}

static int keep_io(void *context, const struct track_io *io)
{
	struct sqlite_sink *s = context;

	return sqlite_put_io(s, io, s->why);
}

static int keep_request(void *context, const struct track_io *request)
{
	struct sqlite_sink *s = context;

	return sqlite_put_request(s, request, s->why);
}

static const struct ios_ops ios_ops = {.io = keep_io, .request = keep_request};

/* The table of events is filtered event by event, those of I/Os I/O by I/O. */
static int sqlite_left_out(struct sink *sink, const struct merge_item *item, struct why *why)
{
	struct sqlite_sink *s = (struct sqlite_sink *)sink;
	int r;

	if (blkbox_event_is_note(&item->event))
		return 0;
	s->why = why;
	r = ios_event(s->ios, item);
	return r == -ENOMEM ? why_set(why, r, "no memory") : r;
}

static int sqlite_event(struct sink *sink, const struct merge_item *item, struct why *why)
{
	int r = sqlite_put_event((struct sqlite_sink *)sink, item, why);

	return r < 0 ? r : sqlite_left_out(sink, item, why);
}

static int put_meta(struct sqlite_sink *s, const char *key, int64_t value, struct why *why)
{
	struct binder b = sqlite_insert(s, INSERT_META);

	bind_text(&b, key);
	bind_signed(&b, value);
	return sqlite_step(s, &b, why);
}

/* How far the table of I/Os may be trusted. */
static int put_counts(struct sqlite_sink *s, struct why *why)
{
	struct named_count counts[IOS_COUNTS];
	int r = 0;

	ios_name_counts(s->ios, counts);
	for (size_t i = 0; i < IOS_COUNTS && r == 0; i++)
		r = put_meta(s, counts[i].name, (int64_t)counts[i].n, why);
	return r;
}

static int sqlite_finish(struct sink *sink, struct why *why)
{
	struct sqlite_sink *s = (struct sqlite_sink *)sink;
	int r;

	s->why = why;
	r = ios_finish(s->ios);
	if (r == -ENOMEM)
		why_set(why, r, "no memory");
	if (r == 0)
		r = put_counts(s, why);
	if (r < 0)
		return r;
	if (sqlite3_exec(s->db, finish, NULL, NULL, NULL) != SQLITE_OK)
		return sqlite_say(s, why);
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
	.left_out = sqlite_left_out,
	.finish = sqlite_finish,
	.destroy = sqlite_destroy,
};

static int put_all_meta(struct sqlite_sink *s, struct why *why)
{
	const struct recording_info *info = recording_info(s->recording);
	int r = put_meta(s, "schema", 2, why);

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
		struct binder b = sqlite_insert(s, INSERT_DEVICE);

		bind_number(&b, i + 1);
		bind_number(&b, devices[i].tag);
		bind_number(&b, blkbox_device_major(devices[i].device));
		bind_number(&b, blkbox_device_minor(devices[i].device));
		bind_text(&b, devices[i].name);
		bind_time(&b, devices[i].sectors);
		bind_number(&b, devices[i].protocol);
		r = sqlite_step(s, &b, why);
	}
	return r;
}

static int put_losses(struct sqlite_sink *s, struct why *why)
{
	const struct recording_loss *losses;
	size_t n = recording_losses(s->recording, &losses);
	int r = 0;

	for (size_t i = 0; i < n && r == 0; i++) {
		struct binder b = sqlite_insert(s, INSERT_LOSS);

		bind_number(&b, losses[i].tag);
		bind_time(&b, (uint64_t)sqlite_device_id(s, losses[i].tag, losses[i].device));
		if (losses[i].cpu == LOG_NO_CPU)
			bind_null(&b);
		else
			bind_number(&b, losses[i].cpu);
		bind_number(&b, losses[i].from_ns);
		bind_number(&b, losses[i].to_ns);
		bind_number(&b, losses[i].count);
		r = sqlite_step(s, &b, why);
	}
	return r;
}

static int open_database(struct sqlite_sink *s, const char *path, struct why *why)
{
	int r;

	if (sqlite3_open_v2(path, &s->db, SQLITE_OPEN_READWRITE, NULL) != SQLITE_OK ||
	    sqlite3_exec(s->db, schema, NULL, NULL, NULL) != SQLITE_OK)
		return sqlite_say(s, why);
	for (int i = 0; i < INSERTS; i++) {
		if (sqlite3_prepare_v2(s->db, inserts[i], -1, &s->statements[i], NULL) != SQLITE_OK)
			return sqlite_say(s, why);
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
	r = ios_create(&ios_ops, s, recording, scene->filter, &s->ios);
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
