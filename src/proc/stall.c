/* SPDX-License-Identifier: MIT */
#include "stall.h"

#include "clock.h"
#include "csv_writer.h"
#include "figure.h"
#include "stall_keeper.h"

#include <poll.h>
#include <sched.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/timerfd.h>

enum {
	RING_BYTES = 8 << 20,
	ALERT_BYTES = 64 << 10,
	STACK_BYTES = 1 << 20,
	WAKE_INTERVAL_MS = 100,
	WAKE_BYTES = 64 << 10, /* or as soon as there are so many */
};

struct stall {
	struct stall_options options;
	struct stall_keeper keeper;
	struct sampler sampler;
	struct swapin swapin;
	struct why no_swapin;
	struct row_ring rows, alerts;
	struct csv_writer writer;
	pthread_t thread;
	bool running;
	bool locked;
	int stop_fd; /* eventfd */
	int timer_fd;
	/* Of the sampling thread: */
	uint64_t lost_now; /* rows since the ring is full */
	uint64_t lost_since_ns, lost_until_ns;
	uint64_t woken_ns;
	/* For who looks: */
	_Atomic uint64_t samples, n_rows, missed, late, lost, processes, denied;
};

static void count(_Atomic uint64_t *counter, uint64_t n)
{
	atomic_fetch_add_explicit(counter, n, memory_order_relaxed);
}

static uint64_t value_of(const _Atomic uint64_t *counter)
{
	return atomic_load_explicit(counter, memory_order_relaxed);
}

/* The ring has room again: what did not get into it, in front of what does. */
static bool tell_lost(struct stall *stall, const struct stall_tick *tick, size_t n)
{
	struct csv_row row;
	char text[128];

	snprintf(text, sizeof(text), "ring full: %llu rows lost between mono %.3f and %.3f",
		 (unsigned long long)stall->lost_now, (double)stall->lost_since_ns / NS_PER_S,
		 (double)stall->lost_until_ns / NS_PER_S);
	stall_note_row(&row, tick, text);
	if (row_ring_room(&stall->rows) < row.n + n)
		return false;
	row_ring_put(&stall->rows, row.text, row.n);
	stall->lost_now = 0;
	return true;
}

static void take_row(void *context, const struct stall_tick *tick, const char *row, size_t n)
{
	struct stall *stall = context;

	if ((!stall->lost_now || tell_lost(stall, tick, n)) && row_ring_put(&stall->rows, row, n)) {
		count(&stall->n_rows, 1);
		return;
	}
	if (!stall->lost_now++)
		stall->lost_since_ns = tick->mono_ns;
	stall->lost_until_ns = tick->mono_ns;
	count(&stall->lost, 1);
}

static void take_alert(void *context, const char *text)
{
	struct stall *stall = context;
	char line[2048];
	int n = snprintf(line, sizeof(line), "%s\n", text);

	if (n > 0 && (size_t)n < sizeof(line))
		row_ring_put(&stall->alerts, line, (size_t)n);
	ring_wake(&stall->alerts.sleep);
}

/* Whether the kernel lets us: by trying. */
static int check_cpu(int cpu, struct why *why)
{
	cpu_set_t before, cpus;

	if (cpu < 0)
		return 0;
	CPU_ZERO(&cpus);
	CPU_SET((size_t)cpu, &cpus);
	if (sched_getaffinity(0, sizeof(before), &before) < 0 ||
	    sched_setaffinity(0, sizeof(cpus), &cpus) < 0)
		return why_errno(why, -errno, "--cpu: cannot run on CPU %d", cpu);
	sched_setaffinity(0, sizeof(before), &before);
	return 0;
}

int stall_create(const struct stall_options *options, struct stall **ret, struct why *why)
{
	_cleanup_(cleanup_stall_destroy) struct stall *stall = NULL;
	struct csv_file_options file = options->file;
	struct sampler_options sampler = options->sampler;
	int r;

	stall = aligned_alloc(RING_CACHE_LINE, sizeof(*stall));
	if (!stall)
		return why_set(why, -ENOMEM, "no memory");
	*stall = (struct stall){
		.options = *options,
		.keeper = {.guardian = {.fd = -1}},
		.writer = {.file = {.fd = -1}, .dead_fd = -1},
		.sampler = {.disks = {.fd = -1}, .processes = {.loadavg_fd = -1}},
		.stop_fd = eventfd(0, EFD_CLOEXEC),
		.timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC),
	};
	if (stall->stop_fd < 0 || stall->timer_fd < 0)
		return why_errno(why, -errno, "cannot set a timer");
	r = row_ring_init(&stall->rows, RING_BYTES);
	if (r == 0)
		r = row_ring_init(&stall->alerts, ALERT_BYTES);
	if (r < 0)
		return why_errno(why, r, "no memory for samples");
	r = check_cpu(options->cpu, why);
	if (r == 0)
		r = disks_check_names(sampler.sys_fd, sampler.disks, sampler.n_disks, why);
	if (r < 0)
		return r;
	r = stall_keeper_start(&stall->keeper, sampler.proc_fd, file.path, options->enable_delay,
			       why);
	file.header = stall_header(sampler.all_columns);
	file.identity = &stall->keeper.shared->identity;
	if (r == 0)
		r = csv_writer_init(&stall->writer, &file, &stall->rows, sampler.all_columns, why);
	if (r == 0 && options->enable_delay)
		r = stall_keeper_enable_delay(&stall->keeper, why);
	sampler.sink = (struct sampler_sink){take_row, take_alert, stall};
	sampler.no_swapin = stall->no_swapin.text;
	sampler.swapin = &stall->swapin;
	if (sampler.all_columns && swapin_open(&stall->swapin, &stall->no_swapin) == 0)
		sampler.read_swapin = swapin_read;
	if (r == 0)
		r = sampler_init(&stall->sampler, &sampler, why);
	if (r < 0)
		stall_discard(take_ptr(stall));
	else
		*ret = take_ptr(stall);
	return r;
}

void stall_destroy(struct stall *stall)
{
	struct stall_totals ignored;

	if (!stall)
		return;
	if (stall->running)
		stall_stop(stall, &ignored);
	csv_writer_deinit(&stall->writer);
	sampler_deinit(&stall->sampler);
	swapin_close(&stall->swapin);
	row_ring_deinit(&stall->rows);
	row_ring_deinit(&stall->alerts);
	stall_keeper_end(&stall->keeper);
	close_keep_errno(stall->stop_fd);
	close_keep_errno(stall->timer_fd);
	free(stall);
}

void stall_discard(struct stall *stall)
{
	struct stall_totals ignored;

	if (stall && stall->running)
		stall_stop(stall, &ignored);
	if (stall)
		csv_file_discard(&stall->writer.file);
	stall_destroy(stall);
}

/* The writer gathers rows for a while: a call for each would cost more than all the rest. */
static void wake_writer(struct stall *stall, uint64_t now_ns)
{
	if (now_ns - stall->woken_ns < (uint64_t)WAKE_INTERVAL_MS * NS_PER_MS &&
	    ring_filled(&stall->rows.ring) < WAKE_BYTES)
		return;
	stall->woken_ns = now_ns;
	ring_wake(&stall->rows.sleep);
}

/* These are of one thread each; a child that runs the command is to have neither. */
static void set_priority(const struct stall_options *options)
{
	cpu_set_t cpus;

	if (options->nice)
		setpriority(PRIO_PROCESS, (id_t)gettid(),
			    getpriority(PRIO_PROCESS, (id_t)gettid()) + options->nice);
	if (options->cpu < 0)
		return;
	CPU_ZERO(&cpus);
	CPU_SET((size_t)options->cpu, &cpus);
	sched_setaffinity(0, sizeof(cpus), &cpus);
}

/* How many ticks have come; 0: it is over. */
static uint64_t wait_for_tick(const struct stall *stall)
{
	struct pollfd polls[] = {
		{.fd = stall->stop_fd, .events = POLLIN},
		{.fd = stall->timer_fd, .events = POLLIN},
	};
	uint64_t ticks = 0;

	for (;;) {
		if (poll(polls, 2, -1) < 0)
			continue;
		if (polls[0].revents)
			return 0;
		if (read(stall->timer_fd, &ticks, sizeof(ticks)) == sizeof(ticks))
			return ticks;
	}
}

static void *run(void *context)
{
	struct stall *stall = context;
	uint64_t due_ns = clock_mono_ns(), ticks = 1;
	struct sampler_moment moment;
	struct itimerspec timer = {0};

	set_priority(&stall->options);
	timer.it_interval.tv_sec = (time_t)(stall->options.interval_ns / NS_PER_S);
	timer.it_interval.tv_nsec = (long)(stall->options.interval_ns % NS_PER_S);
	timer.it_value.tv_sec = (time_t)(due_ns / NS_PER_S);
	timer.it_value.tv_nsec = (long)(due_ns % NS_PER_S);
	timerfd_settime(stall->timer_fd, TFD_TIMER_ABSTIME, &timer, NULL);
	due_ns -= stall->options.interval_ns;
	while ((ticks = wait_for_tick(stall))) {
		moment = sampler_now();
		due_ns += ticks * stall->options.interval_ns;
		if (moment.mono_ns - due_ns > stall->options.interval_ns / 2)
			count(&stall->late, 1);
		count(&stall->missed, ticks - 1);
		sampler_tick(&stall->sampler, &moment, ticks - 1);
		if (!stall->locked && !value_of(&stall->samples))
			sampler_note(&stall->sampler,
				     "memory could not be locked (see ulimit -l): a disk that does "
				     "not answer may stop the sampler, too");
		count(&stall->samples, 1);
		atomic_store_explicit(&stall->processes, stall->sampler.processes.n,
				      memory_order_relaxed);
		atomic_store_explicit(&stall->denied, stall->sampler.processes.denied,
				      memory_order_relaxed);
		wake_writer(stall, moment.mono_ns);
	}
	moment = sampler_now();
	sampler_finish(&stall->sampler, &moment);
	return NULL;
}

static int start_threads(struct stall *stall)
{
	pthread_attr_t attributes;
	int r = stall->writer.running ? 0 : csv_writer_start(&stall->writer);

	if (r < 0)
		return r;
	pthread_attr_init(&attributes);
	/* All of it gets locked in memory. */
	pthread_attr_setstacksize(&attributes, STACK_BYTES);
	r = -pthread_create(&stall->thread, &attributes, run, stall);
	pthread_attr_destroy(&attributes);
	stall->running = r == 0;
	return r;
}

int stall_start(struct stall *stall, struct why *why)
{
	int r;

	/* A page of ours may be on the very disk that does not answer. */
	stall->locked = mlockall(MCL_CURRENT | MCL_FUTURE) == 0;
	r = start_threads(stall);
	/* There may be too little of it for the threads. */
	if (r < 0 && stall->locked) {
		munlockall();
		stall->locked = false;
		r = start_threads(stall);
	}
	return r < 0 ? why_errno(why, r, "cannot start to sample") : 0;
}

int stall_alert_fd(const struct stall *stall)
{
	return stall->alerts.sleep.fd;
}

int stall_dead_fd(const struct stall *stall)
{
	return stall->writer.dead_fd;
}

size_t stall_take_alerts(struct stall *stall, char *to, size_t size)
{
	size_t n;

	ring_sleep_done(&stall->alerts.sleep);
	n = row_ring_take(&stall->alerts, to, size);
	ring_sleep_prepare(&stall->alerts.sleep);
	/* What came in between wakes nobody. */
	if (ring_filled(&stall->alerts.ring))
		ring_wake_always(&stall->alerts.sleep);
	return n;
}

void stall_reopen(struct stall *stall)
{
	csv_writer_reopen(&stall->writer);
}

void stall_look(const struct stall *stall, struct stall_totals *ret)
{
	*ret = (struct stall_totals){
		.samples = value_of(&stall->samples),
		.rows = value_of(&stall->n_rows),
		.bytes = value_of(&stall->writer.bytes),
		.missed = value_of(&stall->missed),
		.late = value_of(&stall->late),
		.lost = value_of(&stall->lost),
		.processes = value_of(&stall->processes),
		.denied = value_of(&stall->denied),
		.output_error = atomic_load_explicit(&stall->writer.error, memory_order_relaxed),
		.locked = stall->locked,
		.delay_enabled = stall->keeper.enabled,
	};
}

void stall_stop(struct stall *stall, struct stall_totals *ret)
{
	uint64_t one = 1;
	ssize_t ignored = write(stall->stop_fd, &one, sizeof(one));
	uint64_t unwritten;

	(void)ignored;
	if (stall->running)
		pthread_join(stall->thread, NULL);
	stall->running = false;
	unwritten = csv_writer_stop(&stall->writer);
	stall_look(stall, ret);
	ret->unwritten = unwritten;
}
