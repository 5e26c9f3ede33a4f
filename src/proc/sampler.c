/* SPDX-License-Identifier: MIT */
#include "sampler.h"

#include "clock.h"
#include "figure.h"
#include "hidden.h"
#include "stall_alert.h"

#include <stdarg.h>
#include <string.h>

enum {
	DELAY_LOOK_MS = 1000,
	CLOCK_STEP_MS = 100,
	TOLD_CHILD_BYTES = 1 << 20,
	CHILD_NOTE_MS = 10000, /* of the many that a compilation has, one is told */
};

struct sampler_moment sampler_now(void)
{
	return (struct sampler_moment){
		.mono_ns = clock_mono_ns(),
		.real_ns = clock_real_ns(),
		.boot_ns = clock_ns(CLOCK_BOOTTIME),
	};
}

int sampler_init(struct sampler *sampler, const struct sampler_options *options, struct why *why)
{
	int r;

	*sampler = (struct sampler){.options = *options};
	sampler->tick.all_columns = options->all_columns;
	proc_files_init(&sampler->files, options->proc_fd);
	machine_init(&sampler->machine);
	r = disks_init(&sampler->disks, options->sys_fd, options->disks, options->n_disks);
	if (r < 0)
		return why_set(why, r, "no memory");
	return processes_init(&sampler->processes, &sampler->files, why);
}

void sampler_deinit(struct sampler *sampler)
{
	processes_deinit(&sampler->processes);
	disks_deinit(&sampler->disks);
	machine_close(&sampler->machine, &sampler->files);
}

static void emit(struct sampler *sampler)
{
	const struct sampler_sink *sink = &sampler->options.sink;

	sampler->rows++;
	sink->row(sink->context, &sampler->tick, sampler->row.text, sampler->row.n);
}

void sampler_note(struct sampler *sampler, const char *format, ...)
{
	char text[CSV_TEXT_BYTES];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	stall_note_row(&sampler->row, &sampler->tick, text);
	emit(sampler);
}

static void note_delay(struct sampler *sampler)
{
	switch (sampler->delay.state) {
	case DELAY_OFF:
		sampler_note(sampler,
			     "delay accounting is off (kernel.task_delayacct), so d_blkio_ms "
			     "is empty: --enable-delayacct turns it on meanwhile; sysctl "
			     "kernel.task_delayacct=1, or delayacct on the kernel's command "
			     "line, turn it on for good");
		break;
	case DELAY_ON:
		if (sampler->delay.on_ticks)
			sampler_note(sampler,
				     "delay accounting is on, but not measured for tasks that were "
				     "made before it was turned on: their d_blkio_ms is empty");
		break;
	case DELAY_UNTOLD:
		sampler_note(sampler, "this kernel does not tell whether delay accounting is on: "
				      "d_blkio_ms is empty for who never waited");
		break;
	}
}

static void look_at_delay(struct sampler *sampler)
{
	uint64_t ticks_per_s = (uint64_t)sysconf(_SC_CLK_TCK);
	uint64_t now_ticks =
		(uint64_t)((unsigned __int128)sampler->boot_ns * ticks_per_s / NS_PER_S);
	uint64_t now_ns = sampler->tick.mono_ns;
	int proc_fd = sampler->options.proc_fd;
	bool changed = true;

	if (!sampler->samples)
		delay_switch_init(&sampler->delay, proc_fd, now_ticks);
	else if (now_ns - sampler->delay_seen_ns < (uint64_t)DELAY_LOOK_MS * NS_PER_MS)
		return;
	else
		changed = delay_switch_look(&sampler->delay, proc_fd, now_ticks);
	sampler->delay_seen_ns = now_ns;
	if (changed)
		note_delay(sampler);
}

static void note_hidden(struct sampler *sampler)
{
	char option[64];

	if (proc_is_hidden(sampler->options.proc_fd, option, sizeof(option)))
		sampler_note(sampler,
			     "/proc is mounted with %s: processes of other users are not seen, and "
			     "are in no row or sum; root sees them, and so does the group that the "
			     "option gid= of that mount names",
			     option);
}

/* A clock that was set, a machine that slept: times do not mean what they seem to. */
static void note_clocks(struct sampler *sampler, const struct sampler_moment *before)
{
	int64_t mono_ms = (int64_t)(sampler->tick.mono_ns - before->mono_ns) / NS_PER_MS;
	int64_t boot_ms = (int64_t)(sampler->boot_ns - before->boot_ns) / NS_PER_MS;
	int64_t real_ms = (int64_t)(sampler->tick.real_ns - before->real_ns) / NS_PER_MS;
	int64_t step_ms = real_ms - boot_ms;

	if (boot_ms - mono_ms >= CLOCK_STEP_MS)
		sampler_note(sampler, "the machine slept for %.3f s",
			     (double)(boot_ms - mono_ms) / 1000);
	if (step_ms >= CLOCK_STEP_MS || step_ms <= -CLOCK_STEP_MS)
		sampler_note(sampler, "the wall clock was set %.3f s %s",
			     (double)(step_ms < 0 ? -step_ms : step_ms) / 1000,
			     step_ms < 0 ? "back" : "forward");
}

/* What a child had counted, and was told, is its parent's when it has been waited for. */
static void take_children(struct sampler *sampler, struct thread_group *process)
{
	const struct vanished *child;

	while ((child = processes_take_child(&sampler->processes, process))) {
		if (child->io.value[IO_WCHAR] < TOLD_CHILD_BYTES &&
		    child->io.value[IO_WRITE_BYTES] < TOLD_CHILD_BYTES)
			continue;
		if (sampler->child_told_ns && sampler->tick.mono_ns - sampler->child_told_ns <
						      (uint64_t)CHILD_NOTE_MS * NS_PER_MS) {
			sampler->children_untold++;
			continue;
		}
		sampler_note(sampler,
			     "process %d (%s) took over the counters of its child %d (%s), which "
			     "has ended: %llu kB of wchar and %llu kB of write_bytes are not "
			     "counted once more; %llu others since the last such note",
			     process->pid, thread_group_name(process), child->pid, child->name,
			     (unsigned long long)child->io.value[IO_WCHAR] / 1024,
			     (unsigned long long)child->io.value[IO_WRITE_BYTES] / 1024,
			     (unsigned long long)sampler->children_untold);
		sampler->child_told_ns = sampler->tick.mono_ns;
		sampler->children_untold = 0;
	}
}

static void note_cut(struct sampler *sampler)
{
	if (sampler->told_cut)
		return;
	sampler->told_cut = true;
	sampler_note(sampler,
		     "this kernel tells longer waits than there was time for (Linux 6.12 and later "
		     "at times do, of tasks that are not of a real-time class): d_blkio_ms is cut "
		     "to the time, and may be too large");
}

/* Who had no major fault has had to wait for no swapped page, and need not be asked about. */
static void take_swapin(struct sampler *sampler, struct thread_group *process)
{
	const struct sampler_options *options = &sampler->options;
	uint64_t before = process->swapin_ns, now = FIGURE_UNKNOWN;

	if (!options->read_swapin)
		return;
	if (process->swapin_asked && (process->rests || !process->faulted)) {
		process->d_swapin_ns = figure_known(before) ? 0 : FIGURE_UNKNOWN;
		return;
	}
	process->swapin_asked = true;
	if (options->read_swapin(options->swapin, process->pid, &now) < 0)
		now = FIGURE_UNKNOWN;
	process->swapin_ns = delay_switch_measures(&sampler->delay, process->start_ticks, now)
				     ? now
				     : FIGURE_UNKNOWN;
	process->d_swapin_ns = figure_delta(process->swapin_ns, before);
}

/* Before the rows: these are of some only. */
static void take_all_swapin(struct sampler *sampler)
{
	struct thread_group *process = NULL;

	while ((process = processes_next(&sampler->processes, process)))
		take_swapin(sampler, process);
}

static void process_rows(struct sampler *sampler)
{
	struct stall_figures other = STALL_FIGURES_NONE, figures;
	struct thread_group *process = NULL;

	while ((process = processes_next(&sampler->processes, process))) {
		char state = thread_group_state(process);
		const char *label;

		if (process->renamed) {
			process->label = watch_list_label(&sampler->options.watch, process->pid,
							  thread_group_name(process));
			process->renamed = false;
		}
		if (process->rests && state != 'D')
			continue;
		take_children(sampler, process);
		if (process->was_cut)
			note_cut(sampler);
		stall_figures_of(process, &figures);
		label = process->label;
		if (state == 'D' && !label)
			label = thread_group_name(process);
		if (!label) {
			stall_figures_add(&other, &figures);
		} else if (state == 'D' || stall_has_signal(&figures)) {
			stall_process_row(&sampler->row, &sampler->tick, sampler->options.proc_fd,
					  process, label, state, &figures);
			emit(sampler);
		}
	}
	if (stall_has_signal(&other)) {
		stall_other_row(&sampler->row, &sampler->tick, &other);
		emit(sampler);
	}
}

static bool has_moved(const struct disk *disk)
{
	for (int i = 0; i < N_DISK_GROWING; i++) {
		if (figure_known(disk->delta[i]) && disk->delta[i])
			return true;
	}
	return figure_known(disk->now[DISK_IN_FLIGHT]) && disk->now[DISK_IN_FLIGHT];
}

static void disk_rows(struct sampler *sampler)
{
	for (size_t i = 0; i < sampler->disks.n && sampler->tick.all_columns; i++) {
		const struct disk *disk = &sampler->disks.disks[i];

		if (disk->seen && has_moved(disk)) {
			stall_disk_row(&sampler->row, &sampler->tick, disk);
			emit(sampler);
		}
	}
}

static void begin_tick(struct sampler *sampler, const struct sampler_moment *moment,
		       uint64_t missed)
{
	struct sampler_moment before = {
		.mono_ns = sampler->tick.mono_ns,
		.real_ns = sampler->tick.real_ns,
		.boot_ns = sampler->boot_ns,
	};

	sampler->interval_ns = moment->mono_ns - before.mono_ns;
	sampler->tick.mono_ns = moment->mono_ns;
	sampler->tick.real_ns = moment->real_ns;
	sampler->boot_ns = moment->boot_ns;
	sampler->tick.missed = missed;
	if (sampler->samples)
		note_clocks(sampler, &before);
	if (missed)
		sampler_note(sampler, "%llu ticks missed since mono %.3f: the sampler did not run",
			     (unsigned long long)missed, (double)before.mono_ns / NS_PER_S);
}

static void note_swapin(struct sampler *sampler)
{
	if (sampler->tick.all_columns && !sampler->options.read_swapin)
		sampler_note(sampler,
			     "waits for swapped-out pages cannot be had, and d_swapin_ms is "
			     "empty: %s",
			     sampler->options.no_swapin);
}

void sampler_tick(struct sampler *sampler, const struct sampler_moment *moment, uint64_t missed)
{
	const struct machine_sample *before = &sampler->machine_before;
	struct machine_sample machine;
	bool quiet;
	int r;

	begin_tick(sampler, moment, missed);
	look_at_delay(sampler);
	if (!sampler->samples) {
		note_hidden(sampler);
		note_swapin(sampler);
	}
	disks_read(&sampler->disks, &sampler->files);
	sampler->tick.disk_write_sectors = disks_sum(&sampler->disks, DISK_WRITE_SECTORS);
	sampler->tick.disk_busy_ms = disks_sum(&sampler->disks, DISK_BUSY_MS);
	machine_read(&sampler->machine, &sampler->files, sampler->tick.all_columns, &machine);
	/* Where nobody tells who waits, the disks alone do. */
	quiet = sampler->samples && sampler->disks.at_rest &&
		machine.value[MACHINE_IO_SOME_US] == before->value[MACHINE_IO_SOME_US];
	r = processes_read(&sampler->processes, &sampler->delay, moment->mono_ns, quiet);
	if (r < 0 && !sampler->no_memory) {
		sampler_note(sampler, "no memory: some processes are not seen");
		sampler->no_memory = true;
	}
	take_all_swapin(sampler);
	if (sampler->samples) {
		process_rows(sampler);
		disk_rows(sampler);
		stall_machine_row(&sampler->row, &sampler->tick, &machine, before);
		emit(sampler);
		if (sampler->options.alert_ns)
			stall_alert_look(sampler);
	}
	sampler->machine_before = machine;
	sampler->samples++;
}

void sampler_finish(struct sampler *sampler, const struct sampler_moment *moment)
{
	sampler->tick.mono_ns = moment->mono_ns;
	sampler->tick.real_ns = moment->real_ns;
	sampler->tick.missed = 0;
	if (sampler->processes.denied)
		sampler_note(
			sampler,
			"counters of processes may not be read, and are empty: of %llu in all%s",
			(unsigned long long)sampler->processes.denied,
			proc_may_trace_all() ? "" : "; root may (CAP_SYS_PTRACE)");
	if (sampler->children_untold)
		sampler_note(sampler,
			     "counters of %llu children more that have ended were taken over by "
			     "their parents, and are not counted once more",
			     (unsigned long long)sampler->children_untold);
}
