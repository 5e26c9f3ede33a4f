/* SPDX-License-Identifier: MIT */
#include "stall_row.h"

#include "wait_channel.h"

#include <stdio.h>
#include <string.h>

/* Columns that hold no number, behind those that do. */
enum {
	COLUMN_WALL = STALL_NUMBERS,
	COLUMN_MONO,
	COLUMN_NAME,
	COLUMN_PID,
	COLUMN_STATE,
	COLUMN_THREAD,
	COLUMN_WCHAN,
	COLUMN_CGROUP,
	COLUMN_DISK,
	COLUMNS,
};

/* Of either clock: nanoseconds of more do not fit. The year 2255. */
#define SECONDS_MAX UINT64_C(9000000000)

static const char *const column_names[COLUMNS] = {
	[STALL_WCHAR_KB] = "d_wchar_kB",
	[STALL_WBYTES_KB] = "d_wbytes_kB",
	[STALL_BLKIO_MS] = "d_blkio_ms",
	[STALL_DISK_WRITE_KB] = "disk_d_write_kB",
	[STALL_DISK_BUSY_MS] = "disk_d_busy_ms",
	[STALL_COMPACT] = "compact_stall",
	[STALL_ALLOCSTALL] = "allocstall",
	[STALL_MAJFAULT] = "pgmajfault",
	[STALL_DIRTY_KB] = "dirty_kB",
	[STALL_WRITEBACK_KB] = "writeback_kB",
	[STALL_MEMFREE_KB] = "memfree_kB",
	[STALL_MEMAVAIL_KB] = "memavail_kB",
	[STALL_WORST_TID] = "worst_tid",
	[STALL_START_MS] = "start_ms",
	[STALL_RCHAR_KB] = "d_rchar_kB",
	[STALL_RBYTES_KB] = "d_rbytes_kB",
	[STALL_SWAPIN_MS] = "d_swapin_ms",
	[STALL_PSI_IO_SOME_MS] = "psi_io_some_ms",
	[STALL_PSI_IO_FULL_MS] = "psi_io_full_ms",
	[STALL_PSI_MEMORY_SOME_MS] = "psi_memory_some_ms",
	[STALL_PSI_MEMORY_FULL_MS] = "psi_memory_full_ms",
	[STALL_DISK_READ_KB] = "disk_d_read_kB",
	[STALL_DISK_QUEUE_MS] = "disk_d_queue_ms",
	[STALL_DISK_IN_FLIGHT] = "disk_in_flight",
	[STALL_MISSED_TICKS] = "missed_ticks",
	[COLUMN_WALL] = "wall",
	[COLUMN_MONO] = "mono",
	[COLUMN_NAME] = "proc",
	[COLUMN_PID] = "pid",
	[COLUMN_STATE] = "state",
	[COLUMN_THREAD] = "worst_thread",
	[COLUMN_WCHAN] = "wchan",
	[COLUMN_CGROUP] = "cgroup",
	[COLUMN_DISK] = "disk",
};

bool stall_row_is_blocked(const struct stall_row *row)
{
	return row->state == 'D' && !wait_channel_is_no_io(row->wchan);
}

static int8_t find_column(const char *name)
{
	for (int8_t i = 0; i < COLUMNS; i++) {
		if (!strcmp(column_names[i], name))
			return i;
	}
	return -1;
}

bool stall_header_parse(const struct stall_field *fields, size_t n, struct stall_header *ret)
{
	struct stall_header header = {.n_columns = n};
	uint64_t seen = 0;
	const uint64_t needed =
		UINT64_C(1) << COLUMN_MONO | UINT64_C(1) << COLUMN_NAME | UINT64_C(1) << COLUMN_PID;

	if (n > STALL_COLUMNS_MAX)
		return false;
	for (size_t i = 0; i < n; i++) {
		int8_t column = find_column(fields[i].text);

		/* Of two with one name the first counts. */
		if (column >= 0 && seen & UINT64_C(1) << column)
			column = -1;
		if (column >= 0)
			seen |= UINT64_C(1) << column;
		if (column == COLUMN_NAME)
			header.name = i;
		header.columns[i] = column;
	}
	if ((seen & needed) != needed)
		return false;
	*ret = header;
	return true;
}

/* "12.345" as nanoseconds. */
static bool parse_time(const char *text, uint64_t *ret_ns)
{
	uint64_t seconds = 0, ns = 0, weight = 1000000000;
	const char *at = text;

	for (; *at >= '0' && *at <= '9'; at++) {
		seconds = seconds * 10 + (uint64_t)(*at - '0');
		if (seconds > SECONDS_MAX)
			return false;
	}
	if (at == text)
		return false;
	if (*at == '.') {
		for (at++; *at >= '0' && *at <= '9'; at++) {
			weight /= 10;
			ns += weight * (uint64_t)(*at - '0');
		}
	}
	*ret_ns = seconds * 1000000000 + ns;
	return !*at;
}

/* A decimal number with at most 15 digits before the point: all of them count in a double. */
static bool parse_number(const char *text, double *ret)
{
	bool negative = *text == '-';
	const char *start = text + negative, *at = start;
	double value = 0, weight = 1;

	for (; *at >= '0' && *at <= '9'; at++)
		value = value * 10 + (*at - '0');
	if (at == start || at - start > 15)
		return false;
	if (*at == '.') {
		for (at++; *at >= '0' && *at <= '9'; at++) {
			weight /= 10;
			value += weight * (*at - '0');
		}
	}
	*ret = negative ? -value : value;
	return !*at;
}

static void copy_text(char *to, size_t room, const struct stall_field *field)
{
	size_t n = field->n < room - 1 ? field->n : room - 1;

	memcpy(to, field->text, n);
	to[n] = '\0';
}

static bool take_number(const struct stall_field *field, int8_t column, struct stall_row *row)
{
	double value;

	if (!field->n)
		return true;
	if (!parse_number(field->text, &value))
		return false;
	/* A counter that went back was another process's, or another boot's: no delta is known. */
	if (value >= 0) {
		row->known |= 1u << column;
		row->numbers[column] = value;
	}
	return true;
}

static bool take_pid(const struct stall_field *field, struct stall_row *row)
{
	double value;

	if (!parse_number(field->text, &value) || value < 0 || value > INT32_MAX)
		return false;
	row->pid = (uint32_t)value;
	return true;
}

static bool take_state(const struct stall_field *field, struct stall_row *row)
{
	if (field->n > 1)
		return false;
	row->state = field->text[0];
	return true;
}

static bool take_field(const struct stall_field *field, int8_t column, struct stall_row *row)
{
	switch (column) {
	case COLUMN_WALL:
		row->has_wall = field->n > 0;
		return !field->n || parse_time(field->text, &row->wall_ns);
	case COLUMN_MONO:
		return parse_time(field->text, &row->mono_ns);
	case COLUMN_NAME:
		copy_text(row->name, sizeof(row->name), field);
		return true;
	case COLUMN_PID:
		return take_pid(field, row);
	case COLUMN_STATE:
		return take_state(field, row);
	case COLUMN_THREAD:
		copy_text(row->thread, sizeof(row->thread), field);
		return true;
	case COLUMN_WCHAN:
		copy_text(row->wchan, sizeof(row->wchan), field);
		return true;
	case COLUMN_CGROUP:
		copy_text(row->cgroup, sizeof(row->cgroup), field);
		return true;
	case COLUMN_DISK:
		copy_text(row->disk, sizeof(row->disk), field);
		return true;
	default:
		return column < 0 || take_number(field, column, row);
	}
}

static enum stall_row_kind find_kind(struct stall_row *row)
{
	static const char note[] = "NOTE: ";

	if (row->pid)
		return STALL_ROW_PROCESS;
	if (!strcmp(row->name, "SYS"))
		return STALL_ROW_SYSTEM;
	if (!strcmp(row->name, "DISK"))
		return STALL_ROW_DISK;
	if (!strcmp(row->name, "other"))
		return STALL_ROW_OTHER;
	if (strncmp(row->name, note, sizeof(note) - 1) != 0)
		return STALL_ROW_PROCESS;
	memmove(row->name, row->name + sizeof(note) - 1, strlen(row->name) - sizeof(note) + 2);
	return STALL_ROW_NOTE;
}

/* An unquoted name with commas: the fields on both sides of it are where they always are. */
static size_t join_name(const struct stall_header *header, struct stall_field *fields, size_t n)
{
	size_t extra = n - header->n_columns;
	struct stall_field *name = &fields[header->name];

	for (size_t i = 1; i <= extra; i++)
		name[i].text[-1] = ',';
	name->n = (size_t)(name[extra].text + name[extra].n - name->text);
	memmove(name + 1, name + 1 + extra, (n - header->name - 1 - extra) * sizeof(*fields));
	return header->n_columns;
}

bool stall_row_parse(const struct stall_header *header, struct stall_field *fields, size_t n,
		     struct stall_row *ret, struct stall_fault *fault)
{
	if (n > header->n_columns)
		n = join_name(header, fields, n);
	if (n < header->n_columns) {
		snprintf(fault->text, sizeof(fault->text), "it has %zu fields, not %zu", n,
			 header->n_columns);
		return false;
	}
	*ret = (struct stall_row){0};
	for (size_t i = 0; i < n; i++) {
		if (!take_field(&fields[i], header->columns[i], ret)) {
			snprintf(fault->text, sizeof(fault->text), "field %zu (%s) is '%.40s'",
				 i + 1, column_names[header->columns[i]], fields[i].text);
			return false;
		}
	}
	ret->kind = find_kind(ret);
	return true;
}
