/* SPDX-License-Identifier: MIT */
/* I/Os one by one: where the time of each went. */
#include "report_parts.h"
#include "table.h"

#include <inttypes.h>
#include <string.h>

struct stages_text {
	char text[256];
};

static void add(struct stages_text *stages, const char *name, uint64_t from_ns, uint64_t to_ns)
{
	size_t n = strlen(stages->text);

	if (from_ns && to_ns >= from_ns)
		snprintf(stages->text + n, sizeof(stages->text) - n, "%s%s %s", n ? ", " : "", name,
			 figure_ns(to_ns - from_ns).text);
}

static void append(struct stages_text *stages, const char *text)
{
	size_t n = strlen(stages->text);

	if (*text)
		snprintf(stages->text + n, sizeof(stages->text) - n, "%s%.100s", n ? ", " : "",
			 text);
}

static void add_until_issue(struct stages_text *stages, const struct track_times *t)
{
	if (t->merged_ns) {
		add(stages, "Q2M", t->queued_ns, t->merged_ns);
		add(stages, "M2D", t->merged_ns, t->first_issued_ns);
	} else if (t->getrq_ns) {
		add(stages, "Q2G", t->queued_ns, t->getrq_ns);
		if (t->inserted_ns)
			add(stages, "G2I", t->getrq_ns, t->inserted_ns);
		if (t->inserted_ns)
			add(stages, "I2D", t->inserted_ns, t->first_issued_ns);
		else
			add(stages, "G2D", t->getrq_ns, t->first_issued_ns);
	} else {
		add(stages, "Q2D", t->queued_ns, t->first_issued_ns);
	}
	if (t->issued_ns != t->first_issued_ns)
		add(stages, "requeued", t->first_issued_ns, t->issued_ns);
}

/* In the order in which they happened; together they are the whole. */
static void add_stages(struct stages_text *stages, const struct track_times *t, bool is_bio)
{
	uint64_t data_ns = t->data_completed_ns ? t->data_completed_ns : t->completed_ns;

	if (!t->issued_ns) {
		add(stages, is_bio ? "Q2C" : "not issued", t->queued_ns, t->completed_ns);
		return;
	}
	add_until_issue(stages, t);
	add(stages, "D2C", t->issued_ns, data_ns);
	if (data_ns != t->completed_ns)
		add(stages, "flush", data_ns, t->completed_ns);
}

static const struct stats_device *device_of(const struct report *report, const struct track_io *io)
{
	const struct stats_result *result = report->result;

	for (size_t i = 0; i < result->n_devices; i++) {
		if (result->devices[i].tag == io->tag && result->devices[i].device == io->device)
			return &result->devices[i];
	}
	return NULL;
}

/* Of what did not complete: up to where it came, and then how long nothing happened. */
static struct stages_text open_text(const struct report *report, const struct stats_io *told)
{
	const struct track_io *io = told->has_below ? &told->below : &told->io;
	const struct track_times *t = &io->times;
	uint64_t begin_ns = track_io_begin_ns(&told->io);
	uint64_t end_ns = begin_ns + told->latency_ns;
	char done[64];
	const struct stats_device *device = device_of(report, io);
	struct stages_text stages = {""};

	if (!t->issued_ns) {
		add(&stages, device && device->has_issue ? "not issued" : "open", begin_ns, end_ns);
	} else {
		add_until_issue(&stages, t);
		add(&stages, "in the device", t->issued_ns, end_ns);
	}
	if (io->done_bytes) {
		snprintf(done, sizeof(done), "%" PRIu64 " of %" PRIu64 " bytes done",
			 io->done_bytes, io->bytes);
		append(&stages, done);
	}
	return stages;
}

/* Through stacked devices: down to the lowest one, and back. */
static struct stages_text told_text(const struct stats_io *told)
{
	const struct track_times *above = &told->io.times, *below = &told->below.times;
	struct stages_text stages = {""};

	if (!told->has_below || above->issued_ns || !below->queued_ns) {
		add_stages(&stages, above, told->io.bio_based || !told->io.bytes);
		return stages;
	}
	add(&stages, "Q2A", above->queued_ns, below->queued_ns);
	add_stages(&stages, below, told->below.bio_based || !told->below.bytes);
	add(&stages, "back", below->completed_ns, above->completed_ns);
	return stages;
}

static void add_place(struct stages_text *place, const char *arrow, const char *device,
		      uint64_t sector)
{
	size_t n = strlen(place->text);

	snprintf(place->text + n, sizeof(place->text) - n, " %s %s %" PRIu64, arrow, device,
		 sector);
}

static struct stages_text place_text(const struct report *report, const struct stats_io *told)
{
	const struct track_io *io = &told->io;
	struct stages_text place = {"-"};

	if (io->sector == UINT64_MAX)
		return place;
	snprintf(place.text, sizeof(place.text), "%" PRIu64 "+%" PRIu64, io->sector,
		 io->bytes / 512);
	if (told->has_below && told->below.sector != UINT64_MAX)
		add_place(&place, "->",
			  recording_device_name(report->recording, told->below.tag,
						told->below.device),
			  told->below.sector);
	for (unsigned i = 0; i < io->n_levels; i++)
		add_place(&place, "<-", report_level_name(report, io->tag, io->levels[i].device),
			  io->levels[i].sector);
	return place;
}

/* @first: what the first columns say. */
static int add_row(const struct report *report, const struct stats_io *told, const char *first,
		   const char *second, const char *stages, struct table *table)
{
	const struct track_io *io = &told->io;
	uint64_t start_ns = recording_info(report->recording)->start_ns;
	uint64_t begin_ns = track_io_begin_ns(io);
	struct owner_text owner = owner_text(told->owner, io->owner.pid, told->comm);
	struct stages_text place = place_text(report, told);
	const char *cells[8];
	size_t n = 0;
	char at[32];

	/* Not seen before its end. */
	if (!begin_ns)
		begin_ns = io->times.completed_ns;
	snprintf(at, sizeof(at), "%.6f",
		 begin_ns > start_ns ? (double)(begin_ns - start_ns) / 1e9 : 0);
	cells[n++] = first;
	if (second)
		cells[n++] = second;
	cells[n++] = at;
	cells[n++] = recording_device_name(report->recording, io->tag, io->device);
	cells[n++] = operation_name(io->operation);
	cells[n++] = place.text;
	cells[n++] = owner.text;
	cells[n++] = stages;
	return table_add(table, cells);
}

int report_slowest(const struct report *report, size_t n, FILE *out)
{
	static const struct table_column columns[] = {
		{"LATENCY", true}, {"AT", true},       {"DEVICE", false}, {"OPERATION", false},
		{"SECTOR", false}, {"PROCESS", false}, {"STAGES", false},
	};
	_cleanup_(cleanup_table_destroy) struct table *table = NULL;
	const struct stats_ios *ios = &report->result->slowest;
	int r = table_create(columns, 7, &table);

	if (n > ios->n)
		n = ios->n;
	for (size_t i = 0; i < n && r == 0; i++) {
		const struct stats_io *told = &ios->items[i];

		r = add_row(report, told, figure_ns(told->latency_ns).text, NULL,
			    told_text(told).text, table);
	}
	if (r < 0 || !n)
		return r;
	fputs("\nSlowest I/Os (AT: seconds from the start)\n", out);
	return table_print(table, out);
}

/* All failed and unfinished ones; those on several stacked devices count on each. */
static uint64_t count_of(const struct report *report, bool failed)
{
	const struct stats_result *result = report->result;
	uint64_t n = 0;

	for (size_t i = 0; i < result->n_devices; i++) {
		for (unsigned o = 0; o < OPERATION_COUNT; o++) {
			const struct stats_group *group = result->devices[i].operations[o];

			if (group)
				n += failed ? group->errors
					    : group->ended[TRACK_END_IN_FLIGHT] +
						      group->ended[TRACK_END_REUSED] +
						      group->ended[TRACK_END_AGED];
		}
	}
	return n;
}

static const char *on_each_device(const struct report *report)
{
	return report->result->n_devices > 1 ? " (counted on each of stacked devices)" : "";
}

int report_failed(const struct report *report, size_t n, FILE *out)
{
	static const struct table_column columns[] = {
		{"ERROR", false},     {"LATENCY", true}, {"AT", true},	     {"DEVICE", false},
		{"OPERATION", false}, {"SECTOR", false}, {"PROCESS", false}, {"STAGES", false},
	};
	_cleanup_(cleanup_table_destroy) struct table *table = NULL;
	const struct stats_ios *ios = &report->result->failed;
	int r = table_create(columns, 8, &table);

	if (n > ios->n)
		n = ios->n;
	for (size_t i = 0; i < n && r == 0; i++) {
		const struct stats_io *told = &ios->items[i];

		r = add_row(report, told, report_error(told->io.error).text,
			    figure_ns(told->latency_ns).text, told_text(told).text, table);
	}
	if (r < 0 || !n)
		return r;
	fprintf(out, "\nFailed I/Os: the first %zu of %" PRIu64 "%s\n", n, count_of(report, true),
		on_each_device(report));
	return table_print(table, out);
}

/* The longest time that any I/O of its device took. */
static uint64_t longest_of(const struct report *report, const struct track_io *io)
{
	const struct stats_device *device = device_of(report, io);
	const struct histogram *h = device ? device->all.stages[STAGE_Q2C] : NULL;

	if (device && (!h || !h->n))
		h = device->all.stages[STAGE_D2C];
	return h && h->n ? h->max : 0;
}

int report_unfinished(const struct report *report, size_t n, bool all, FILE *out)
{
	static const struct table_column columns[] = {
		{"OPEN FOR", true}, {"AT", true},	{"DEVICE", false}, {"OPERATION", false},
		{"SECTOR", false},  {"PROCESS", false}, {"STAGES", false},
	};
	_cleanup_(cleanup_table_destroy) struct table *table = NULL;
	const struct stats_ios *ios = &report->result->unfinished;
	size_t n_rows = 0;
	int r = table_create(columns, 7, &table);

	for (size_t i = 0; i < ios->n && n_rows < n && r == 0; i++) {
		const struct stats_io *told = &ios->items[i];

		if (!all && told->latency_ns <= longest_of(report, &told->io))
			continue;
		r = add_row(report, told, figure_ns(told->latency_ns).text, NULL,
			    open_text(report, told).text, table);
		n_rows++;
	}
	if (r < 0 || !n_rows)
		return r;
	if (all)
		fprintf(out, "\nNot completed: %zu of %" PRIu64 "%s, those open longest first\n",
			n_rows, count_of(report, false), on_each_device(report));
	else
		fputs("\nNot completed, open longer than any I/O took: hung, or completions were "
		      "not recorded"
		      " (--failed N: all)\n",
		      out);
	return table_print(table, out);
}
