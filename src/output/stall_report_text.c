/* SPDX-License-Identifier: MIT */
#include "escape.h"
#include "iso_time.h"
#include "number.h"
#include "report_parts.h"
#include "stall_tables.h"

#include "clock.h"

#include <inttypes.h>
#include <string.h>

enum {
	NAME_ROOM = 48,
	LISTED = 5, /* victims, writers, requests */
};

struct text {
	char text[128];
};

const char *stall_writer_kind_name(enum stall_writer_kind kind)
{
	static const char *const names[] = {
		[STALL_WRITES_UNKNOWN] = "unknown",
		[STALL_WRITES_BUFFERED] = "buffered",
		[STALL_WRITES_DIRECT] = "direct",
		[STALL_WRITES_MAPPED] = "mapped",
		[STALL_READS] = "reads",
	};

	return names[kind];
}

double stall_longest_ms(const struct stall_event *stall)
{
	double ms = 0;

	for (size_t i = 0; i < stall->n_victims; i++)
		ms = fmax(ms, stall->victims[i].blocked_ms);
	return ms;
}

bool stall_blind(const struct stall_summary *summary)
{
	/* It is empty where it is known to be off; in the reference's files it is 0. */
	return !summary->blkio_nonzero &&
	       (summary->state_d || (summary->process_rows && !summary->blkio_known));
}

static struct text name_text(const char *name)
{
	struct text text;

	escape_name(text.text, NAME_ROOM, name, strlen(name));
	return text;
}

/* "412 MiB", "-" for what is not known. */
static struct text kb_text(double kb)
{
	struct text text = {"-"};

	if (!isnan(kb))
		snprintf(text.text, sizeof(text.text), "%s",
			 size_format((uint64_t)fmin(kb * 1024 + 0.5, 1e18)).text);
	return text;
}

static struct text count_text(double n)
{
	struct text text = {"-"};

	if (!isnan(n))
		snprintf(text.text, sizeof(text.text), "%.0f", n);
	return text;
}

static struct text process_text(const char *name, uint32_t pid)
{
	struct text text = name_text(name);
	size_t n = strlen(text.text);

	if (pid)
		snprintf(text.text + n, sizeof(text.text) - n, " %" PRIu32, pid);
	return text;
}

static struct text seconds_text(uint64_t ns)
{
	struct text text;

	snprintf(text.text, sizeof(text.text), "%.3f s", (double)ns / NS_PER_S);
	return text;
}

static void print_title(const struct stall_event *stall, size_t number, FILE *out)
{
	fprintf(out, stall->is_moment ? "\nAround " : "\nStall %zu: ", number);
	if (stall->has_wall)
		fprintf(out, "%s (monotonic ",
			iso_time_format(stall->start_ns + (uint64_t)stall->wall_offset_ns, 3).text);
	fprintf(out, "%s%s, for %.0f ms", seconds_text(stall->start_ns).text,
		stall->has_wall ? ")" : "", (double)(stall->end_ns - stall->start_ns) / NS_PER_MS);
	if (!isnan(stall->tick_ms))
		fprintf(out, "; a sample every %.3g ms", stall->tick_ms);
	fputs("\n", out);
	if (stall->rows_lost)
		fputs("  incomplete too many rows to keep: the lead-in is not whole\n", out);
}

static void print_where(const struct stall_victim *v, FILE *out)
{
	if (*v->thread || v->tid) {
		fprintf(out, ", thread %s", name_text(v->thread).text);
		if (v->tid)
			fprintf(out, "%s%" PRIu32, *v->thread ? " " : "", v->tid);
	}
	if (*v->wchan)
		fprintf(out, ", in %s", name_text(v->wchan).text);
}

static void print_victim(const struct stall_victim *v, const char *title, FILE *out)
{
	double span_ms = (double)(v->end_ns - v->start_ns) / NS_PER_MS;

	fprintf(out, "  %-10s %-24s ", title, process_text(v->name, v->pid).text);
	if (v->measured)
		fprintf(out, "%.0f ms waiting for block I/O", v->blocked_ms);
	else
		fprintf(out, "about %.0f ms in state D, not accounted for", v->blocked_ms);
	if (v->longest_ms < v->blocked_ms - 1)
		fprintf(out, ", %.0f ms of it at once", v->longest_ms);
	if (v->threads_add_up && v->blocked_ms > span_ms)
		fprintf(out, ", several threads together, within %.0f ms", span_ms);
	if (v->samples)
		fprintf(out, " (%" PRIu32 " %s%s)", v->samples,
			v->samples == 1 ? "sample" : "samples", v->measured ? " in state D" : "");
	print_where(v, out);
	if (v->goes_on)
		fputs(", and it went on", out);
	if (v->wrote_kb >= 1024)
		fprintf(out, "; wrote %s itself", kb_text(v->wrote_kb).text);
	fputs("\n", out);
}

static void print_rest(uint64_t all, size_t shown, FILE *out)
{
	if (all > shown)
		fprintf(out, "  %-10s and %" PRIu64 " more\n", "", all - shown);
}

static void print_victims(const struct stall_event *stall, FILE *out)
{
	size_t n = stall->n_victims < LISTED ? stall->n_victims : LISTED;

	for (size_t i = 0; i < n; i++)
		print_victim(&stall->victims[i], i ? "" : "blocked", out);
	if (!n)
		fprintf(out, "  %-10s nobody who was watched\n", "blocked");
	print_rest(stall->all_victims, n, out);
}

static const char *explain(enum stall_writer_kind kind)
{
	switch (kind) {
	case STALL_WRITES_BUFFERED:
		return "buffered: the kernel writes it later";
	case STALL_WRITES_DIRECT:
		return "direct or synced: dirty memory did not grow";
	case STALL_WRITES_MAPPED:
		return "mapped files or metadata: no write calls";
	case STALL_READS:
		return "reads";
	default:
		return "buffered or direct: not known";
	}
}

static double total(const double of[2])
{
	return of[0] + of[1];
}

static void print_writer(const struct stall_writer *w, const char *title, FILE *out)
{
	const double *most = w->kind == STALL_READS			? w->read_kb
			     : total(w->device_kb) > total(w->calls_kb) ? w->device_kb
			     : isnan(total(w->calls_kb))		? w->device_kb
									: w->calls_kb;

	fprintf(out, "  %-10s %-24s ", title,
		w->pid ? process_text(w->name, w->pid).text : "all that were not watched");
	fprintf(out, "%s (%s before, ", kb_text(total(most)).text, kb_text(most[0]).text);
	fprintf(out, "%s meanwhile), %s", kb_text(most[1]).text, explain(w->kind));
	if (w->kind != STALL_READS)
		fprintf(out, "; calls %s, charged %s", kb_text(total(w->calls_kb)).text,
			kb_text(total(w->device_kb)).text);
	fputs("\n", out);
}

/* All that it wrote or read, in kB. */
static double amount(const struct stall_writer *w)
{
	double kb = 0;

	for (int i = 0; i < 2; i++)
		kb += fmax(fmax(w->calls_kb[i], w->device_kb[i]), w->read_kb[i]);
	return kb;
}

static void print_writers(const struct stall_event *stall, FILE *out)
{
	size_t n = 0;

	/* Who has less than a hundredth of the first one's has no part in it. */
	while (n < stall->n_writers && n < LISTED &&
	       !(amount(&stall->writers[n]) < amount(&stall->writers[0]) / 100))
		n++;
	for (size_t i = 0; i < n; i++)
		print_writer(&stall->writers[i], i ? "" : "wrote", out);
	if (!n)
		fprintf(out, "  %-10s nobody who was watched\n", "wrote");
	print_rest(stall->all_writers, n, out);
}

static void print_busy(const struct stall_disk *disk, int phase, FILE *out)
{
	double share = 100 * disk->busy_ms[phase] / disk->known_ms[phase];

	if (isnan(disk->busy_ms[phase]) || !(disk->known_ms[phase] > 0)) {
		fputs("busy unknown", out);
		return;
	}
	fprintf(out, "busy %.0f %% of %.0f ms", share, disk->known_ms[phase]);
	/* A sum of several disks. The kernel's own count may be a little over the time. */
	if (share > 120)
		fputs(" (disks together)", out);
}

static bool is_known(const struct stall_disk *disk)
{
	return disk->known_ms[0] > 0 || disk->known_ms[1] > 0 || !isnan(disk->write_kb[0]) ||
	       !isnan(disk->write_kb[1]);
}

static void print_disks(const struct stall_event *stall, FILE *out)
{
	if (stall->n_disks == 1 && !is_known(&stall->disks[0])) {
		fprintf(out, "  %-10s not known\n", "disk");
		return;
	}
	for (size_t i = 0; i < stall->n_disks; i++) {
		const struct stall_disk *disk = &stall->disks[i];

		fprintf(out, "  %-10s %-24s ", i ? "" : "disk",
			*disk->name ? name_text(disk->name).text : "all watched");
		print_busy(disk, 1, out);
		fprintf(out, ", wrote %s", kb_text(disk->write_kb[1]).text);
		if (!isnan(disk->read_kb[1]))
			fprintf(out, ", read %s", kb_text(disk->read_kb[1]).text);
		if (!isnan(disk->in_flight_max))
			fprintf(out, ", up to %.0f in flight", disk->in_flight_max);
		if (stall->lead_ns) {
			fputs("; before, ", out);
			print_busy(disk, 0, out);
			fprintf(out, ", wrote %s", kb_text(disk->write_kb[0]).text);
		}
		fputs("\n", out);
	}
}

static void print_events(const char *what, const double of[2], const char *means,
			 const struct stall_event *stall, const char **title, FILE *out)
{
	fprintf(out, "  %-10s %s: %s (%s in the %.1f s before)\n", *title, what,
		count_text(of[1]).text, count_text(of[0]).text, (double)stall->lead_ns / NS_PER_S);
	if (means)
		fprintf(out, "  %-10s   %s\n", "", means);
	*title = "";
}

static void print_mechanisms(const struct stall_event *stall, FILE *out)
{
	const struct stall_system *s = &stall->system;
	const char *title = "mechanism";

	if (!s->is_known) {
		fprintf(out, "  %-10s not known: no SYS row of this time tells\n", title);
		return;
	}
	if (stall_compaction(s))
		print_events("memory compaction: stalls", s->compact, "memory is fragmented", stall,
			     &title, out);
	if (stall_reclaim(s))
		print_events("direct reclaim: stalls", s->allocstall, "memory is short", stall,
			     &title, out);
	if (stall_writeback(s)) {
		fprintf(out, "  %-10s writeback burst: dirty %s -> %s, ", title,
			kb_text(s->dirty_first_kb).text,
			kb_text(fmax(s->dirty_kb[0], s->dirty_kb[1])).text);
		fprintf(out, "in writeback %s -> %s\n", kb_text(s->writeback_first_kb).text,
			kb_text(fmax(s->writeback_kb[0], s->writeback_kb[1])).text);
		title = "";
	}
	if (*title)
		fprintf(out,
			"  %-10s none moved: compaction %s, direct reclaim %s, dirty at most %s\n",
			title, count_text(s->compact[1]).text, count_text(s->allocstall[1]).text,
			kb_text(fmax(s->dirty_kb[0], s->dirty_kb[1])).text);
	if (s->majfault[1] > 0 || !isnan(s->psi_ms[0]))
		fprintf(out, "  %-10s major faults %s", "also", count_text(s->majfault[1]).text);
	if (!isnan(s->psi_ms[0])) {
		fprintf(out, "; pressure: I/O %s ms some, ", count_text(s->psi_ms[0]).text);
		fprintf(out, "%s ms full; memory ", count_text(s->psi_ms[1]).text);
		fprintf(out, "%s ms some, ", count_text(s->psi_ms[2]).text);
		fprintf(out, "%s ms full", count_text(s->psi_ms[3]).text);
	}
	if (s->majfault[1] > 0 || !isnan(s->psi_ms[0]))
		fputs("\n", out);
}

static void print_request(const struct stall_report *report, const struct stall_requests *requests,
			  const struct stall_request *r, FILE *out)
{
	uint64_t from_ns = r->queued_ns ? r->queued_ns : r->issued_ns;
	struct owner_text owner = owner_text(r->owner, r->pid, r->comm);

	fprintf(out, "  %-10s %s %s of %s at ", "", figure_ns(r->latency_ns).text,
		operation_name(r->operation), size_format(r->bytes).text);
	if (r->sector == UINT64_MAX)
		fputs("no sector", out);
	else
		fprintf(out, "sector %" PRIu64, r->sector);
	fprintf(out, " of %s, %s", recording_device_name(report->recording, r->tag, r->device),
		owner.text);
	fprintf(out, ", from %+.0f ms", ((double)from_ns - (double)requests->start_ns) / NS_PER_MS);
	if (r->issued_ns && r->completed_ns)
		fprintf(out, ", in the device %s", figure_ns(r->completed_ns - r->issued_ns).text);
	fprintf(out, "%s%s\n", r->completed_ns ? "" : ", never completed",
		r->touched ? ", touched by lost events" : "");
}

static void print_requests(const struct stall_report *report, const struct stall_requests *r,
			   FILE *out)
{
	if (!r->is_covered) {
		fprintf(out, "  %-10s the recording is of another time\n", "requests");
		return;
	}
	fprintf(out, "  %-10s %" PRIu64 " in flight meanwhile, %s, the slowest %s%s\n", "requests",
		r->n, size_format(r->bytes).text, figure_ns(r->max_latency_ns).text,
		r->by_wall ? " (put in line by wall clock)" : "");
	for (size_t i = 0; i < r->n_owners && i < LISTED; i++) {
		const struct stall_owner *o = &r->owners[i];

		fprintf(out, "  %-10s %-24s %" PRIu64 " requests, %s, the slowest %s\n",
			i ? "" : "of", owner_text(o->kind, o->pid, o->comm).text, o->requests,
			size_format(o->bytes).text, figure_ns(o->max_latency_ns).text);
	}
	for (size_t i = 0; i < r->n_slowest && i < LISTED; i++)
		print_request(report, r, &r->slowest[i], out);
}

static void print_stall(const struct stall_report *report, size_t i, FILE *out)
{
	const struct stall_event *stall = &report->stalls[i];

	print_title(stall, i + 1, out);
	print_victims(stall, out);
	print_writers(stall, out);
	print_disks(stall, out);
	print_mechanisms(stall, out);
	for (size_t k = 0; k < stall->n_notes; k++) {
		char note[STALL_NOTE_BYTES * ESCAPE_FACTOR];

		escape_name(note, sizeof(note), stall->notes[k], STALL_NOTE_BYTES);
		fprintf(out, "  %-10s %s\n", k ? "" : "note", note);
	}
	if (stall->system.missed_ticks > 0)
		fprintf(out, "  %-10s %.0f samples are missing around this time\n", "missed",
			stall->system.missed_ticks);
	if (report->requests)
		print_requests(report, &report->requests[i], out);
}

static void print_head(const struct stall_report *report, FILE *out)
{
	const struct stall_summary *s = report->summary;

	fprintf(out, "%" PRIu64 " samples", s->ticks);
	if (s->has_wall)
		fprintf(out, " from %s to %s", iso_time_format(s->first_wall_ns, 3).text,
			iso_time_format(s->last_wall_ns, 3).text);
	else if (s->ticks)
		fprintf(out, " from %s to %s, monotonic", seconds_text(s->first_ns).text,
			seconds_text(s->last_ns).text);
	if (s->runs > 1)
		fprintf(out, ", %" PRIu64 " runs", s->runs);
	if (s->missed_ticks > 0)
		fprintf(out, "; %.0f samples were missed", s->missed_ticks);
	fputs("\n", out);
	if (stall_blind(s))
		fputs("No wait is accounted for: delay accounting was off. Times are from state D "
		      "alone.\n",
		      out);
	if (report->options->at.is_set)
		return;
	fprintf(out, "%" PRIu64 " %s of %.0f ms or more\n", report->all,
		report->all == 1 ? "stall" : "stalls",
		(double)report->options->threshold_ns / NS_PER_MS);
}

/* The least of the longest @shown. */
static double least_shown_ms(const struct stall_report *report, size_t shown)
{
	double least_ms = 0;

	for (size_t i = 0; i < report->n; i++) {
		double ms = stall_longest_ms(&report->stalls[i]);
		size_t longer = 0;

		for (size_t k = 0; k < report->n; k++)
			longer += stall_longest_ms(&report->stalls[k]) > ms;
		if (longer < shown && (least_ms == 0 || ms < least_ms))
			least_ms = ms;
	}
	return least_ms;
}

void stall_report_print(const struct stall_report *report, size_t shown, FILE *out)
{
	double least_ms = least_shown_ms(report, shown);
	size_t n = 0;

	print_head(report, out);
	for (size_t i = 0; i < report->n && n < shown; i++) {
		if (stall_longest_ms(&report->stalls[i]) < least_ms)
			continue;
		print_stall(report, i, out);
		n++;
	}
	if (report->all > n)
		fprintf(out, "\nand %" PRIu64 " shorter ones; --json tells them all\n",
			report->all - n);
}
