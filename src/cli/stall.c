/* SPDX-License-Identifier: MIT */
#include "child.h"
#include "cli.h"
#include "clock.h"
#include "io_counters.h"
#include "privileges.h"
#include "stall_args.h"
#include "stall_report.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>

enum {
	STATUS_SIGNAL = 128,
	ALERT_BYTES = 8 << 10,
};

/* One run of the command. */
struct run {
	const struct stall_args *args;
	struct stall *stall;
	struct child child;
	int proc_fd, sys_fd;
	int signal_fd;
	int limit_fd; /* timer: --duration */
	uint64_t started_ns;
	int last_signal; /* that asked us to end */
	int signals;
	bool child_ended;
	int child_status;
	bool reader_gone;
};

static const int signals_taken[] = {SIGINT, SIGTERM, SIGQUIT, SIGHUP, SIGUSR1};

static int block_signals(struct run *run, struct why *why)
{
	sigset_t set;

	sigemptyset(&set);
	for (size_t i = 0; i < sizeof(signals_taken) / sizeof(signals_taken[0]); i++)
		sigaddset(&set, signals_taken[i]);
	sigprocmask(SIG_BLOCK, &set, NULL);
	run->signal_fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	return run->signal_fd < 0 ? why_errno(why, -errno, "cannot wait for signals") : 0;
}

static int start_limit(struct run *run, struct why *why)
{
	uint64_t limit_ns = run->args->duration_ns;
	struct itimerspec timer = {
		.it_value = {.tv_sec = (time_t)(limit_ns / NS_PER_S),
			     .tv_nsec = (long)(limit_ns % NS_PER_S)},
	};

	run->limit_fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	if (run->limit_fd < 0 || timerfd_settime(run->limit_fd, 0, &timer, NULL) < 0)
		return why_errno(why, -errno, "cannot set a timer");
	return 0;
}

/* "blkbox stall: TEXT", as failures are told. */
static void _printf_(1, 2) say(const char *format, ...)
{
	struct why why;
	va_list args;

	va_start(args, format);
	vsnprintf(why.text, sizeof(why.text), format, args);
	va_end(args);
	failed("stall", &why);
}

static void print_status(const struct run *run)
{
	const char *path = run->args->stall.file.path;
	struct stall_totals totals;

	stall_look(run->stall, &totals);
	say("%llu samples in %.0f s of %llu processes (counters of %llu may not be "
	    "read), %llu missed, %llu late; %llu rows, %llu lost; %.1f MB to %s%s%s",
	    (unsigned long long)totals.samples,
	    (double)(clock_mono_ns() - run->started_ns) / NS_PER_S,
	    (unsigned long long)totals.processes, (unsigned long long)totals.denied,
	    (unsigned long long)totals.missed, (unsigned long long)totals.late,
	    (unsigned long long)totals.rows, (unsigned long long)totals.lost,
	    (double)totals.bytes / 1e6, path ? path : "standard output",
	    totals.output_error ? ", which fails now: " : "",
	    totals.output_error ? strerror(-totals.output_error) : "");
}

/* A signal ends the sampling; the command gets it, too, and its end is awaited: a second one does
 * not wait. */
static void take_signals(struct run *run)
{
	struct signalfd_siginfo info;

	while (read(run->signal_fd, &info, sizeof(info)) == sizeof(info)) {
		if (info.ssi_signo == SIGUSR1) {
			print_status(run);
		} else if (info.ssi_signo == SIGHUP) {
			stall_reopen(run->stall);
		} else {
			run->signals++;
			run->last_signal = (int)info.ssi_signo;
			/* A Ctrl-C reaches it by itself. */
			if (run->child.going && info.ssi_code != SI_KERNEL)
				kill(run->child.pid, run->last_signal);
		}
	}
}

static void print_alerts(struct run *run)
{
	char text[ALERT_BYTES], *line = text, *end;
	size_t n = stall_take_alerts(run->stall, text, sizeof(text) - 1);

	text[n] = '\0';
	while ((end = strchr(line, '\n'))) {
		*end = '\0';
		say("%s", line);
		line = end + 1;
	}
}

static bool should_end(const struct run *run)
{
	bool waits = run->child.going && !run->child_ended;

	return run->child_ended || run->reader_gone || run->signals > (waits ? 1 : 0);
}

/* Samples until something ends it. */
static void sample(struct run *run)
{
	struct pollfd polls[] = {
		{.fd = run->signal_fd, .events = POLLIN},
		{.fd = stall_alert_fd(run->stall), .events = POLLIN},
		{.fd = stall_dead_fd(run->stall), .events = POLLIN},
		{.fd = run->child.pidfd, .events = POLLIN},
		{.fd = run->limit_fd, .events = POLLIN},
	};

	print_alerts(run);
	while (!should_end(run)) {
		if (poll(polls, 5, -1) < 0)
			continue;
		if (polls[0].revents)
			take_signals(run);
		if (polls[1].revents)
			print_alerts(run);
		if (polls[2].revents)
			run->reader_gone = true;
		if (polls[3].revents) {
			run->child_status = child_wait(&run->child);
			run->child_ended = true;
		}
		if (polls[4].revents)
			return;
	}
}

static int open_machine(struct run *run, struct stall_options *options, struct why *why)
{
	run->proc_fd = io_counters_open_proc(why);
	if (run->proc_fd < 0)
		return run->proc_fd;
	run->sys_fd = open("/sys", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (run->sys_fd < 0)
		return why_errno(why, -errno, "cannot open /sys");
	options->sampler.proc_fd = run->proc_fd;
	options->sampler.sys_fd = run->sys_fd;
	return 0;
}

/* Before the first thread there is. */
static int give_up_privileges(const struct stall_args *args, struct why *why)
{
	unsigned needs = KEEP_FOR_PROCESSES | KEEP_FOR_MEMORY;

	if (args->stall.file.path)
		needs |= KEEP_FOR_FILES;
	if (args->command)
		needs |= KEEP_FOR_CHILD;
	if (args->stall.enable_delay)
		needs |= KEEP_FOR_SWITCHES;
	if (args->stall.sampler.all_columns)
		needs |= KEEP_FOR_TASKSTATS;
	return privileges_keep(needs, why);
}

static int start(struct run *run, struct why *why)
{
	const struct stall_args *args = run->args;
	struct stall_options options = args->stall;
	const struct child_options child = {
		.argv = args->command,
		.to_stderr = !options.file.path,
		.as_root = args->as_root,
	};
	int r = block_signals(run, why);

	if (r == 0)
		r = open_machine(run, &options, why);
	/* It inherits nothing of what the sampler does to itself. */
	if (r == 0 && args->command)
		r = child_start(&run->child, &child, why);
	if (r == 0)
		r = stall_create(&options, &run->stall, why);
	if (r == 0)
		r = give_up_privileges(args, why);
	run->started_ns = clock_mono_ns();
	if (r == 0)
		r = stall_start(run->stall, why);
	if (r == 0 && args->duration_ns)
		r = start_limit(run, why);
	if (r == 0 && args->command)
		r = child_go(&run->child, args->command[0], why);
	return r;
}

static void tell_losses(const struct run *run, const struct stall_totals *totals)
{
	const char *path = run->args->stall.file.path;

	if (totals->lost)
		say("%llu rows were lost, because the output did not take them in time; "
		    "notes in it tell when",
		    (unsigned long long)totals->lost);
	if (run->reader_gone)
		say("nobody reads from %s any more: sampling has ended",
		    path ? path : "standard output");
	else if (totals->unwritten)
		say("the last %llu rows could not be written to %s: %s",
		    (unsigned long long)totals->unwritten, path ? path : "standard output",
		    strerror(-totals->output_error));
}

/* The output may hang for ever: whoever asks once more ends us. */
static void let_signals_end_us(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	signal(SIGINT, SIG_DFL);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
}

static int finish(struct run *run)
{
	struct stall_totals totals;

	take_signals(run);
	let_signals_end_us();
	stall_stop(run->stall, &totals);
	tell_losses(run, &totals);
	if (run->reader_gone || totals.unwritten)
		return STATUS_FAILED;
	if (run->child_ended)
		return run->child_status;
	if (run->args->command && run->last_signal)
		return STATUS_SIGNAL + run->last_signal;
	return totals.lost ? STATUS_INCOMPLETE : STATUS_OK;
}

static int run_sampler(const struct stall_args *args)
{
	struct run run = {
		.args = args,
		.child = {.pidfd = -1, .go_fd = -1, .exec_fd = -1},
		.proc_fd = -1,
		.sys_fd = -1,
		.signal_fd = -1,
		.limit_fd = -1,
	};
	struct why why = {""};
	int status, r = start(&run, &why);

	if (r == 0) {
		sample(&run);
		status = finish(&run);
	} else {
		status = output_failed("stall", args->stall.file.path, r, &why);
		stall_discard(take_ptr(run.stall));
	}
	stall_destroy(run.stall);
	child_deinit(&run.child);
	close_keep_errno(run.signal_fd);
	close_keep_errno(run.limit_fd);
	close_keep_errno(run.proc_fd);
	close_keep_errno(run.sys_fd);
	return status;
}

int cmd_stall(int argc, char **argv)
{
	struct stall_args args;
	int status;

	if (argc > 1 && !strcmp(argv[1], "report"))
		return command_stall_report(argc - 1, argv + 1);
	stall_args_parse(&args, argc, argv);
	status = run_sampler(&args);
	stall_args_deinit(&args);
	return status;
}
