/* SPDX-License-Identifier: MIT */
#include "info.h"

#include "clock.h"
#include "escape.h"
#include "iso_time.h"
#include "mask.h"
#include "number.h"
#include "table.h"

#include <inttypes.h>
#include <string.h>

enum {
	LOSSES_SHOWN = 20
};

/* Text from a file made safe for a terminal; "" if there is no memory. */
static char *escaped(const char *text)
{
	size_t n = strlen(text);
	char *safe = malloc(ESCAPE_FACTOR * n + 1);

	if (safe)
		safe[escape_text(safe, text, n)] = '\0';
	return safe;
}

static void put(const char *label, const char *text)
{
	_cleanup_free_ char *safe = escaped(text);

	printf("%-10s %s\n", label, safe ? safe : "");
}

static void put_meta(const struct info *info, const char *label, const char *key)
{
	const char *text = info_meta(info, key);

	if (text)
		put(label, text);
}

static void put_file(const struct info *info)
{
	struct log_reader *log = input_log(info->input);

	put(info_kind(info), input_name(info->input));
	if (log)
		printf("%-10s %s, holding %s of records\n", "size",
		       size_format(log_reader_health(log)->file_bytes).text,
		       size_format(info->overview.bytes).text);
}

static void put_times(const struct info *info)
{
	const struct overview *overview = &info->overview;
	uint64_t duration_ns = overview->end_ns - overview->start_ns;
	const char *reason = info_end_reason(info, true);

	if (overview->has_real)
		printf("%-10s %s\n", "start",
		       iso_time_format(info_real_ns(info, overview->start_ns), 6).text);
	printf("%-10s %" PRIu64 ".%06" PRIu64 " s", "duration", duration_ns / NS_PER_S,
	       duration_ns % NS_PER_S / 1000);
	if (reason)
		printf(", %s", reason);
	else if (input_log(info->input))
		printf(", then the log was cut off");
	putchar('\n');
}

static void put_machine(const struct info *info)
{
	const char *kernel = info_meta(info, "kernel");
	const char *machine = info_meta(info, "machine");
	_cleanup_free_ char *text = NULL;

	put_meta(info, "host", "host");
	if (kernel && asprintf(&text, "Linux %s %s", kernel, machine ? machine : "") >= 0)
		put("kernel", text);
}

static void put_mask(const struct info *info)
{
	const char *text = info_meta(info, "mask");
	char names[MASK_TEXT_MAX];
	uint32_t mask;

	if (!text || mask_parse_hex(text, &mask, NULL) < 0)
		return;
	mask_format(mask, names, sizeof(names));
	put("mask", names);
}

static void put_options(const struct info *info)
{
	const char *buffer = info_meta(info, "buffer_bytes");
	const char *count = info_meta(info, "buffer_count");
	uint64_t bytes, n;

	put_meta(info, "command", "command");
	put_meta(info, "arguments", "arguments");
	put_meta(info, "source", "source");
	put_mask(info);
	put_meta(info, "pid", "pid");
	put_meta(info, "sectors", "sectors");
	if (buffer && count && count_parse(buffer, &bytes, NULL) == 0 &&
	    count_parse(count, &n, NULL) == 0)
		printf("%-10s %" PRIu64 " x %s for each CPU\n", "buffers", n,
		       size_format(bytes).text);
}

static void put_totals(const struct info *info)
{
	const struct overview *overview = &info->overview;

	printf("%-10s %" PRIu64 ", and %" PRIu64 " notes\n", "events", overview->events,
	       overview->notes);
	printf("%-10s %" PRIu64, "dropped", overview->dropped);
	if (overview->dropped)
		printf(" (%.2f %% of all)", 100.0 * (double)overview->dropped /
						    (double)(overview->dropped + overview->events));
	if (overview->dropped_at_stop)
		printf("; and %" PRIu64
		       " that the kernel counted while it stopped, which are no loss",
		       overview->dropped_at_stop);
	putchar('\n');
}

/* Texts of one row of the table. */
struct row {
	char cpu[16], events[24], notes[24], bytes[24], dropped[24];
};

static int add_row(struct table *table, const char *name, const char *number, const char *cpu,
		   const uint64_t figures[static 3], const char *dropped)
{
	struct row row;
	const char *cells[] = {name, number, cpu, row.events, row.notes, row.bytes, dropped};

	snprintf(row.events, sizeof(row.events), "%" PRIu64, figures[0]);
	snprintf(row.notes, sizeof(row.notes), "%" PRIu64, figures[1]);
	snprintf(row.bytes, sizeof(row.bytes), "%" PRIu64, figures[2]);
	return table_add(table, cells);
}

static int add_device(struct table *table, const struct overview_device *device)
{
	_cleanup_free_ char *name = escaped(device->name);
	uint64_t figures[] = {device->events, device->notes, device->bytes};
	char number[24], dropped[24], cpu[16];
	int r;

	snprintf(number, sizeof(number), "%u:%u", blkbox_device_major(device->device),
		 blkbox_device_minor(device->device));
	snprintf(dropped, sizeof(dropped), "%" PRIu64, device->dropped);
	r = add_row(table, name, number, "all", figures, dropped);
	for (size_t i = 0; i < device->n_cpus && r == 0; i++) {
		const struct overview_cpu *c = &device->cpus[i];
		uint64_t of_cpu[] = {c->events, c->notes, c->bytes};

		if (c->cpu == LOG_NO_CPU)
			snprintf(cpu, sizeof(cpu), "?");
		else
			snprintf(cpu, sizeof(cpu), "%u", c->cpu);
		r = add_row(table, NULL, NULL, cpu, of_cpu, NULL);
	}
	return r;
}

static int put_devices(const struct info *info)
{
	static const struct table_column columns[] = {
		{"DEVICE", false}, {"NUMBER", false}, {"CPU", true},	 {"EVENTS", true},
		{"NOTES", true},   {"BYTES", true},   {"DROPPED", true},
	};
	_cleanup_(cleanup_table_destroy) struct table *table = NULL;
	const struct overview *overview = &info->overview;
	int r = table_create(columns, sizeof(columns) / sizeof(columns[0]), &table);

	for (size_t i = 0; i < overview->n_devices && r == 0; i++)
		r = add_device(table, &overview->devices[i]);
	if (r < 0)
		return r;
	if (!overview->n_devices)
		return 0;
	putchar('\n');
	return table_print(table, stdout);
}

/* Seconds since the start of the recording. */
static void format_since(const struct info *info, uint64_t mono_ns, char *text, size_t size)
{
	double since = (double)(int64_t)(mono_ns - info->overview.start_ns) / NS_PER_S;

	snprintf(text, size, "%.6f", since);
}

static int add_loss(struct table *table, const struct info *info, const struct log_drops *loss)
{
	_cleanup_free_ char *name = NULL;
	char from[32], to[32], cpu[16], count[24];
	const char *cells[] = {"all", cpu, from, to, count};

	if (loss->device_index != LOG_NO_CHANNEL) {
		name = escaped(info->overview.devices[loss->device_index].name);
		cells[0] = name;
	}
	snprintf(cpu, sizeof(cpu), loss->cpu == LOG_NO_CPU ? "?" : "%u", loss->cpu);
	format_since(info, loss->from_ns, from, sizeof(from));
	format_since(info, loss->to_ns, to, sizeof(to));
	snprintf(count, sizeof(count), "%" PRIu64, loss->count);
	return table_add(table, cells);
}

static int put_losses(const struct info *info)
{
	static const struct table_column columns[] = {
		{"LOST ON", false}, {"CPU", true},   {"FROM (s)", true},
		{"TO (s)", true},   {"COUNT", true},
	};
	_cleanup_(cleanup_table_destroy) struct table *table = NULL;
	size_t n = info->overview.n_losses;
	int r = table_create(columns, sizeof(columns) / sizeof(columns[0]), &table);

	for (size_t i = 0; i < n && i < LOSSES_SHOWN && r == 0; i++)
		r = add_loss(table, info, &info->overview.losses[i]);
	if (r < 0 || !n)
		return r;
	putchar('\n');
	r = table_print(table, stdout);
	if (n > LOSSES_SHOWN)
		printf("and %zu more windows of time; --json tells all\n", n - LOSSES_SHOWN);
	return r;
}

/* What shared the machine's trace buffer with the recording, and was left out. */
static void put_foreign(const struct info *info)
{
	const struct ftrace_counts *pages = &info->overview.pages;

	if (!pages->foreign && !pages->other)
		return;
	printf("\nAlso in the trace buffer, and left out:");
	for (size_t i = 0; i < pages->n_foreign; i++) {
		const struct ftrace_foreign *foreign = &pages->foreign_devices[i];

		printf("%s %" PRIu64 " events of ", i ? "," : "", foreign->count);
		if (foreign->device)
			printf("device %u:%u", blkbox_device_major(foreign->device),
			       blkbox_device_minor(foreign->device));
		else
			printf("other devices");
	}
	if (pages->other)
		printf("%s %" PRIu64 " entries that are no events of a device",
		       pages->n_foreign ? "," : "", pages->other);
	putchar('\n');
}

int info_print_text(const struct info *info)
{
	int r;

	put_file(info);
	put_times(info);
	put_machine(info);
	put_options(info);
	put_totals(info);
	r = put_devices(info);
	if (r < 0)
		return r;
	put_foreign(info);
	return put_losses(info);
}
