/* SPDX-License-Identifier: MIT */
#include "stall_rows.h"

#include "clock.h"
#include "figure.h"

#include <fcntl.h>
#include <string.h>
#include <sys/syscall.h>

enum {
	SIGNAL_BYTES = 4096, /* more than these */
	SIGNAL_WAIT_MS = 5,
	MACHINE_FIELDS = 7, /* at the end of the default columns */
	MORE_FIELDS = 18,   /* of all columns, behind those */
	CGROUP_BYTES = 512,
};

#define DEFAULT_COLUMNS                                                               \
	"wall,mono,proc,pid,state,d_wchar_kB,d_wbytes_kB,d_blkio_ms,disk_d_write_kB," \
	"disk_d_busy_ms,compact_stall,allocstall,pgmajfault,dirty_kB,writeback_kB,"   \
	"memfree_kB,memavail_kB"
#define MORE_COLUMNS                                                                   \
	",worst_tid,worst_thread,start_ms,d_rchar_kB,d_rbytes_kB,ioprio,cgroup,wchan," \
	"d_swapin_ms,psi_io_some_ms,psi_io_full_ms,psi_memory_some_ms,"                \
	"psi_memory_full_ms,disk,disk_d_read_kB,disk_d_queue_ms,disk_in_flight,"       \
	"missed_ticks"

const char *stall_header(bool all_columns)
{
	return all_columns ? DEFAULT_COLUMNS MORE_COLUMNS "\n" : DEFAULT_COLUMNS "\n";
}

static bool exceeds(uint64_t figure, uint64_t limit)
{
	return figure_known(figure) && figure > limit;
}

bool stall_has_signal(const struct stall_figures *figures)
{
	return exceeds(figures->delta[IO_WCHAR], SIGNAL_BYTES) ||
	       exceeds(figures->delta[IO_WRITE_BYTES], SIGNAL_BYTES) ||
	       exceeds(figures->blkio_ms, SIGNAL_WAIT_MS) ||
	       exceeds(figures->swapin_ms, SIGNAL_WAIT_MS);
}

static uint64_t ticks_to_ms(uint64_t ticks)
{
	return figure_known(ticks) ? ticks * 1000 / (uint64_t)sysconf(_SC_CLK_TCK) : ticks;
}

/* Rounded to the nearest, halves to even, as printf() does. */
static uint64_t scaled(uint64_t figure, uint64_t unit)
{
	uint64_t whole, rest;

	if (!figure_known(figure))
		return figure;
	whole = figure / unit;
	rest = figure % unit * 2;
	return whole + (rest > unit || (rest == unit && whole % 2));
}

void stall_figures_of(const struct thread_group *process, struct stall_figures *ret)
{
	memcpy(ret->delta, process->delta, sizeof(ret->delta));
	ret->blkio_ms = ticks_to_ms(process->d_blkio_ticks);
	ret->swapin_ms = scaled(process->d_swapin_ns, NS_PER_MS);
}

void stall_figures_add(struct stall_figures *sum, const struct stall_figures *figures)
{
	for (int i = 0; i < N_IO_COUNTERS; i++)
		sum->delta[i] = figure_sum(sum->delta[i], figures->delta[i]);
	sum->blkio_ms = figure_sum(sum->blkio_ms, figures->blkio_ms);
	sum->swapin_ms = figure_sum(sum->swapin_ms, figures->swapin_ms);
}

/* Seconds with three decimals. */
static void put_time(struct csv_row *row, uint64_t ns)
{
	uint64_t ms = scaled(ns, NS_PER_MS);

	csv_number(row, ms / 1000);
	row->text[row->n++] = '.';
	for (uint64_t unit = 100; unit; unit /= 10)
		row->text[row->n++] = (char)('0' + ms / unit % 10);
}

static void begin(struct csv_row *row, const struct stall_tick *tick, const char *name, pid_t pid,
		  char state)
{
	char text[2] = {state};

	csv_begin(row);
	put_time(row, tick->real_ns);
	put_time(row, tick->mono_ns);
	csv_text(row, name);
	csv_number(row, (uint64_t)pid);
	csv_text(row, text);
}

static void put_figures(struct csv_row *row, const struct stall_tick *tick,
			const struct stall_figures *figures)
{
	csv_number(row, scaled(figures->delta[IO_WCHAR], 1024));
	csv_number(row, scaled(figures->delta[IO_WRITE_BYTES], 1024));
	csv_number(row, figures->blkio_ms);
	csv_number(row, scaled(tick->disk_write_sectors, 2));
	csv_number(row, tick->disk_busy_ms);
	csv_empty(row, MACHINE_FIELDS);
}

static void end(struct csv_row *row, const struct stall_tick *tick, unsigned fields_before)
{
	if (tick->all_columns)
		csv_empty(row, 10 + MACHINE_FIELDS + MORE_FIELDS - fields_before);
	csv_end(row);
}

/* "be/4"; what a task that set none gets is the kernel's business. */
static void put_io_priority(struct csv_row *row, pid_t tid)
{
	enum {
		WHO_PROCESS = 1, /* one thread, in fact */
		CLASS_SHIFT = 13,
	};
	static const char *const classes[] = {"none", "rt", "be", "idle"};
	long priority = syscall(SYS_ioprio_get, WHO_PROCESS, tid);

	if (priority < 0 || priority >> CLASS_SHIFT > 3)
		csv_empty(row, 1);
	else
		csv_printf(row, "%s/%ld", classes[priority >> CLASS_SHIFT],
			   priority & ((1 << CLASS_SHIFT) - 1) & 7);
}

static bool read_line(int proc_fd, const char *path, char *ret, size_t size)
{
	_cleanup_close_ int fd = openat(proc_fd, path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, ret, size - 1);

	if (n <= 0)
		return false;
	ret[n] = '\0';
	return true;
}

bool stall_wait_channel(int proc_fd, pid_t pid, pid_t tid, char *ret, size_t size)
{
	char path[64];

	snprintf(path, sizeof(path), "%d/task/%d/wchan", pid, tid);
	/* "0": it does not wait, or may not be known. */
	return read_line(proc_fd, path, ret, size) && strcmp(ret, "0") != 0;
}

/* "0::/PATH" of the one hierarchy that there is nowadays. */
static void put_cgroup(struct csv_row *row, int proc_fd, pid_t pid)
{
	char path[64], text[CGROUP_BYTES], *at;

	snprintf(path, sizeof(path), "%d/cgroup", pid);
	at = read_line(proc_fd, path, text, sizeof(text)) ? text : NULL;
	while (at && strncmp(at, "0::", 3) != 0) {
		at = strchr(at, '\n');
		at = at ? at + 1 : NULL;
	}
	if (!at) {
		csv_empty(row, 1);
		return;
	}
	at[strcspn(at, "\n")] = '\0';
	csv_text(row, at + 3);
}

static void put_waiting(struct csv_row *row, int proc_fd, pid_t pid, const struct thread *worst)
{
	char channel[TASK_NAME_BYTES];

	if (worst->stat.state == 'D' &&
	    stall_wait_channel(proc_fd, pid, worst->tid, channel, sizeof(channel)))
		csv_text(row, channel);
	else
		csv_empty(row, 1);
}

void stall_process_row(struct csv_row *row, const struct stall_tick *tick, int proc_fd,
		       const struct thread_group *process, const char *label, char state,
		       const struct stall_figures *figures)
{
	const struct thread *worst;

	begin(row, tick, label, process->pid, state);
	put_figures(row, tick, figures);
	if (tick->all_columns) {
		worst = thread_group_worst_thread(process);
		csv_number(row, (uint64_t)worst->tid);
		csv_text(row, worst->stat.name);
		csv_number(row, ticks_to_ms(process->start_ticks));
		csv_number(row, scaled(figures->delta[IO_RCHAR], 1024));
		csv_number(row, scaled(figures->delta[IO_READ_BYTES], 1024));
		put_io_priority(row, worst->tid);
		put_cgroup(row, proc_fd, process->pid);
		put_waiting(row, proc_fd, process->pid, worst);
		csv_number(row, figures->swapin_ms);
	}
	end(row, tick, row->fields);
}

void stall_other_row(struct csv_row *row, const struct stall_tick *tick,
		     const struct stall_figures *figures)
{
	begin(row, tick, "other", 0, '-');
	put_figures(row, tick, figures);
	if (tick->all_columns) {
		csv_empty(row, 3);
		csv_number(row, scaled(figures->delta[IO_RCHAR], 1024));
		csv_number(row, scaled(figures->delta[IO_READ_BYTES], 1024));
		csv_empty(row, 3);
		csv_number(row, figures->swapin_ms);
	}
	end(row, tick, row->fields);
}

void stall_disk_row(struct csv_row *row, const struct stall_tick *tick, const struct disk *disk)
{
	begin(row, tick, "DISK", 0, '-');
	csv_empty(row, 3);
	csv_number(row, scaled(disk->delta[DISK_WRITE_SECTORS], 2));
	csv_number(row, disk->delta[DISK_BUSY_MS]);
	csv_empty(row, MACHINE_FIELDS + 13);
	csv_text(row, disk->name);
	csv_number(row, scaled(disk->delta[DISK_READ_SECTORS], 2));
	csv_number(row, disk->delta[DISK_QUEUE_MS]);
	csv_number(row, disk->now[DISK_IN_FLIGHT]);
	end(row, tick, row->fields);
}

void stall_machine_row(struct csv_row *row, const struct stall_tick *tick,
		       const struct machine_sample *now, const struct machine_sample *before)
{
	uint64_t delta[N_MACHINE_GROWING];

	for (int i = 0; i < N_MACHINE_GROWING; i++)
		delta[i] = figure_delta(now->value[i], before->value[i]);
	begin(row, tick, "SYS", 0, '-');
	csv_empty(row, 5);
	for (int i = MACHINE_COMPACT_STALL; i <= MACHINE_MAJOR_FAULTS; i++)
		csv_number(row, delta[i]);
	for (int i = MACHINE_DIRTY_KB; i <= MACHINE_AVAILABLE_KB; i++)
		csv_number(row, now->value[i]);
	if (tick->all_columns) {
		csv_empty(row, 9);
		for (int i = MACHINE_IO_SOME_US; i <= MACHINE_MEMORY_FULL_US; i++)
			csv_number(row, scaled(delta[i], 1000));
		csv_empty(row, 4);
		csv_number(row, tick->missed);
	}
	end(row, tick, row->fields);
}

void stall_note_row(struct csv_row *row, const struct stall_tick *tick, const char *text)
{
	char note[CSV_TEXT_BYTES];

	snprintf(note, sizeof(note), "NOTE: %s", text);
	csv_begin(row);
	put_time(row, tick->real_ns);
	put_time(row, tick->mono_ns);
	csv_quoted(row, note);
	csv_number(row, 0);
	csv_text(row, "-");
	csv_empty(row, 12);
	end(row, tick, row->fields);
}
