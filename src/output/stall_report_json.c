/* SPDX-License-Identifier: MIT */
#include "stall_tables.h"

#include <string.h>

/* What is not known is null, as it is no number. */
static void number(struct json *json, const char *key, double value)
{
	json_double(json, key, value, 3);
}

static void phases(struct json *json, const char *key, const double of[2])
{
	json_object_begin(json, key);
	number(json, "before", of[0]);
	number(json, "during", of[1]);
	json_object_end(json);
}

static void text(struct json *json, const char *key, const char *value)
{
	json_string(json, key, *value ? value : NULL);
}

static void victims_json(const struct stall_event *stall, struct json *json)
{
	json_u64(json, "victims_total", stall->all_victims);
	json_array_begin(json, "victims");
	for (size_t i = 0; i < stall->n_victims; i++) {
		const struct stall_victim *v = &stall->victims[i];

		json_object_begin(json, NULL);
		json_string(json, "name", v->name);
		json_u64(json, "pid", v->pid);
		number(json, "blocked_ms", v->blocked_ms);
		number(json, "longest_ms", v->longest_ms);
		json_bool(json, "measured", v->measured);
		json_bool(json, "threads_add_up", v->threads_add_up);
		json_bool(json, "goes_on", v->goes_on);
		json_u64(json, "start_ns", v->start_ns);
		json_u64(json, "end_ns", v->end_ns);
		json_u64(json, "samples_in_state_d", v->samples);
		if (v->tid)
			json_u64(json, "tid", v->tid);
		else
			json_null(json, "tid");
		text(json, "thread", v->thread);
		text(json, "wchan", v->wchan);
		number(json, "wrote_kb", v->wrote_kb);
		json_object_end(json);
	}
	json_array_end(json);
}

static void writers_json(const struct stall_event *stall, struct json *json)
{
	json_u64(json, "writers_total", stall->all_writers);
	json_array_begin(json, "writers");
	for (size_t i = 0; i < stall->n_writers; i++) {
		const struct stall_writer *w = &stall->writers[i];

		json_object_begin(json, NULL);
		json_string(json, "name", w->name);
		json_u64(json, "pid", w->pid);
		json_string(json, "kind", stall_writer_kind_name(w->kind));
		phases(json, "calls_kb", w->calls_kb);
		phases(json, "charged_kb", w->device_kb);
		phases(json, "read_kb", w->read_kb);
		json_object_end(json);
	}
	json_array_end(json);
}

static void disks_json(const struct stall_event *stall, struct json *json)
{
	json_array_begin(json, "disks");
	for (size_t i = 0; i < stall->n_disks; i++) {
		const struct stall_disk *d = &stall->disks[i];
		const double share[2] = {d->busy_ms[0] / d->known_ms[0],
					 d->busy_ms[1] / d->known_ms[1]};

		json_object_begin(json, NULL);
		text(json, "name", d->name);
		phases(json, "busy_share", share);
		phases(json, "busy_ms", d->busy_ms);
		phases(json, "known_ms", d->known_ms);
		phases(json, "write_kb", d->write_kb);
		phases(json, "read_kb", d->read_kb);
		number(json, "in_flight_max", d->in_flight_max);
		json_object_end(json);
	}
	json_array_end(json);
}

static void mechanisms_json(const struct stall_system *s, struct json *json)
{
	json_array_begin(json, "mechanisms");
	if (stall_compaction(s))
		json_string(json, NULL, "compaction");
	if (stall_reclaim(s))
		json_string(json, NULL, "direct reclaim");
	if (stall_writeback(s))
		json_string(json, NULL, "writeback burst");
	json_array_end(json);
	json_object_begin(json, "evidence");
	json_bool(json, "known", s->is_known);
	phases(json, "compact_stall", s->compact);
	phases(json, "allocstall", s->allocstall);
	phases(json, "pgmajfault", s->majfault);
	number(json, "dirty_kb_least", s->dirty_first_kb);
	phases(json, "dirty_kb_most", s->dirty_kb);
	number(json, "writeback_kb_least", s->writeback_first_kb);
	phases(json, "writeback_kb_most", s->writeback_kb);
	number(json, "memavail_kb_least", s->memavail_kb);
	number(json, "psi_io_some_ms", s->psi_ms[0]);
	number(json, "psi_io_full_ms", s->psi_ms[1]);
	number(json, "psi_memory_some_ms", s->psi_ms[2]);
	number(json, "psi_memory_full_ms", s->psi_ms[3]);
	number(json, "missed_ticks", s->missed_ticks);
	json_object_end(json);
}

static void time_or_null(struct json *json, const char *key, uint64_t ns)
{
	if (ns)
		json_u64(json, key, ns);
	else
		json_null(json, key);
}

static void request_json(const struct stall_report *report, const struct stall_request *r,
			 struct json *json)
{
	json_object_begin(json, NULL);
	json_string(json, "device", recording_device_name(report->recording, r->tag, r->device));
	json_string(json, "operation", operation_name(r->operation));
	if (r->sector == UINT64_MAX)
		json_null(json, "sector");
	else
		json_u64(json, "sector", r->sector);
	json_u64(json, "bytes", r->bytes);
	time_or_null(json, "queued_ns", r->queued_ns);
	time_or_null(json, "issued_ns", r->issued_ns);
	time_or_null(json, "completed_ns", r->completed_ns);
	json_u64(json, "latency_ns", r->latency_ns);
	json_bool(json, "touched_by_loss", r->touched);
	json_string(json, "owner", owner_kind_name(r->owner));
	json_u64(json, "pid", r->pid);
	text(json, "comm", r->comm);
	json_object_end(json);
}

static void requests_json(const struct stall_report *report, const struct stall_requests *r,
			  struct json *json)
{
	json_object_begin(json, "requests");
	json_bool(json, "covered", r->is_covered);
	json_bool(json, "by_wall_clock", r->by_wall);
	json_u64(json, "log_start_ns", r->start_ns);
	json_u64(json, "log_end_ns", r->end_ns);
	json_u64(json, "n", r->n);
	json_u64(json, "bytes", r->bytes);
	json_u64(json, "max_latency_ns", r->max_latency_ns);
	json_array_begin(json, "owners");
	for (size_t i = 0; i < r->n_owners; i++) {
		const struct stall_owner *o = &r->owners[i];

		json_object_begin(json, NULL);
		json_string(json, "owner", owner_kind_name(o->kind));
		json_u64(json, "pid", o->pid);
		text(json, "comm", o->comm);
		json_u64(json, "requests", o->requests);
		json_u64(json, "bytes", o->bytes);
		json_u64(json, "max_latency_ns", o->max_latency_ns);
		json_object_end(json);
	}
	json_array_end(json);
	json_array_begin(json, "slowest");
	for (size_t i = 0; i < r->n_slowest; i++)
		request_json(report, &r->slowest[i], json);
	json_array_end(json);
	json_object_end(json);
}

static void stall_json(const struct stall_report *report, size_t i, struct json *json)
{
	const struct stall_event *stall = &report->stalls[i];

	json_object_begin(json, NULL);
	json_u64(json, "start_ns", stall->start_ns);
	json_u64(json, "end_ns", stall->end_ns);
	if (stall->has_wall)
		json_u64(json, "start_wall_ns", stall->start_ns + (uint64_t)stall->wall_offset_ns);
	else
		json_null(json, "start_wall_ns");
	json_u64(json, "lead_in_ns", stall->lead_ns);
	json_bool(json, "lead_in_cut", stall->rows_lost);
	json_bool(json, "is_moment", stall->is_moment);
	number(json, "tick_ms", stall->tick_ms);
	victims_json(stall, json);
	writers_json(stall, json);
	disks_json(stall, json);
	mechanisms_json(&stall->system, json);
	json_array_begin(json, "notes");
	for (size_t k = 0; k < stall->n_notes; k++)
		json_string(json, NULL, stall->notes[k]);
	json_array_end(json);
	if (report->requests)
		requests_json(report, &report->requests[i], json);
	else
		json_null(json, "requests");
	json_object_end(json);
}

static void files_json(const struct stall_report *report, struct json *json)
{
	json_array_begin(json, "files");
	for (size_t i = 0; i < report->n_files; i++) {
		const struct stall_csv_health *h = &report->files[i].health;

		json_object_begin(json, NULL);
		json_string(json, "name", report->files[i].name);
		json_u64(json, "rows", h->rows);
		json_u64(json, "damaged_rows", h->damaged);
		time_or_null(json, "first_damaged_line", h->first_damaged_line);
		text(json, "first_damage", h->first_fault.text);
		json_u64(json, "mended_rows", h->mended);
		json_bool(json, "cut_off", h->cut_line > 0);
		json_object_end(json);
	}
	json_array_end(json);
}

void stall_report_json(const struct stall_report *report, struct json *json)
{
	const struct stall_summary *s = report->summary;

	json_object_begin(json, NULL);
	files_json(report, json);
	json_u64(json, "samples", s->ticks);
	json_u64(json, "rows", s->rows);
	json_u64(json, "runs", s->runs);
	json_u64(json, "first_ns", s->first_ns);
	json_u64(json, "last_ns", s->last_ns);
	time_or_null(json, "first_wall_ns", s->first_wall_ns);
	time_or_null(json, "last_wall_ns", s->last_wall_ns);
	number(json, "missed_ticks_total", s->missed_ticks);
	json_bool(json, "delay_accounting_off", stall_blind(s));
	json_u64(json, "threshold_ns", report->options->threshold_ns);
	json_u64(json, "window_ns", report->options->window_ns);
	json_u64(json, "stalls_total", report->all);
	json_string(json, "log", report->log);
	json_array_begin(json, "stalls");
	for (size_t i = 0; i < report->n; i++)
		stall_json(report, i, json);
	json_array_end(json);
	json_object_end(json);
}
