/* SPDX-License-Identifier: MIT */
/* The slowest I/Os: where the time of each went. */
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

/* In the order in which they happened; together they are the whole. */
static struct stages_text stages_text(const struct track_times *t)
{
	uint64_t data_ns = t->data_completed_ns ? t->data_completed_ns : t->completed_ns;
	struct stages_text stages = {""};

	if (!t->issued_ns) {
		add(&stages, "Q2C", t->queued_ns, t->completed_ns);
		return stages;
	}
	if (t->merged_ns) {
		add(&stages, "Q2M", t->queued_ns, t->merged_ns);
		add(&stages, "M2D", t->merged_ns, t->first_issued_ns);
	} else if (t->getrq_ns) {
		add(&stages, "Q2G", t->queued_ns, t->getrq_ns);
		if (t->inserted_ns)
			add(&stages, "G2I", t->getrq_ns, t->inserted_ns);
		if (t->inserted_ns)
			add(&stages, "I2D", t->inserted_ns, t->first_issued_ns);
		else
			add(&stages, "G2D", t->getrq_ns, t->first_issued_ns);
	} else {
		add(&stages, "Q2D", t->queued_ns, t->first_issued_ns);
	}
	if (t->issued_ns != t->first_issued_ns)
		add(&stages, "requeued", t->first_issued_ns, t->issued_ns);
	add(&stages, "D2C", t->issued_ns, data_ns);
	if (data_ns != t->completed_ns)
		add(&stages, "flush", data_ns, t->completed_ns);
	return stages;
}

static struct stages_text place_text(const struct report *report, const struct track_io *io)
{
	struct stages_text place = {"-"};

	if (io->sector == UINT64_MAX)
		return place;
	snprintf(place.text, sizeof(place.text), "%" PRIu64 "+%" PRIu64, io->sector,
		 io->bytes / 512);
	for (unsigned i = 0; i < io->n_levels; i++) {
		size_t n = strlen(place.text);

		snprintf(place.text + n, sizeof(place.text) - n, " <- %s %" PRIu64,
			 report_level_name(report, io->tag, io->levels[i].device),
			 io->levels[i].sector);
	}
	return place;
}

int report_slowest(const struct report *report, size_t n, FILE *out)
{
	static const struct table_column columns[] = {
		{"LATENCY", true}, {"AT", true},       {"DEVICE", false}, {"OPERATION", false},
		{"SECTOR", false}, {"PROCESS", false}, {"STAGES", false},
	};
	_cleanup_(cleanup_table_destroy) struct table *table = NULL;
	const struct stats_result *result = report->result;
	uint64_t start_ns = recording_info(report->recording)->start_ns;
	int r = table_create(columns, 7, &table);

	if (n > result->n_slowest)
		n = result->n_slowest;
	for (size_t i = 0; i < n && r == 0; i++) {
		const struct stats_slow *slow = &result->slowest[i];
		const struct track_io *io = &slow->io;
		struct stages_text stages = stages_text(&io->times);
		struct stages_text place = place_text(report, io);
		struct owner_text owner = owner_text(slow->owner, io->owner.pid, slow->comm);
		uint64_t begin_ns = io->times.completed_ns - slow->latency_ns;
		char at[32];

		snprintf(at, sizeof(at), "%.6f",
			 begin_ns > start_ns ? (double)(begin_ns - start_ns) / 1e9 : 0);
		r = table_add(table, (const char *[]){figure_ns(slow->latency_ns).text, at,
						      recording_device_name(report->recording,
									    io->tag, io->device),
						      operation_name(io->operation), place.text,
						      owner.text, stages.text});
	}
	if (r < 0 || !n)
		return r;
	fputs("\nSlowest I/Os (AT: seconds from the start)\n", out);
	return table_print(table, out);
}
