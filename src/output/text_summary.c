/* SPDX-License-Identifier: MIT */
#include "text_stats.h"

#include "escape.h"
#include "text_stats_private.h"

#include <inttypes.h>
#include <stdlib.h>

/* "   1,007K": eight columns and a unit, not too small and not too big. */
struct amount {
	char text[32];
};

static struct amount amount(uint64_t value, bool is_kib)
{
	static const char units[] = {'\0', 'K', 'M', 'G', 'P'};
	struct amount amount;
	unsigned unit = is_kib;

	for (; value > 1000000 && unit < sizeof(units) - 1; unit++)
		value /= 1000;
	snprintf(amount.text, sizeof(amount.text), "%8" PRIu64 "%c", value, units[unit]);
	return amount;
}

static uint64_t kib(int64_t bytes)
{
	return bytes > 0 ? (uint64_t)bytes >> 10 : 0;
}

static void print_row(struct out *out, const char *read_label, const char *write_label,
		      const uint64_t n[2], const int64_t bytes[2])
{
	out_printf(out, " %-16s %s, %siB\t", read_label, amount(n[0], false).text,
		   amount(kib(bytes[0]), true).text);
	out_printf(out, " %-17s %s, %siB\n", write_label, amount(n[1], false).text,
		   amount(kib(bytes[1]), true).text);
}

static void print_row_short(struct out *out, const char *read_label, const char *write_label,
			    const uint64_t n[2])
{
	out_printf(out, " %-16s %s\t\t", read_label, amount(n[0], false).text);
	out_printf(out, " %-17s %s\n", write_label, amount(n[1], false).text);
}

static void print_row_plain(struct out *out, const char *read_label, const char *write_label,
			    uint64_t read, uint64_t write)
{
	out_printf(out, " %-16s %8" PRIu64 "        \t", read_label, read);
	out_printf(out, " %-17s %8" PRIu64 "\n", write_label, write);
}

static void print_passthrough(struct out *out, const struct io_counts *c)
{
	uint64_t any = 0;

	for (int stage = 0; stage < IO_STAGES; stage++)
		any += c->pc_n[stage][0] + c->pc_n[stage][1];
	if (!any)
		return;
	print_row(out, "PC Reads Queued:", "PC Writes Queued:", c->pc_n[IO_QUEUED],
		  c->pc_bytes[IO_QUEUED]);
	print_row(out, "PC Read Disp.:", "PC Write Disp.:", c->pc_n[IO_ISSUED],
		  c->pc_bytes[IO_ISSUED]);
	print_row_short(out, "PC Reads Req.:", "PC Writes Req.:", c->pc_n[IO_REQUEUED]);
	print_row_short(out, "PC Reads Compl.:", "PC Writes Compl.:", c->pc_n[IO_COMPLETED]);
}

static void print_counts(struct out *out, const struct io_counts *c,
			 const struct device_stats *device)
{
	print_row(out, "Reads Queued:", "Writes Queued:", c->n[IO_QUEUED], c->bytes[IO_QUEUED]);
	print_row(out, "Read Dispatches:", "Write Dispatches:", c->n[IO_ISSUED],
		  c->bytes[IO_ISSUED]);
	print_row_short(out, "Reads Requeued:", "Writes Requeued:", c->n[IO_REQUEUED]);
	print_row(out, "Reads Completed:", "Writes Completed:", c->n[IO_COMPLETED],
		  c->bytes[IO_COMPLETED]);
	print_row(out, "Read Merges:", "Write Merges:", c->n[IO_MERGED], c->bytes[IO_MERGED]);
	if (device)
		print_row_plain(out, "Read depth:", "Write depth:", device->max_depth[0],
				device->max_depth[1]);
	print_passthrough(out, c);
	print_row_plain(out, "IO unplugs:", "Timer unplugs:", c->unplugs, c->timer_unplugs);
}

static void print_name(struct out *out, const char *name)
{
	char escaped[ESCAPE_FACTOR * LOG_NAME_BYTES];

	out_bytes(out, escaped, escape_text(escaped, name, strlen(name)));
}

static int by_name(const void *a, const void *b)
{
	const struct process_stats *x = *(struct process_stats *const *)a;
	const struct process_stats *y = *(struct process_stats *const *)b;
	int order = strverscmp(x->comm, y->comm);

	return order ? order : (x->pid > y->pid) - (x->pid < y->pid);
}

void text_stats_print_processes(struct text_stats *stats, struct out *out)
{
	size_t n = HASH_COUNT(stats->processes);
	_cleanup_free_ struct process_stats **order = calloc(n + 1, sizeof(*order));
	struct process_stats *process, *next;
	size_t at = 0;

	if (!order)
		return;
	HASH_ITER (hh, stats->processes, process, next)
		order[at++] = process;
	qsort(order, n, sizeof(*order), by_name);
	for (size_t i = 0; i < n; i++) {
		static const char *const waits[] = {"Allocation wait:", "Dispatch wait:",
						    "Completion wait:"};

		process = order[i];
		print_name(out, process->comm);
		out_printf(out, process->more_than_one ? " (%u, ...)\n" : " (%u)\n", process->pid);
		print_counts(out, &process->counts, NULL);
		for (int wait = 0; wait < WAIT_STAGES; wait++)
			print_row_plain(out, waits[wait], waits[wait],
					process->longest_ns[wait][0] / 1000,
					process->longest_ns[wait][1] / 1000);
	}
	out_char(out, '\n');
}

static void add_counts(struct io_counts *total, const struct io_counts *more)
{
	for (int stage = 0; stage < IO_STAGES; stage++) {
		for (int w = 0; w < 2; w++) {
			total->n[stage][w] += more->n[stage][w];
			total->bytes[stage][w] += more->bytes[stage][w];
			total->pc_n[stage][w] += more->pc_n[stage][w];
			total->pc_bytes[stage][w] += more->pc_bytes[stage][w];
		}
	}
	total->unplugs += more->unplugs;
	total->timer_unplugs += more->timer_unplugs;
}

static void print_skips(const struct device_stats *device, struct out *out)
{
	double all = (double)(device->events + device->missing);

	out_printf(out, "Skips: %" PRIu64 " forward (%" PRIu64 " - %5.1f%%)\n", device->gaps,
		   device->missing, all > 0 ? 100.0 * (double)device->missing / all : 0);
}

static void add_skips(struct text_stats *stats)
{
	const struct sequence_count *counts;
	size_t n = sequence_counts(stats->sequence, &counts);

	for (size_t i = 0; i < n; i++) {
		size_t at;

		/* Of a device whose events are all left out there is nothing to print. */
		if (!index_find(&stats->device_places, index_pair(counts[i].tag, counts[i].device),
				&at))
			continue;
		stats->devices[at].gaps += counts[i].gaps;
		stats->devices[at].missing += counts[i].missing;
	}
}

static int by_cpu(const void *a, const void *b)
{
	const struct cpu_stats *x = a, *y = b;

	return (x->cpu > y->cpu) - (x->cpu < y->cpu);
}

static void print_device(const struct text_stats *stats, const struct device_stats *device,
			 struct out *out)
{
	const char *name =
		stats->scene->device_name(stats->scene->context, device->tag, device->device);
	uint64_t ms = (device->last_ns - device->first_ns) / 1000000;
	struct io_counts total = {0};
	uint64_t rate[2] = {0};

	for (size_t i = 0; i < device->n_cpus; i++) {
		out_printf(out, "CPU%u (", device->cpus[i].cpu);
		print_name(out, name);
		out_text(out, "):\n");
		print_counts(out, &device->cpus[i].counts, device);
		add_counts(&total, &device->cpus[i].counts);
	}
	if (device->n_cpus > 1) {
		out_text(out, "\nTotal (");
		print_name(out, name);
		out_text(out, "):\n");
		print_counts(out, &total, NULL);
	}
	for (int w = 0; w < 2 && ms; w++)
		rate[w] = 1000 * kib(total.bytes[IO_COMPLETED][w]) / ms;
	out_printf(out, "\nThroughput (R/W): %" PRIu64 "KiB/s / %" PRIu64 "KiB/s\n", rate[0],
		   rate[1]);
	out_text(out, "Events (");
	print_name(out, name);
	out_printf(out, "): %" PRIu64 " entries\n", device->events);
	print_skips(device, out);
}

void text_stats_print_devices(struct text_stats *stats, struct out *out)
{
	add_skips(stats);
	for (size_t i = 0; i < stats->n_devices; i++) {
		struct device_stats *device = &stats->devices[i];

		qsort(device->cpus, device->n_cpus, sizeof(*device->cpus), by_cpu);
		if (i)
			out_char(out, '\n');
		print_device(stats, device, out);
	}
}
