/* SPDX-License-Identifier: MIT */
/* From rows to ticks, from ticks to the time in which each process was blocked, to stalls. */
#include "stall_history.h"

#include "clock.h"
#include "grow.h"

/* The kernel may count in ticks of 10 ms. */
#define SLACK_NS (UINT64_C(10) * NS_PER_MS)
/* Between two ticks: the sampler was not running. */
#define GAP_NS (UINT64_C(60) * NS_PER_S)

struct stall_finder {
	struct stall_finder_options options;
	stall_found found;
	void *context;
	struct stall_history history;
	struct stall_summary summary;
	struct stall_process **open; /* whose episodes are open */
	size_t n_open;
	struct stall_tick tick; /* the one that is being read */
	bool in_tick, in_run;
	uint64_t tick_number; /* from 1 */
	uint64_t previous_ns; /* of the tick before; has no meaning for the first one of a run */
	bool has_previous;
	struct stall_event stall; /* that is being put together */
	bool has_stall;
	uint64_t moment_ns; /* the one that was asked for, monotonic */
	bool has_moment, moment_told, moment_seen;
	uint64_t last_wall_ns;
};

int stall_finder_create(const struct stall_finder_options *options, stall_found found,
			void *context, struct stall_finder **ret)
{
	struct stall_finder *finder = calloc(1, sizeof(*finder));

	if (!finder)
		return -ENOMEM;
	finder->options = *options;
	finder->found = found;
	finder->context = context;
	stall_history_init(&finder->history);
	*ret = finder;
	return 0;
}

void stall_finder_destroy(struct stall_finder *finder)
{
	if (!finder)
		return;
	stall_history_deinit(&finder->history);
	free(finder->open);
	free(finder);
}

const struct stall_summary *stall_finder_summary(const struct stall_finder *finder)
{
	return &finder->summary;
}

bool stall_finder_has_moment(const struct stall_finder *finder)
{
	return finder->moment_seen;
}

static uint64_t before(uint64_t ns, uint64_t by_ns)
{
	return ns > by_ns ? ns - by_ns : 0;
}

static uint64_t tick_ns(const struct stall_finder *finder)
{
	return finder->has_previous ? finder->tick.mono_ns - finder->previous_ns : 0;
}

static int tell(struct stall_finder *finder)
{
	struct stall_event *stall = &finder->stall;
	int r = stall_figures(&finder->history, finder->options.window_ns, stall);

	if (r < 0)
		return r;
	stall_rank_victims(stall);
	finder->has_stall = false;
	return finder->found(finder->context, stall);
}

static int tell_moment(struct stall_finder *finder)
{
	uint64_t window_ns = finder->options.window_ns;
	int r;

	finder->stall = (struct stall_event){
		.start_ns = before(finder->moment_ns, window_ns),
		.end_ns = finder->moment_ns + window_ns,
		.is_moment = true,
	};
	r = stall_moment_victims(&finder->history, &finder->stall);
	finder->moment_told = true;
	return r < 0 ? r : tell(finder);
}

/* True if an episode that is still open has begun before the stall is over. */
static bool is_bridged(const struct stall_finder *finder)
{
	for (size_t i = 0; i < finder->n_open; i++) {
		if (finder->open[i]->episode.start_ns <= finder->stall.end_ns + tick_ns(finder))
			return true;
	}
	return false;
}

static int add_to_stall(struct stall_finder *finder, const struct stall_victim *victim)
{
	struct stall_event *stall = &finder->stall;
	int r = 0;

	if (finder->has_stall && victim->start_ns > stall->end_ns + tick_ns(finder) &&
	    !is_bridged(finder))
		r = tell(finder);
	if (r)
		return r;
	if (!finder->has_stall)
		*stall = (struct stall_event){.start_ns = victim->start_ns,
					      .end_ns = victim->end_ns};
	finder->has_stall = true;
	if (victim->start_ns < stall->start_ns)
		stall->start_ns = victim->start_ns;
	if (victim->end_ns > stall->end_ns)
		stall->end_ns = victim->end_ns;
	stall_add_victim(stall, victim);
	return 0;
}

/* What an episode tells; false if it is too short to be told. */
static bool make_victim(const struct stall_finder *finder, const struct stall_process *process,
			struct stall_victim *ret)
{
	const struct stall_episode *e = &process->episode;
	double threshold_ms = (double)finder->options.threshold_ns / NS_PER_MS;
	double half_tick_ms = (double)tick_ns(finder) / 2 / NS_PER_MS;
	double d_ms = e->samples ? (double)(e->last_d_ns - e->first_d_ns) / NS_PER_MS : 0;
	double span_ms = (double)(e->end_ns - e->start_ns) / NS_PER_MS;
	/* Was in state D for longer than it is said to have waited: the wait is not over, is not
	 * one for a block device, or nobody accounts for it. */
	bool measured = e->blkio_ms > 0 && e->blkio_ms >= 0.8 * d_ms;

	*ret = (struct stall_victim){
		.pid = process->key.pid,
		.start_ns = e->start_ns,
		.end_ns = e->end_ns,
		.blocked_ms = measured ? e->blkio_ms : d_ms + half_tick_ms,
		.longest_ms = measured ? e->longest_ms : d_ms + half_tick_ms,
		.measured = measured,
		.threads_add_up =
			measured &&
			(e->threads_add_up || e->blkio_ms > span_ms + (double)SLACK_NS / NS_PER_MS),
		.samples = e->samples,
		.tid = process->tid,
	};
	memcpy(ret->name, process->key.name, sizeof(ret->name));
	memcpy(ret->thread, process->thread, sizeof(ret->thread));
	memcpy(ret->wchan, process->wchan, sizeof(ret->wchan));
	return ret->blocked_ms >= threshold_ms;
}

/* The ith open episode is over. */
static int close_episode(struct stall_finder *finder, size_t i, bool goes_on)
{
	struct stall_process *process = finder->open[i];
	struct stall_victim victim;
	bool is_told = make_victim(finder, process, &victim);
	int r = 0;

	victim.goes_on = goes_on;
	process->episode = (struct stall_episode){0};
	finder->open[i] = finder->open[--finder->n_open];
	if (is_told && !finder->options.at.is_set)
		r = add_to_stall(finder, &victim);
	stall_history_release(&finder->history, process);
	return r;
}

static int close_of(struct stall_finder *finder, struct stall_process *process)
{
	for (size_t i = 0; i < finder->n_open; i++) {
		if (finder->open[i] == process)
			return close_episode(finder, i, false);
	}
	return 0;
}

static int open_episode(struct stall_finder *finder, struct stall_process *process,
			uint64_t start_ns, uint64_t end_ns)
{
	struct stall_process **open = grow_list(finder->open, finder->n_open, sizeof(*open));

	if (!open)
		return -ENOMEM;
	finder->open = open;
	open[finder->n_open++] = process;
	process->episode = (struct stall_episode){
		.is_open = true,
		.start_ns = start_ns,
		.end_ns = end_ns,
		.tick = finder->tick_number,
	};
	return 0;
}

/* When, at the earliest, a wait that a row tells can have begun: it was not in state D then. */
static uint64_t earliest(const struct stall_finder *finder, const struct stall_process *process)
{
	if (process->d_tick && process->d_tick == finder->tick_number - 1)
		return process->d_before_ns;
	return finder->has_previous ? finder->previous_ns : 0;
}

/* The wait that a row tells, which ended in the last tick. *@blkio_ms: what of it is in @ret. */
static uint64_t wait_start(const struct stall_finder *finder, const struct stall_process *process,
			   double *blkio_ms, bool *ret_add_up)
{
	uint64_t now = finder->tick.mono_ns, wait_ns = (uint64_t)fmin(*blkio_ms * NS_PER_MS, 1e18);
	uint64_t start_ns = before(now, wait_ns), first_ns = earliest(finder, process);
	uint64_t floor_ns = process->episode.is_open ? process->episode.floor_ns : 0;

	if (start_ns + SLACK_NS < first_ns)
		*ret_add_up = true;
	if (start_ns < floor_ns) {
		*blkio_ms = (double)(now - floor_ns) / NS_PER_MS;
		start_ns = floor_ns;
	}
	return start_ns < first_ns ? first_ns : start_ns;
}

/* A process's row tells of waiting. */
static int extend(struct stall_finder *finder, struct stall_process *process, double blkio_ms,
		  bool is_d)
{
	uint64_t now = finder->tick.mono_ns, start_ns = now;
	struct stall_episode *e = &process->episode;
	bool add_up = false, still = is_d && process->d_tick == finder->tick_number - 1 &&
				     process->d_tick && e->is_open;
	int r = 0;

	if (blkio_ms > 0)
		start_ns = wait_start(finder, process, &blkio_ms, &add_up);
	if (e->is_open && !still && start_ns > e->end_ns + tick_ns(finder) / 2)
		r = close_of(finder, process);
	if (r == 0 && !e->is_open)
		r = open_episode(finder, process, start_ns, now);
	if (r)
		return r;
	if (start_ns < e->start_ns)
		e->start_ns = start_ns;
	e->end_ns = now;
	e->tick = finder->tick_number;
	e->threads_add_up |= add_up;
	e->blkio_ms += blkio_ms;
	e->longest_ms = fmax(e->longest_ms, blkio_ms);
	if (is_d) {
		if (!e->samples++)
			e->first_d_ns = now;
		e->last_d_ns = now;
	}
	return 0;
}

static int process_row(struct stall_finder *finder, const struct stall_row *row)
{
	struct stall_process *process = stall_history_process(&finder->history, row);
	double blkio_ms = stall_row_has(row, STALL_BLKIO_MS) ? row->numbers[STALL_BLKIO_MS] : 0;
	bool is_d = stall_row_is_blocked(row);
	int r = process ? stall_history_sample(&finder->history, process, row) : -ENOMEM;

	finder->summary.process_rows++;
	finder->summary.state_d += is_d;
	finder->summary.blkio_known += stall_row_has(row, STALL_BLKIO_MS);
	finder->summary.blkio_nonzero += blkio_ms > 0;
	if (r < 0 || process->is_other)
		return r;
	if (blkio_ms > 0 || is_d)
		r = extend(finder, process, blkio_ms, is_d);
	if (is_d) {
		if (!process->d_tick || process->d_tick != finder->tick_number - 1)
			process->d_before_ns = finder->has_previous ? finder->previous_ns : 0;
		process->d_tick = finder->tick_number;
	}
	return r;
}

/* A wall-clock time is one of this tick's, if the clock has just passed it. */
static void look_for_moment(struct stall_finder *finder)
{
	const struct stall_moment *at = &finder->options.at;
	uint64_t now = finder->tick.mono_ns;
	uint64_t wall_ns = now + (uint64_t)finder->tick.wall_offset_ns;

	if (!at->is_set || finder->has_moment || finder->moment_told)
		return;
	if (!at->is_wall) {
		finder->moment_ns = at->ns;
		finder->has_moment =
			now >= at->ns && (now - at->ns <= tick_ns(finder) || now == at->ns);
	} else if (finder->tick.has_wall && wall_ns >= at->ns) {
		uint64_t since_ns = wall_ns - at->ns;

		finder->moment_ns = before(now, since_ns);
		finder->has_moment = since_ns <= tick_ns(finder);
	}
	finder->moment_seen |= finder->has_moment;
}

static void count_tick(struct stall_finder *finder)
{
	struct stall_summary *summary = &finder->summary;
	const struct stall_tick *tick = &finder->tick;
	uint64_t wall_ns = tick->mono_ns + (uint64_t)tick->wall_offset_ns;

	if (!summary->ticks++)
		summary->first_ns = tick->mono_ns;
	summary->last_ns = tick->mono_ns;
	stall_add(&summary->missed_ticks, tick->missed);
	if (!tick->has_wall)
		return;
	if (!summary->has_wall)
		summary->first_wall_ns = wall_ns;
	summary->has_wall = true;
	summary->last_wall_ns = wall_ns;
}

/* Cuts all episodes here: what is told is a piece, and the rest is another one. */
static int cut_piece(struct stall_finder *finder)
{
	uint64_t now = finder->tick.mono_ns;
	size_t n = finder->n_open;
	int r = 0;

	/* The last one takes the place of each that is closed; it is opened again behind it. */
	for (size_t i = n; r == 0 && i-- > 0;) {
		struct stall_process *process = finder->open[i];

		/* It stays, even if all its rows were given up. */
		process->rows++;
		r = close_episode(finder, i, true);
		if (r == 0)
			r = open_episode(finder, process, now, now);
		process->episode.floor_ns = now;
		process->rows--;
	}
	return r == 0 && finder->has_stall ? tell(finder) : r;
}

/* Closes what did not go on in this tick, and cuts what has become too long for one piece. */
static int close_stale(struct stall_finder *finder)
{
	bool too_long = false;
	int r = 0;

	for (size_t i = finder->n_open; r == 0 && i-- > 0;) {
		const struct stall_episode *e = &finder->open[i]->episode;

		if (e->tick != finder->tick_number)
			r = close_episode(finder, i, false);
		else
			too_long |= finder->tick.mono_ns - e->start_ns > STALL_PIECE_NS;
	}
	return r == 0 && too_long ? cut_piece(finder) : r;
}

static void forget(struct stall_finder *finder)
{
	uint64_t from_ns = finder->tick.mono_ns, window_ns = finder->options.window_ns;

	if (finder->has_stall && finder->stall.start_ns < from_ns)
		from_ns = finder->stall.start_ns;
	for (size_t i = 0; i < finder->n_open; i++) {
		if (finder->open[i]->episode.start_ns < from_ns)
			from_ns = finder->open[i]->episode.start_ns;
	}
	/* The moment's span is as long again as the window on both sides. */
	if (finder->options.at.is_set)
		from_ns = before(finder->tick.mono_ns, 3 * window_ns);
	stall_history_forget(&finder->history, before(before(from_ns, window_ns), NS_PER_S));
}

static int finish_tick(struct stall_finder *finder)
{
	uint64_t now = finder->tick.mono_ns;
	int r;

	if (!finder->in_tick)
		return 0;
	finder->in_tick = false;
	count_tick(finder);
	look_for_moment(finder);
	r = stall_queue_push(&finder->history.ticks, &finder->tick);
	if (r == 0)
		r = close_stale(finder);
	if (r == 0 && finder->has_stall &&
	    (!is_bridged(finder) || now - finder->stall.start_ns > 2 * STALL_PIECE_NS))
		r = tell(finder);
	if (r == 0 && finder->has_moment && !finder->moment_told &&
	    now > finder->moment_ns + finder->options.window_ns)
		r = tell_moment(finder);
	forget(finder);
	finder->previous_ns = now;
	finder->has_previous = true;
	return r;
}

static int end_run(struct stall_finder *finder)
{
	int r = finish_tick(finder);

	for (size_t i = finder->n_open; r == 0 && i-- > 0;)
		r = close_episode(finder, i, finder->open[i]->d_tick == finder->tick_number);
	if (r == 0 && finder->has_stall)
		r = tell(finder);
	if (r == 0 && finder->has_moment && !finder->moment_told)
		r = tell_moment(finder);
	return r;
}

int stall_finder_break(struct stall_finder *finder)
{
	int r = finder->in_run ? end_run(finder) : 0;

	stall_history_forget(&finder->history, UINT64_MAX);
	finder->history.lost_before_ns = 0;
	finder->has_previous = false;
	finder->in_run = false;
	/* No row of the new run is behind one of the old. */
	finder->tick_number++;
	return r;
}

static int begin_tick(struct stall_finder *finder, const struct stall_row *row)
{
	uint64_t last_ns = finder->tick.mono_ns;
	int r = finish_tick(finder);

	if (r == 0 && finder->in_run && (row->mono_ns < last_ns || row->mono_ns - last_ns > GAP_NS))
		r = stall_finder_break(finder);
	if (r)
		return r;
	if (!finder->in_run) {
		finder->summary.runs++;
		finder->in_run = true;
	}
	finder->tick_number++;
	finder->in_tick = true;
	finder->tick = (struct stall_tick){
		.mono_ns = row->mono_ns,
		.has_wall = row->has_wall,
		.wall_offset_ns = row->has_wall ? (int64_t)(row->wall_ns - row->mono_ns) : 0,
		.disk_write_kb = NAN,
		.disk_busy_ms = NAN,
		.missed = NAN,
	};
	finder->tick.ms = finder->has_previous ? (float)tick_ns(finder) / NS_PER_MS : NAN;
	return 0;
}

int stall_finder_row(struct stall_finder *finder, const struct stall_row *row)
{
	struct stall_tick *tick = &finder->tick;
	int r = 0;

	if (!finder->in_tick || row->mono_ns != tick->mono_ns)
		r = begin_tick(finder, row);
	if (r)
		return r;
	finder->summary.rows++;
	switch (row->kind) {
	case STALL_ROW_SYSTEM:
		stall_tick_system(tick, row);
		return 0;
	case STALL_ROW_DISK:
		return stall_history_disk(&finder->history, row, tick->ms);
	case STALL_ROW_NOTE:
		finder->summary.notes++;
		return stall_history_note(&finder->history, row);
	default:
		if (isnan(tick->disk_busy_ms)) {
			tick->disk_busy_ms = stall_number(row, STALL_DISK_BUSY_MS);
			tick->disk_write_kb = stall_number(row, STALL_DISK_WRITE_KB);
		}
		return process_row(finder, row);
	}
}

int stall_finder_finish(struct stall_finder *finder)
{
	return finder->in_run ? end_run(finder) : 0;
}
