/* SPDX-License-Identifier: MIT */
/* What the ticks and rows of a stall and of its lead-in add up to. */
#include "stall_history.h"

#include "clock.h"
#include "grow.h"

enum {
	BURST_KB = 8 << 10, /* growth of dirty memory, or writeback, that is no daily routine */
	WRITER_MIN_KB = 16,
};

bool stall_compaction(const struct stall_system *system)
{
	return system->compact[1] > 0;
}

bool stall_reclaim(const struct stall_system *system)
{
	return system->allocstall[1] > 0;
}

static double greatest(const double of[2])
{
	return fmax(of[0], of[1]);
}

bool stall_writeback(const struct stall_system *system)
{
	return greatest(system->dirty_kb) - system->dirty_first_kb >= BURST_KB ||
	       system->writeback_kb[1] >= BURST_KB;
}

/* 1 = of the stall, 0 = of the lead-in. A tick tells of the time since the one before. */
static int phase_of(const struct stall_event *stall, uint64_t mono_ns)
{
	return mono_ns > stall->start_ns;
}

static void add_system(struct stall_system *system, const struct stall_tick *tick, int phase)
{
	system->is_known |= !isnan(tick->compact) || !isnan(tick->allocstall) ||
			    !isnan(tick->dirty_kb) || !isnan(tick->writeback_kb);
	stall_add(&system->compact[phase], tick->compact);
	stall_add(&system->allocstall[phase], tick->allocstall);
	stall_add(&system->majfault[phase], tick->majfault);
	system->dirty_kb[phase] = fmax(system->dirty_kb[phase], tick->dirty_kb);
	system->writeback_kb[phase] = fmax(system->writeback_kb[phase], tick->writeback_kb);
	if (!phase || isnan(system->dirty_first_kb))
		system->dirty_first_kb = fmin(system->dirty_first_kb, tick->dirty_kb);
	if (!phase || isnan(system->writeback_first_kb))
		system->writeback_first_kb = fmin(system->writeback_first_kb, tick->writeback_kb);
	if (!phase)
		return;
	system->memavail_kb = fmin(system->memavail_kb, tick->memavail_kb);
	for (int i = 0; i < 4; i++)
		stall_add(&system->psi_ms[i], tick->psi_ms[i]);
}

static void init_disk(struct stall_disk *disk, const char *name)
{
	*disk = (struct stall_disk){
		.write_kb = {NAN, NAN},
		.read_kb = {NAN, NAN},
		.busy_ms = {NAN, NAN},
		.in_flight_max = NAN,
	};
	snprintf(disk->name, sizeof(disk->name), "%s", name);
}

static void add_disk(struct stall_disk *disk, int phase, float busy_ms, float write_kb,
		     float read_kb, float ms)
{
	stall_add(&disk->write_kb[phase], write_kb);
	stall_add(&disk->read_kb[phase], read_kb);
	if (isnan(busy_ms) || isnan(ms))
		return;
	stall_add(&disk->busy_ms[phase], busy_ms);
	disk->known_ms[phase] += ms;
}

static void add_ticks(const struct stall_history *history, uint64_t from_ns,
		      struct stall_event *stall)
{
	const struct stall_queue *ticks = &history->ticks;
	double ms = 0;
	size_t n = 0;

	init_disk(&stall->disks[0], "");
	stall->n_disks = 1;
	for (size_t i = stall_queue_find(ticks, from_ns); i < ticks->n; i++) {
		const struct stall_tick *tick = stall_queue_at(ticks, i);
		int phase = phase_of(stall, tick->mono_ns);

		/* The tick behind the end tells of the end. */
		if (!isnan(tick->ms) &&
		    tick->mono_ns > stall->end_ns + (uint64_t)((double)tick->ms * NS_PER_MS))
			break;
		if (!isnan(tick->ms)) {
			ms += tick->ms;
			n++;
		}
		if (tick->has_wall) {
			stall->has_wall = true;
			stall->wall_offset_ns = tick->wall_offset_ns;
		}
		stall_add(&stall->system.missed_ticks, tick->missed);
		/* Counters of the tick behind are of the time after it; levels hardly differ. */
		if (tick->mono_ns > stall->end_ns)
			continue;
		add_disk(&stall->disks[0], phase, tick->disk_busy_ms, tick->disk_write_kb, NAN,
			 tick->ms);
		if (tick->has_system)
			add_system(&stall->system, tick, phase);
	}
	stall->tick_ms = n ? ms / (double)n : NAN;
}

/* Rows of each disk tell more than their sum. */
static void add_disks(const struct stall_history *history, uint64_t from_ns,
		      struct stall_event *stall)
{
	const struct stall_queue *samples = &history->disk_samples;
	size_t first = stall_queue_find(samples, from_ns);

	for (size_t i = first; i < samples->n; i++) {
		const struct stall_disk_sample *sample = stall_queue_at(samples, i);
		const char *name = history->disks[sample->disk];
		size_t k = 0;

		if (sample->mono_ns > stall->end_ns)
			break;
		if (i == first)
			stall->n_disks = 0;
		while (k < stall->n_disks && strcmp(stall->disks[k].name, name) != 0)
			k++;
		if (k == STALL_LIST_MAX)
			continue;
		if (k == stall->n_disks)
			init_disk(&stall->disks[stall->n_disks++], name);
		add_disk(&stall->disks[k], phase_of(stall, sample->mono_ns), sample->busy_ms,
			 sample->write_kb, sample->read_kb, sample->ms);
		stall->disks[k].in_flight_max =
			fmax(stall->disks[k].in_flight_max, sample->in_flight);
	}
}

static void add_notes(const struct stall_history *history, uint64_t from_ns,
		      struct stall_event *stall)
{
	const struct stall_queue *notes = &history->notes;

	for (size_t i = stall_queue_find(notes, from_ns); i < notes->n; i++) {
		const struct stall_note *note = stall_queue_at(notes, i);

		if (stall->n_notes == STALL_LIST_MAX)
			break;
		memcpy(stall->notes[stall->n_notes++], note->text, sizeof(note->text));
	}
}

static double known(double value)
{
	return isnan(value) ? 0 : value;
}

static double written_kb(const struct stall_writer *writer)
{
	return fmax(known(writer->calls_kb[0]) + known(writer->calls_kb[1]),
		    known(writer->device_kb[0]) + known(writer->device_kb[1]));
}

static double read_kb(const struct stall_writer *writer)
{
	return known(writer->read_kb[0]) + known(writer->read_kb[1]);
}

/*
 * The kernel charges a buffered write when it makes a page dirty: what is charged may be in memory
 * still. That dirty memory grew tells such a writer from a direct one.
 */
static enum stall_writer_kind kind_of(const struct stall_writer *writer,
				      const struct stall_system *system)
{
	double calls_kb = writer->calls_kb[0] + writer->calls_kb[1];
	double device_kb = writer->device_kb[0] + writer->device_kb[1];
	double grown_kb = greatest(system->dirty_kb) - system->dirty_first_kb;

	if (read_kb(writer) > written_kb(writer))
		return STALL_READS;
	if (isnan(calls_kb) || isnan(device_kb))
		return STALL_WRITES_UNKNOWN;
	if (device_kb < calls_kb / 4)
		return STALL_WRITES_BUFFERED;
	if (device_kb > 2 * calls_kb)
		return STALL_WRITES_MAPPED;
	if (isnan(grown_kb))
		return STALL_WRITES_UNKNOWN;
	return grown_kb >= device_kb / 4 ? STALL_WRITES_BUFFERED : STALL_WRITES_DIRECT;
}

static int by_amount(const void *a, const void *b)
{
	const struct stall_writer *x = a, *y = b;
	double dx = written_kb(x) + read_kb(x), dy = written_kb(y) + read_kb(y);

	return dx > dy ? -1 : dx < dy;
}

struct writers {
	struct stall_writer *items;
	size_t n;
};

static struct stall_writer *writer_of(struct stall_history *history, struct writers *writers,
				      struct stall_process *process)
{
	struct stall_writer *items;

	if (process->in_sum == history->sums)
		return &writers->items[process->place];
	items = grow_list(writers->items, writers->n, sizeof(*items));
	if (!items)
		return NULL;
	writers->items = items;
	process->in_sum = history->sums;
	process->place = writers->n;
	items[writers->n] = (struct stall_writer){
		.pid = process->key.pid,
		.calls_kb = {NAN, NAN},
		.device_kb = {NAN, NAN},
		.read_kb = {NAN, NAN},
	};
	memcpy(items[writers->n].name, process->key.name, STALL_NAME_BYTES);
	return &items[writers->n++];
}

static int sum_writers(struct stall_history *history, uint64_t from_ns,
		       const struct stall_event *stall, struct writers *writers)
{
	const struct stall_queue *samples = &history->samples;

	history->sums++;
	for (size_t i = stall_queue_find(samples, from_ns); i < samples->n; i++) {
		const struct stall_sample *sample = stall_queue_at(samples, i);
		int phase = phase_of(stall, sample->mono_ns);
		struct stall_writer *writer;

		if (sample->mono_ns > stall->end_ns)
			break;
		writer = writer_of(history, writers, sample->process);
		if (!writer)
			return -ENOMEM;
		stall_add(&writer->calls_kb[phase], sample->calls_kb);
		stall_add(&writer->device_kb[phase], sample->device_kb);
		stall_add(&writer->read_kb[phase], sample->read_kb);
	}
	return 0;
}

/* A phase without a row has nothing; a column that no row has is not known. */
static void settle(double phases[2])
{
	if (isnan(phases[0]) != isnan(phases[1]))
		phases[isnan(phases[1])] = 0;
}

static int add_writers(struct stall_history *history, uint64_t from_ns, struct stall_event *stall)
{
	_cleanup_free_ struct stall_writer *items = NULL;
	struct writers writers = {NULL};
	int r = sum_writers(history, from_ns, stall, &writers);

	items = writers.items;
	if (r < 0)
		return r;
	for (size_t i = 0; i < writers.n; i++) {
		struct stall_writer *writer = &items[i];

		settle(writer->calls_kb);
		settle(writer->device_kb);
		settle(writer->read_kb);
		for (size_t v = 0; v < stall->n_victims; v++) {
			struct stall_victim *victim = &stall->victims[v];

			if (victim->pid == writer->pid && !strcmp(victim->name, writer->name))
				victim->wrote_kb = written_kb(writer);
		}
		writer->kind = kind_of(writer, &stall->system);
	}
	if (writers.n)
		qsort(items, writers.n, sizeof(*items), by_amount);
	for (size_t i = 0;
	     i < writers.n && written_kb(&items[i]) + read_kb(&items[i]) >= WRITER_MIN_KB; i++) {
		if (i < STALL_LIST_MAX)
			stall->writers[stall->n_writers++] = items[i];
		stall->all_writers++;
	}
	return 0;
}

int stall_figures(struct stall_history *history, uint64_t window_ns, struct stall_event *stall)
{
	uint64_t from_ns = stall->start_ns > window_ns ? stall->start_ns - window_ns : 0;

	if (history->ticks.n) {
		const struct stall_tick *first = stall_queue_at(&history->ticks, 0);

		if (from_ns < first->mono_ns)
			from_ns = first->mono_ns;
	}
	stall->lead_ns = stall->start_ns > from_ns ? stall->start_ns - from_ns : 0;
	stall->rows_lost = from_ns < history->lost_before_ns;
	stall->system = (struct stall_system){
		.compact = {NAN, NAN},
		.allocstall = {NAN, NAN},
		.majfault = {NAN, NAN},
		.dirty_kb = {NAN, NAN},
		.writeback_kb = {NAN, NAN},
		.dirty_first_kb = NAN,
		.writeback_first_kb = NAN,
		.memavail_kb = NAN,
		.psi_ms = {NAN, NAN, NAN, NAN},
		.missed_ticks = NAN,
	};
	add_ticks(history, from_ns, stall);
	add_disks(history, from_ns, stall);
	add_notes(history, from_ns, stall);
	return add_writers(history, from_ns, stall);
}
