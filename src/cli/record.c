/* SPDX-License-Identifier: MIT */
#include "child.h"
#include "cli.h"
#include "caches.h"
#include "clock.h"
#include "privileges.h"
#include "record_args.h"
#include "record_output.h"
#include "record_report.h"

#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/timerfd.h>

enum {
	PROGRESS_INTERVAL_S = 1,
	STATUS_SIGNAL = 128
};

/* One run of the command. */
struct recorder {
	struct record_args args; /* owned by the caller */
	struct record_output output;
	struct session *session;
	struct child child;
	int signal_fd;
	int limit_fd;	 /* timer: -w */
	int progress_fd; /* timer: the live line; -1 where there is no terminal */
	uint64_t started_ns;
	int signals; /* that asked us to end */
	int last_signal;
	bool child_ended;
	int child_status;
};

static const int ending_signals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};

static bool is_ignored(int signal_number)
{
	struct sigaction action;

	return sigaction(signal_number, NULL, &action) == 0 && action.sa_handler == SIG_IGN;
}

static void signals_that_end(sigset_t *ret)
{
	sigemptyset(ret);
	for (size_t i = 0; i < sizeof(ending_signals) / sizeof(ending_signals[0]); i++) {
		/* nohup: a logout shall not end us. */
		if (ending_signals[i] != SIGHUP || !is_ignored(SIGHUP))
			sigaddset(ret, ending_signals[i]);
	}
}

static int block_signals(struct recorder *recorder, struct why *why)
{
	sigset_t set;

	signals_that_end(&set);
	sigprocmask(SIG_BLOCK, &set, NULL);
	recorder->signal_fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	return recorder->signal_fd < 0 ? why_errno(why, -errno, "cannot wait for signals") : 0;
}

static int start_timer(uint64_t first_ns, uint64_t interval_ns, struct why *why)
{
	int fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	struct itimerspec timer = {
		.it_value = {.tv_sec = (time_t)(first_ns / NS_PER_S),
			     .tv_nsec = (long)(first_ns % NS_PER_S)},
		.it_interval = {.tv_sec = (time_t)(interval_ns / NS_PER_S),
				.tv_nsec = (long)(interval_ns % NS_PER_S)},
	};

	if (fd < 0 || timerfd_settime(fd, 0, &timer, NULL) < 0)
		return why_errno(why, -errno, "cannot set a timer");
	return fd;
}

static int start_timers(struct recorder *recorder, struct why *why)
{
	recorder->started_ns = clock_mono_ns();
	if (recorder->args.time_limit_ns) {
		recorder->limit_fd = start_timer(recorder->args.time_limit_ns, 0, why);
		if (recorder->limit_fd < 0)
			return recorder->limit_fd;
	}
	if (!recorder->args.quiet && isatty(STDERR_FILENO)) {
		uint64_t interval_ns = (uint64_t)PROGRESS_INTERVAL_S * NS_PER_S;

		recorder->progress_fd = start_timer(interval_ns, interval_ns, why);
		if (recorder->progress_fd < 0)
			return recorder->progress_fd;
	}
	return 0;
}

/*
 * A signal ends the recording. With a command it is handed on, and the command's end is awaited;
 * a second one does not wait. A Ctrl-C reaches the command by itself, through the terminal.
 */
static void take_signals(struct recorder *recorder)
{
	struct signalfd_siginfo info;

	while (read(recorder->signal_fd, &info, sizeof(info)) == sizeof(info)) {
		recorder->signals++;
		recorder->last_signal = (int)info.ssi_signo;
		if (recorder->child.going && info.ssi_code != SI_KERNEL)
			kill(recorder->child.pid, (int)info.ssi_signo);
	}
}

static bool should_end(const struct recorder *recorder, enum log_end_reason *ret)
{
	bool waits_for_command = recorder->child.going && !recorder->child_ended;

	if (recorder->child_ended) {
		*ret = recorder->signals ? LOG_END_SIGNAL : LOG_END_COMMAND;
		return true;
	}
	*ret = LOG_END_SIGNAL;
	return recorder->signals > (waits_for_command ? 1 : 0);
}

static void tell_news(const struct recorder *recorder)
{
	struct why news;

	while (recorder->session && session_next_news(recorder->session, &news)) {
		if (recorder->progress_fd >= 0)
			record_report_clear_line();
		message("%s", news.text);
	}
}

/* Records until something ends it. */
static enum log_end_reason record(struct recorder *recorder)
{
	struct pollfd polls[] = {
		{.fd = recorder->signal_fd, .events = POLLIN},
		{.fd = session_event_fd(recorder->session), .events = POLLIN},
		{.fd = recorder->child.pidfd, .events = POLLIN},
		{.fd = recorder->limit_fd, .events = POLLIN},
		{.fd = recorder->progress_fd, .events = POLLIN},
		{.fd = session_news_fd(recorder->session), .events = POLLIN},
	};
	enum log_end_reason reason;

	/* A signal may have been taken before we come to wait for one. */
	while (!should_end(recorder, &reason)) {
		if (poll(polls, sizeof(polls) / sizeof(polls[0]), -1) < 0)
			continue;
		if (polls[0].revents)
			take_signals(recorder);
		if (polls[2].revents) {
			recorder->child_status = child_wait(&recorder->child);
			recorder->child_ended = true;
		}
		if (polls[5].revents)
			tell_news(recorder);
		if (should_end(recorder, &reason))
			break;
		if (polls[1].revents)
			return LOG_END_UNKNOWN; /* the session knows */
		if (polls[3].revents)
			return LOG_END_TIME;
		if (polls[4].revents) {
			uint64_t times;

			if (read(recorder->progress_fd, &times, sizeof(times)) > 0)
				record_report_progress(recorder->session, recorder->started_ns);
		}
	}
	return reason;
}

/* So that what the workload left dirty is in the recording. One more signal, and nobody waits. */
static void flush(struct recorder *recorder)
{
	struct why why;
	_cleanup_close_ int pidfd = session_flush(recorder->session, &why);
	struct pollfd polls[] = {
		{.fd = recorder->signal_fd, .events = POLLIN},
		{.fd = pidfd, .events = POLLIN},
	};
	int before = recorder->signals, r;

	if (pidfd < 0) {
		failed("record", &why);
		return;
	}
	while (!polls[1].revents && recorder->signals == before) {
		if (poll(polls, 2, -1) < 0)
			polls[0].revents = polls[1].revents = 0;
		if (polls[0].revents)
			take_signals(recorder);
	}
	if (!polls[1].revents)
		message("not waiting for the device to be flushed");
	else if ((r = session_flush_result(pidfd)) < 0)
		message("the device could not be flushed (%s): what is still dirty is not in the "
			"recording",
			strerror(-r));
}

static int prepare(struct recorder *recorder, int argc, char **argv, struct why *why)
{
	struct record_args *args = &recorder->args;
	const struct child_options child = {
		.argv = args->command,
		.to_stderr = record_output_is_stdout(args),
		.as_root = args->as_root,
	};
	_cleanup_free_ char *meta = NULL;
	size_t meta_bytes = 0;
	int r = block_signals(recorder, why);

	if (r >= 0)
		r = record_meta(args, argc, argv, &meta, &meta_bytes, why);
	args->session.live = record_output_is_live(args);
	args->session.meta = meta;
	args->session.meta_bytes = meta_bytes;
	if (r >= 0)
		r = session_open(&args->session, &recorder->session, why);
	if (r >= 0)
		r = record_output_open(&recorder->output, args, recorder->session, why);
	args->session.meta = NULL; /* copied */
	args->session.meta_bytes = 0;
	if (r >= 0 && args->command)
		r = child_start(&recorder->child, &child, why);
	if (r >= 0 && args->drop_caches) {
		struct sysroot root = {.fd = -1};

		r = sysroot_open(&root, NULL);
		r = r < 0 ? why_errno(why, r, "cannot open /") : caches_drop(&root, why);
		sysroot_close(&root);
	}
	return r;
}

/* Before the first thread there is, and before the kernel is touched. */
static int give_up_privileges(const struct record_args *args, struct why *why)
{
	unsigned needs = KEEP_FOR_TRACE;

	if (!record_output_is_stdout(args))
		needs |= KEEP_FOR_FILES;
	if (args->command)
		needs |= KEEP_FOR_CHILD;
	return privileges_keep(needs, why);
}

static int start(struct recorder *recorder, struct why *why)
{
	struct record_args *args = &recorder->args;
	int r = give_up_privileges(args, why);

	if (r < 0)
		return r;
	r = session_start(recorder->session, recorder->output.sink, why);

	if (r < 0)
		return r;
	if (!args->quiet)
		record_report_start(recorder->session, args);
	r = start_timers(recorder, why);
	/* Interrupted before there was a command to hear it: it is not started any more. */
	take_signals(recorder);
	if (r >= 0 && args->command && !recorder->signals)
		r = child_go(&recorder->child, args->command[0], why);
	return r;
}

/* Signals are handed on to the command meanwhile; a second one leaves it alone. */
static void await_command(struct recorder *recorder)
{
	struct pollfd polls[] = {
		{.fd = recorder->child.pidfd, .events = POLLIN},
		{.fd = recorder->signal_fd, .events = POLLIN},
	};

	while (recorder->signals < 2) {
		if (poll(polls, 2, -1) < 0)
			continue;
		if (polls[0].revents) {
			recorder->child_status = child_wait(&recorder->child);
			recorder->child_ended = true;
			return;
		}
		take_signals(recorder);
	}
}

static int exit_status(const struct recorder *recorder, const struct session_report *report)
{
	if (!report->complete &&
	    (recorder->args.strict || report->reason == LOG_END_FOREIGN || report->remarks->n))
		return STATUS_INCOMPLETE;
	if (recorder->child_ended)
		return recorder->child_status;
	/* Nobody waited for the command. */
	if (recorder->args.command && recorder->last_signal)
		return STATUS_SIGNAL + recorder->last_signal;
	return report->complete ? STATUS_OK : STATUS_INCOMPLETE;
}

static bool output_may_be_stuck(const struct recorder *recorder)
{
	struct stat st;

	return record_output_is_stdout(&recorder->args) && fstat(STDOUT_FILENO, &st) == 0 &&
	       !S_ISREG(st.st_mode);
}

/*
 * The rest of the events goes to a reader who may have stopped reading for ever. Whoever asks once
 * more ends us; the guardian ends the trace. SIGQUIT would write a core of all rings.
 */
static void let_signals_end_us(struct recorder *recorder)
{
	sigset_t set;

	signals_that_end(&set);
	sigdelset(&set, SIGQUIT);
	/* A shell starts what is in the background with SIGINT ignored. */
	for (size_t i = 0; i < sizeof(ending_signals) / sizeof(ending_signals[0]); i++) {
		if (sigismember(&set, ending_signals[i]))
			signal(ending_signals[i], SIG_DFL);
	}
	/* What has come by now is the one that is obeyed already: timeout(1) sends two. */
	take_signals(recorder);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
}

static void take_signals_again(void)
{
	sigset_t set;

	signals_that_end(&set);
	sigprocmask(SIG_BLOCK, &set, NULL);
}

static int run_recorder(struct recorder *recorder, const char *name, int argc, char **argv)
{
	struct session_report report;
	struct why why = {""};
	enum log_end_reason reason;
	uint64_t recorded_ns;
	int r = prepare(recorder, argc, argv, &why);

	if (r >= 0)
		r = start(recorder, &why);
	tell_news(recorder);
	if (r < 0) {
		record_output_discard(&recorder->output);
		return failed(name, &why);
	}
	reason = record(recorder);
	if (recorder->args.flush && reason != LOG_END_UNKNOWN && recorder->signals < 2)
		flush(recorder);
	if (recorder->progress_fd >= 0)
		record_report_clear_line();
	recorded_ns = clock_mono_ns() - recorder->started_ns;
	if (output_may_be_stuck(recorder))
		let_signals_end_us(recorder);
	r = session_stop(recorder->session, reason, &report, &why);
	take_signals_again();
	tell_news(recorder);
	if (r == -EPIPE && recorder->args.format == RECORD_STREAM)
		message("standard output: its reader has gone; not all was written");
	else if (r < 0)
		output_failed(name, recorder->args.output, r, &why);
	record_report_end(&report, &recorder->args, &recorder->output, recorded_ns);
	/* The recording was over before the command was: its status still counts. */
	if (recorder->child.going && !recorder->child_ended && recorder->signals < 2)
		await_command(recorder);
	return r < 0 ? STATUS_FAILED : exit_status(recorder, &report);
}

int record_run(const char *name, const struct record_args *args, int argc, char **argv)
{
	struct recorder recorder = {
		.args = *args,
		.child = {.pidfd = -1, .go_fd = -1, .exec_fd = -1},
		.signal_fd = -1,
		.limit_fd = -1,
		.progress_fd = -1,
	};
	int status = run_recorder(&recorder, name, argc, argv);

	session_destroy(recorder.session);
	child_deinit(&recorder.child);
	record_output_deinit(&recorder.output);
	close_keep_errno(recorder.signal_fd);
	close_keep_errno(recorder.limit_fd);
	close_keep_errno(recorder.progress_fd);
	return status;
}

int cmd_record(int argc, char **argv)
{
	struct record_args args;
	int status;

	record_args_parse(&args, argc, argv);
	status = record_run("record", &args, argc, argv);
	record_args_deinit(&args);
	return status;
}
