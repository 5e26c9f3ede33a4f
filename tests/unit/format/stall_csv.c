/* SPDX-License-Identifier: MIT */
#include "stall_csv.h"

#include <criterion/criterion.h>
#include <string.h>

#define HEAD                                                                                   \
	"wall,mono,proc,pid,state,d_wchar_kB,d_wbytes_kB,d_blkio_ms,disk_d_write_kB,"          \
	"disk_d_busy_ms,compact_stall,allocstall,pgmajfault,dirty_kB,writeback_kB,memfree_kB," \
	"memavail_kB\n"

enum {
	ROWS = 16
};

struct seen {
	struct stall_row rows[ROWS];
	size_t n;
	struct stall_csv_health health;
	int r;
};

static int take_row(void *context, const struct stall_row *row)
{
	struct seen *seen = context;

	if (seen->n < ROWS)
		seen->rows[seen->n] = *row;
	seen->n++;
	return 0;
}

/* In pieces of @step bytes. */
static void read_bytes(const char *text, size_t size, size_t step, struct seen *seen)
{
	struct stall_csv *csv;

	memset(seen, 0, sizeof(*seen));
	cr_assert_eq(stall_csv_create(take_row, seen, &csv), 0);
	for (size_t at = 0; at < size && seen->r == 0; at += step)
		seen->r = stall_csv_feed(csv, text + at, size - at < step ? size - at : step);
	if (seen->r == 0)
		seen->r = stall_csv_finish(csv);
	seen->health = *stall_csv_health(csv);
	stall_csv_destroy(csv);
}

static struct seen read_text(const char *text)
{
	struct seen whole, bytes;

	read_bytes(text, strlen(text), strlen(text) + 1, &whole);
	/* It makes no difference how the bytes come. */
	read_bytes(text, strlen(text), 1, &bytes);
	cr_assert_eq(memcmp(&whole, &bytes, sizeof(whole)), 0);
	return whole;
}

Test(stall_csv, rows_of_the_reference)
{
	struct seen seen = read_text(
		HEAD "1700000000.123,5000.456,loggerd,77,S,412,0,0,8,95,,,,,,,\n"
		     "1700000000.123,5000.456,SYS,0,-,,,,,,3,0,1,120,90000,100000,900000\n");
	const struct stall_row *row = &seen.rows[0];

	cr_assert_eq(seen.n, 2);
	cr_assert_eq(row->kind, STALL_ROW_PROCESS);
	cr_assert(row->has_wall);
	cr_assert_eq(row->wall_ns, 1700000000123000000);
	cr_assert_eq(row->mono_ns, 5000456000000);
	cr_assert_str_eq(row->name, "loggerd");
	cr_assert_eq(row->pid, 77);
	cr_assert_eq(row->state, 'S');
	cr_assert_eq(row->numbers[STALL_WCHAR_KB], 412);
	cr_assert_eq(row->numbers[STALL_DISK_BUSY_MS], 95);
	cr_assert(stall_row_has(row, STALL_BLKIO_MS));
	cr_assert(!stall_row_has(row, STALL_COMPACT), "what is empty is not known");
	cr_assert_eq(seen.rows[1].kind, STALL_ROW_SYSTEM);
	cr_assert(!stall_row_has(&seen.rows[1], STALL_BLKIO_MS));
	cr_assert_eq(seen.rows[1].numbers[STALL_WRITEBACK_KB], 90000);
	cr_assert_eq(seen.health.damaged, 0);
	cr_assert_eq(seen.health.cut_line, 0);
}

Test(stall_csv, columns_go_by_name)
{
	struct seen seen = read_text("mono,proc,colour,pid,d_blkio_ms,wchan\r\n"
				     "1.5,x,red,7,12.5,\"jbd2\"\r\n");

	cr_assert_eq(seen.n, 1);
	cr_assert(!seen.rows[0].has_wall);
	cr_assert_eq(seen.rows[0].mono_ns, 1500000000);
	cr_assert_eq(seen.rows[0].numbers[STALL_BLKIO_MS], 12.5);
	cr_assert_str_eq(seen.rows[0].wchan, "jbd2");
}

Test(stall_csv, kinds_of_rows)
{
	struct seen seen = read_text("mono,proc,pid\n"
				     "1,SYS,0\n1,DISK,0\n1,other,0\n1,\"NOTE: rows lost: 3\",0\n"
				     "1,SYS,9\n");

	cr_assert_eq(seen.n, 5);
	cr_assert_eq(seen.rows[0].kind, STALL_ROW_SYSTEM);
	cr_assert_eq(seen.rows[1].kind, STALL_ROW_DISK);
	cr_assert_eq(seen.rows[2].kind, STALL_ROW_OTHER);
	cr_assert_eq(seen.rows[3].kind, STALL_ROW_NOTE);
	cr_assert_str_eq(seen.rows[3].name, "rows lost: 3");
	cr_assert_eq(seen.rows[4].kind, STALL_ROW_PROCESS, "a process may be called SYS");
}

Test(stall_csv, quoted_names)
{
	struct seen seen = read_text(HEAD "1,1,\"a \"\"b\"\", c\nd\",7,D,1,2,3,4,5,,,,,,,\n");

	cr_assert_eq(seen.n, 1);
	cr_assert_str_eq(seen.rows[0].name, "a \"b\", c\nd");
	cr_assert_eq(seen.rows[0].pid, 7);
	cr_assert_eq(seen.health.mended, 0);
	cr_assert_eq(seen.health.lines, 3);
}

Test(stall_csv, names_that_nobody_quoted)
{
	struct seen seen = read_text(HEAD "1,1,a,b,c,7,D,1,2,3,4,5,,,,,,,\n"
					  "2,2,x\ny,8,D,1,2,3,4,5,,,,,,,\n"
					  "3,3,\"q,9,D,1,2,3,4,5,,,,,,,\n"
					  "4,4,z\",10,D,1,2,3,4,5,,,,,,,\n");

	cr_assert_eq(seen.n, 4, "%zu: %s", seen.n, seen.health.first_fault.text);
	cr_assert_str_eq(seen.rows[0].name, "a,b,c");
	cr_assert_eq(seen.rows[0].pid, 7);
	cr_assert_eq(seen.rows[0].numbers[STALL_DISK_BUSY_MS], 5);
	cr_assert_str_eq(seen.rows[1].name, "x\ny");
	cr_assert_str_eq(seen.rows[2].name, "\"q");
	cr_assert_str_eq(seen.rows[3].name, "z\"");
	cr_assert_eq(seen.health.mended, 2);
	cr_assert_eq(seen.health.damaged, 0);
}

Test(stall_csv, a_file_that_is_cut_off)
{
	struct seen seen = read_text(HEAD "1,1,a,7,D,1,2,3,4,5,,,,,,,\n2,2,a,7,D,1,2,3,4,5,,,,,,,");

	cr_assert_eq(seen.n, 1, "the last number may be cut");
	cr_assert_eq(seen.health.cut_line, 3);
	cr_assert_eq(seen.health.damaged, 0);
}

Test(stall_csv, damaged_rows_are_counted_and_located)
{
	struct seen seen = read_text(HEAD "1,1,a,7,D,1,2,3,4,5,,,,,,,\n"
					  "1,x,a,7,D,1,2,3,4,5,,,,,,,\n"
					  "2,2,a,7\n"
					  "2,2,a,-7,D,1,2,3,4,5,,,,,,,\n"
					  "2,2,a,7,D,nan,2,3,4,5,,,,,,,\n"
					  "2,2,a,7,D,1e9,2,3,4,5,,,,,,,\n"
					  "\n"
					  "3,3,a,7,D,1,2,3,4,5,,,,,,,\n");

	cr_assert_eq(seen.n, 2);
	cr_assert_eq(seen.health.damaged, 5);
	cr_assert_eq(seen.health.first_damaged_line, 3);
	cr_assert(strstr(seen.health.first_fault.text, "mono"), "%s", seen.health.first_fault.text);
}

Test(stall_csv, a_counter_that_went_back_is_not_known)
{
	struct seen seen = read_text(HEAD "1,1,a,7,D,-5,2,-0,4,5,,,,,,,\n");

	cr_assert_eq(seen.n, 1);
	cr_assert(!stall_row_has(&seen.rows[0], STALL_WCHAR_KB));
	cr_assert(stall_row_has(&seen.rows[0], STALL_BLKIO_MS));
}

Test(stall_csv, no_header)
{
	cr_assert_eq(read_text("1,1,a,7,D,1,2,3,4,5,,,,,,,\n").r, -EBADMSG);
	cr_assert_eq(read_text("wall,mono,proc,state\n").r, -EBADMSG);
	cr_assert_eq(read_text("wall,mono,proc,pid").r, -EBADMSG, "it may be cut");
	cr_assert_eq(read_text("\x7f"
			       "ELF\n")
			     .r,
		     -EBADMSG);
	cr_assert_eq(read_text("").r, -ENODATA);
	cr_assert_eq(read_text(HEAD).r, 0);
}

Test(stall_csv, headers_in_between)
{
	struct seen seen = read_text("\xef\xbb\xbfmono,proc,pid\n1,a,7\npid,proc,mono\n8,b,2\n");

	cr_assert_eq(seen.n, 2);
	cr_assert_eq(seen.rows[1].pid, 8);
	cr_assert_eq(seen.rows[1].mono_ns, 2000000000);
}

Test(stall_csv, lines_and_fields_are_bounded)
{
	size_t size = 3 << 20;
	char *text = malloc(size), *at = text;
	struct seen seen;

	at += sprintf(at, "mono,proc,pid\n1,");
	memset(at, 'x', 1 << 20);
	at += 1 << 20;
	at += sprintf(at, ",7\n2,b,8\n3,");
	/* Names are cut. */
	memset(at, 'y', 10000);
	at += 10000;
	at += sprintf(at, ",9\n4,\"");
	/* A quote that is never closed swallows no more than its line. */
	at += sprintf(at, "q,10\n");
	for (int i = 0; i < 2000; i++)
		at += sprintf(at, "5,longer-than-that,11\n");
	read_bytes(text, (size_t)(at - text), 4096, &seen);
	free(text);
	cr_assert_eq(seen.r, 0);
	cr_assert_eq(seen.n, 2003, "%zu: %s", seen.n, seen.health.first_fault.text);
	cr_assert_eq(seen.rows[1].pid, 9);
	cr_assert_eq(strlen(seen.rows[1].name), STALL_NOTE_BYTES - 1);
	cr_assert_str_eq(seen.rows[2].name, "\"q");
	cr_assert_eq(seen.health.damaged, 1);
	cr_assert_eq(seen.health.first_damaged_line, 2);
}

static int stop(void *context, const struct stall_row *row)
{
	(void)context;
	(void)row;
	return 42;
}

Test(stall_csv, the_callback_can_end_it)
{
	struct stall_csv *csv;

	cr_assert_eq(stall_csv_create(stop, NULL, &csv), 0);
	cr_assert_eq(stall_csv_feed(csv, "mono,proc,pid\n1,a,7\n1,b,8\n", 26), 42);
	cr_assert_eq(stall_csv_health(csv)->rows, 1);
	stall_csv_destroy(csv);
}
