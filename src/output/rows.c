/* SPDX-License-Identifier: MIT */
#include "rows.h"

#include "escape.h"
#include "json.h"
#include "letters.h"
#include "wire.h"

/* A value of a row. */
enum value_kind {
	VALUE_NONE,
	VALUE_UNSIGNED,
	VALUE_SIGNED,
	VALUE_TEXT
};

struct value {
	enum value_kind kind;
	uint64_t number;
	const char *text;
	size_t size;
};

struct row {
	const struct merge_item *item;
	const struct scene *scene;
	char text[RWBS_LONG_MAX]; /* room for a column that makes its text */
};

struct column {
	const char *name;
	const char *unit; /* or what it is */
	struct value (*get)(struct row *row);
};

static struct value number(uint64_t number)
{
	return (struct value){.kind = VALUE_UNSIGNED, .number = number};
}

static struct value text(const char *text)
{
	if (!text)
		return (struct value){0};
	return (struct value){.kind = VALUE_TEXT, .text = text, .size = strlen(text)};
}

static bool is_note(const struct row *row)
{
	return blkbox_event_is_note(&row->item->event);
}

static struct value get_time(struct row *row)
{
	return number(row->item->event.time_ns);
}

static struct value get_wall(struct row *row)
{
	if (!row->scene->has_real)
		return (struct value){0};
	return number(scene_real_ns(row->scene, row->item->tag, row->item->event.time_ns));
}

static struct value get_recording(struct row *row)
{
	return number(row->item->tag);
}

static struct value get_major(struct row *row)
{
	return number(blkbox_device_major(row->item->event.device));
}

static struct value get_minor(struct row *row)
{
	return number(blkbox_device_minor(row->item->event.device));
}

static struct value get_device(struct row *row)
{
	return text(row->scene->device_name(row->scene->context, row->item->tag,
					    row->item->event.device));
}

static struct value get_cpu(struct row *row)
{
	return number(row->item->event.cpu);
}

static struct value get_sequence(struct row *row)
{
	return is_note(row) ? (struct value){0} : number(row->item->event.sequence);
}

static struct value get_pid(struct row *row)
{
	return number(row->item->event.pid);
}

static struct value get_process(struct row *row)
{
	const struct blkbox_event *event = &row->item->event;

	return text(row->scene->comm(row->scene->context, row->item->tag, event->pid, event->cpu,
				     event->time_ns));
}

static struct value get_action(struct row *row)
{
	const char *letters = action_letters(&row->item->event);

	if (letters)
		return text(letters);
	snprintf(row->text, sizeof(row->text), "%u", row->item->event.action);
	return text(row->text);
}

static struct value get_action_name(struct row *row)
{
	return text(action_name(&row->item->event));
}

static struct value get_rwbs(struct row *row)
{
	if (is_note(row))
		return (struct value){0};
	rwbs_format(&row->item->event, row->text);
	return text(row->text);
}

static struct value get_operation(struct row *row)
{
	if (is_note(row))
		return (struct value){0};
	return text(operation_name(operation_of(&row->item->event)));
}

static struct value get_sector(struct row *row)
{
	return is_note(row) ? (struct value){0} : number(row->item->event.sector);
}

static struct value get_bytes(struct row *row)
{
	return is_note(row) ? (struct value){0} : number(row->item->event.bytes);
}

static struct value get_error(struct row *row)
{
	if (is_note(row))
		return (struct value){0};
	return (struct value){
		.kind = VALUE_SIGNED,
		.number = (uint64_t)(int64_t)row->item->event.error,
	};
}

static struct value get_cgroup(struct row *row)
{
	uint64_t id = row->item->event.cgroup_id;

	return id ? number(id) : (struct value){0};
}

static struct value get_categories(struct row *row)
{
	return number(row->item->event.categories);
}

static struct value get_protocol(struct row *row)
{
	return number(row->item->event.protocol);
}

static struct value get_from_device(struct row *row)
{
	uint32_t from, to;
	uint64_t sector;

	if (is_note(row) || row->item->event.action != BLKBOX_REMAP ||
	    !wire_pdu_remap(&row->item->event, &from, &to, &sector))
		return (struct value){0};
	snprintf(row->text, sizeof(row->text), "%u:%u", blkbox_device_major(from),
		 blkbox_device_minor(from));
	return text(row->text);
}

static struct value get_from_sector(struct row *row)
{
	uint32_t from, to;
	uint64_t sector;

	if (is_note(row) || row->item->event.action != BLKBOX_REMAP ||
	    !wire_pdu_remap(&row->item->event, &from, &to, &sector))
		return (struct value){0};
	return number(sector);
}

static struct value get_number(struct row *row)
{
	const struct blkbox_event *event = &row->item->event;
	uint64_t value;

	if (is_note(row) || (event->action != BLKBOX_UNPLUG && event->action != BLKBOX_SPLIT &&
			     event->action != BLKBOX_UNPLUG_TIMER))
		return (struct value){0};
	return wire_pdu_u64(event, &value) ? number(value) : (struct value){0};
}

static struct value get_message(struct row *row)
{
	const struct blkbox_event *event = &row->item->event;

	if (!is_note(row) || event->action == BLKBOX_NOTE_TIMESTAMP)
		return (struct value){0};
	return (struct value){
		.kind = VALUE_TEXT,
		.text = (const char *)event->pdu,
		.size = wire_pdu_text(event),
	};
}

static const struct column columns[] = {
	{"time_ns", "nanoseconds, CLOCK_MONOTONIC of the first recording", get_time},
	{"wall_ns", "nanoseconds since 1970-01-01 UTC", get_wall},
	{"recording", "number of the input, from 0", get_recording},
	{"major", "of the device", get_major},
	{"minor", "of the device", get_minor},
	{"device", "name", get_device},
	{"cpu", "that logged it", get_cpu},
	{"sequence", "by device and CPU, 32 bits", get_sequence},
	{"pid", "thread id", get_pid},
	{"process", "name", get_process},
	{"action", "letters", get_action},
	{"action_name", "word", get_action_name},
	{"rwbs", "letters", get_rwbs},
	{"operation", "word", get_operation},
	{"sector", "512 bytes, on the whole disk", get_sector},
	{"bytes", "bytes", get_bytes},
	{"error", "negative errno, 0 = none", get_error},
	{"cgroup_id", "kernel's id", get_cgroup},
	{"categories", "the kernel's mask", get_categories},
	{"protocol", "blktrace protocol, 1 or 2", get_protocol},
	{"from_device", "major:minor, of a remap", get_from_device},
	{"from_sector", "512 bytes, of a remap", get_from_sector},
	{"number", "requests of an unplug; sector of a split's second part", get_number},
	{"text", "of a note", get_message},
};

enum {
	N_COLUMNS = sizeof(columns) / sizeof(columns[0])
};

struct rows_sink {
	struct sink sink;
	struct out out;
	const struct scene *scene;
};

static int check(struct rows_sink *rows, struct why *why)
{
	return rows->out.error ? why_errno(why, rows->out.error, "cannot write the rows") : 0;
}

static void put_number(struct out *out, const struct value *value)
{
	if (value->kind == VALUE_SIGNED)
		out_i64(out, (int64_t)value->number);
	else
		out_u64(out, value->number);
}

static int jsonl_event(struct sink *sink, const struct merge_item *item, struct why *why)
{
	struct rows_sink *rows = (struct rows_sink *)sink;
	struct row row = {.item = item, .scene = rows->scene};
	struct json json;

	json_init(&json, &rows->out, false);
	json_object_begin(&json, NULL);
	for (size_t i = 0; i < N_COLUMNS; i++) {
		struct value value = columns[i].get(&row);

		if (value.kind == VALUE_TEXT)
			json_bytes(&json, columns[i].name, value.text, value.size);
		else if (value.kind == VALUE_SIGNED)
			json_i64(&json, columns[i].name, (int64_t)value.number);
		else if (value.kind == VALUE_UNSIGNED)
			json_u64(&json, columns[i].name, value.number);
	}
	json_object_end(&json);
	json_finish(&json);
	return check(rows, why);
}

/* A field of CSV: in quotation marks if it needs them. */
static void csv_text(struct out *out, const char *text, size_t n)
{
	bool quoted = n && (memchr(text, ',', n) || memchr(text, '"', n) || text[0] == ' ' ||
			    text[n - 1] == ' ');

	if (quoted)
		out_char(out, '"');
	for (const char *end = text + n; text < end;) {
		char escaped[ESCAPE_NEXT_MAX];

		if (*text == '"')
			out_char(out, '"');
		out_bytes(out, escaped, escape_next(escaped, &text, (size_t)(end - text)));
	}
	if (quoted)
		out_char(out, '"');
}

static int csv_event(struct sink *sink, const struct merge_item *item, struct why *why)
{
	struct rows_sink *rows = (struct rows_sink *)sink;
	struct row row = {.item = item, .scene = rows->scene};

	for (size_t i = 0; i < N_COLUMNS; i++) {
		struct value value = columns[i].get(&row);

		if (i)
			out_char(&rows->out, ',');
		if (value.kind == VALUE_TEXT)
			csv_text(&rows->out, value.text, value.size);
		else if (value.kind != VALUE_NONE)
			put_number(&rows->out, &value);
	}
	out_text(&rows->out, "\r\n");
	return check(rows, why);
}

static int rows_flush(struct sink *sink, struct why *why)
{
	struct rows_sink *rows = (struct rows_sink *)sink;

	out_flush(&rows->out);
	return check(rows, why);
}

static void rows_destroy(struct sink *sink)
{
	out_deinit(&((struct rows_sink *)sink)->out);
	free(sink);
}

static int rows_create(int fd, const struct scene *scene, const struct sink_ops *ops,
		       struct rows_sink **ret)
{
	_cleanup_free_ struct rows_sink *rows = calloc(1, sizeof(*rows));

	if (!rows || out_init(&rows->out, fd, OUT_BUFFER_BYTES) < 0)
		return -ENOMEM;
	rows->sink.ops = ops;
	rows->scene = scene;
	*ret = take_ptr(rows);
	return 0;
}

static void put_devices(struct json *json, const struct recording *recording)
{
	const struct recording_device *devices;
	size_t n = recording_devices(recording, &devices);

	json_array_begin(json, "devices");
	for (size_t i = 0; i < n; i++) {
		json_object_begin(json, NULL);
		json_u64(json, "recording", devices[i].tag);
		json_u64(json, "major", blkbox_device_major(devices[i].device));
		json_u64(json, "minor", blkbox_device_minor(devices[i].device));
		json_string(json, "name", devices[i].name);
		json_u64(json, "sectors", devices[i].sectors);
		json_u64(json, "events", devices[i].events);
		json_object_end(json);
	}
	json_array_end(json);
}

static void put_losses(struct json *json, const struct recording *recording)
{
	const struct recording_loss *losses;
	size_t n = recording_losses(recording, &losses);

	json_array_begin(json, "losses");
	for (size_t i = 0; i < n; i++) {
		json_object_begin(json, NULL);
		json_u64(json, "recording", losses[i].tag);
		json_u64(json, "major", blkbox_device_major(losses[i].device));
		json_u64(json, "minor", blkbox_device_minor(losses[i].device));
		if (losses[i].cpu != LOG_NO_CPU)
			json_u64(json, "cpu", losses[i].cpu);
		json_u64(json, "from_ns", losses[i].from_ns);
		json_u64(json, "to_ns", losses[i].to_ns);
		json_u64(json, "count", losses[i].count);
		json_object_end(json);
	}
	json_array_end(json);
}

static void put_header(struct out *out, const struct scene *scene,
		       const struct recording *recording)
{
	const struct recording_info *info = recording_info(recording);
	struct json json;

	json_init(&json, out, false);
	json_object_begin(&json, NULL);
	json_object_begin(&json, "header");
	json_object_begin(&json, "columns");
	for (size_t i = 0; i < N_COLUMNS; i++)
		json_string(&json, columns[i].name, columns[i].unit);
	json_object_end(&json);
	json_u64(&json, "start_ns", info->start_ns);
	json_bool(&json, "filtered", scene->filter && filter_is_set(scene->filter));
	json_u64(&json, "events", info->events);
	json_u64(&json, "notes", info->notes);
	json_u64(&json, "dropped", info->dropped);
	if (info->has_real)
		json_i64(&json, "wall_offset_ns", info->real_offset_ns);
	put_devices(&json, recording);
	put_losses(&json, recording);
	json_object_end(&json);
	json_object_end(&json);
	json_finish(&json);
}

static const struct sink_ops jsonl_ops = {
	.event = jsonl_event,
	.flush = rows_flush,
	.finish = rows_flush,
	.destroy = rows_destroy,
};

int jsonl_sink_create(int fd, const struct scene *scene, const struct recording *recording,
		      struct sink **ret)
{
	struct rows_sink *rows;
	int r = rows_create(fd, scene, &jsonl_ops, &rows);

	if (r < 0)
		return r;
	put_header(&rows->out, scene, recording);
	*ret = &rows->sink;
	return 0;
}

static const struct sink_ops csv_ops = {
	.event = csv_event,
	.flush = rows_flush,
	.finish = rows_flush,
	.destroy = rows_destroy,
};

int csv_sink_create(int fd, const struct scene *scene, const struct recording *recording,
		    struct sink **ret)
{
	struct rows_sink *rows;
	int r = rows_create(fd, scene, &csv_ops, &rows);

	(void)recording;
	if (r < 0)
		return r;
	for (size_t i = 0; i < N_COLUMNS; i++) {
		out_text(&rows->out, i ? "," : "");
		out_text(&rows->out, columns[i].name);
	}
	out_text(&rows->out, "\r\n");
	*ret = &rows->sink;
	return 0;
}
