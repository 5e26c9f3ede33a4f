/* SPDX-License-Identifier: MIT */
/*
 * What one CPU's buffer gave, and what the kernel says it should have given.
 */
#include "ftrace_parts.h"

#include "cleanup.h"

#include <string.h>

int ftrace_cpu_create(unsigned number, size_t n_devices, struct ftrace_cpu **ret)
{
	struct ftrace_cpu *cpu = calloc(1, sizeof(*cpu));

	if (!cpu)
		return -ENOMEM;
	cpu->cpu = number;
	cpu->counts = calloc(n_devices, sizeof(*cpu->counts));
	/* No thread has such a number, so that 0 is not taken for known. */
	memset(cpu->pids_seen, 0xff, sizeof(cpu->pids_seen));
	if (!cpu->counts) {
		ftrace_cpu_destroy(cpu);
		return -ENOMEM;
	}
	*ret = cpu;
	return 0;
}

void ftrace_cpu_destroy(struct ftrace_cpu *cpu)
{
	if (!cpu)
		return;
	free(cpu->counts);
	free(cpu);
}

/* Only the CPU's reader writes: no need for an atomic addition. */
static void add(_Atomic uint64_t *counter, uint64_t n)
{
	atomic_store_explicit(counter, atomic_load_explicit(counter, memory_order_relaxed) + n,
			      memory_order_relaxed);
}

static void note_pid(struct ftrace_source *ftrace, struct ftrace_cpu *cpu, uint32_t pid)
{
	uint32_t *seen = &cpu->pids_seen[pid % FTRACE_PIDS_SEEN];

	if (*seen == pid)
		return;
	if (name_book_note(&ftrace->names, pid) < 0)
		atomic_store_explicit(&ftrace->note_failure, -ENOMEM, memory_order_relaxed);
	*seen = pid;
}

/* @times: 1, or -1 to take it out again. */
static void count_entry(struct ftrace_source *ftrace, struct ftrace_cpu *cpu,
			const struct ftrace_entry *entry, uint64_t times)
{
	const struct trace_source *source = &ftrace->source;
	struct ftrace_record record;

	if (ftrace_record_read(&ftrace->facts, entry, &record) != FTRACE_RECORD)
		return;
	for (size_t i = 0; i < source->n_devices; i++) {
		struct ftrace_device_count *count = &cpu->counts[i];

		if (source->log_devices[i].device != record.device)
			continue;
		add(record.note ? &count->notes : &count->events, times);
		add(&count->bytes, record.size * times);
		note_pid(ftrace, cpu, record.pid);
		return;
	}
}

void ftrace_cpu_count(struct ftrace_source *ftrace, struct ftrace_cpu *cpu, const uint8_t *bytes)
{
	struct ftrace_page page;
	struct ftrace_entry entry;
	uint64_t entries = 0;

	if (ftrace_page_open(&ftrace->facts.layout, bytes, &page) < 0)
		return;
	atomic_store_explicit(&cpu->newest_ns, page.time_ns, memory_order_relaxed);
	while (ftrace_page_next(&page, &entry) > 0) {
		entries++;
		count_entry(ftrace, cpu, &entry, 1);
	}
	add(&cpu->entries, entries);
}

void ftrace_cpu_uncount(struct ftrace_source *ftrace, struct ftrace_cpu *cpu, const uint8_t *bytes)
{
	struct ftrace_page page;
	struct ftrace_entry entry;

	if (ftrace_page_open(&ftrace->facts.layout, bytes, &page) < 0)
		return;
	while (ftrace_page_next(&page, &entry) > 0)
		count_entry(ftrace, cpu, &entry, (uint64_t)-1);
}

static uint64_t find_number(const char *text, const char *key)
{
	const char *at = strstr(text, key);

	return at ? strtoull(at + strlen(key), NULL, 10) : 0;
}

int ftrace_cpu_stats(const struct ftrace_source *ftrace, unsigned cpu, struct ftrace_stats *ret)
{
	return ftrace_stats_read(ftrace->source.root, ftrace->state.tracefs, cpu, ret);
}

int ftrace_stats_read(const struct sysroot *root, const char *tracefs, unsigned cpu,
		      struct ftrace_stats *ret)
{
	char text[512];
	int r = sysroot_read(root, text, sizeof(text), "%s/per_cpu/cpu%u/stats", tracefs, cpu);

	if (r < 0)
		return r;
	/* "\noverrun" is not "commit overrun", which is lost too: an interrupt wrapped the buffer.
	 */
	*ret = (struct ftrace_stats){
		.unread = find_number(text, "entries: "),
		.read = find_number(text, "\nread events: "),
		.lost = find_number(text, "\noverrun: ") + find_number(text, "\ncommit overrun: ") +
			find_number(text, "\ndropped events: "),
	};
	return 0;
}
