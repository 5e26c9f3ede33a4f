/* SPDX-License-Identifier: MIT */
#include "reading.h"

#include "cli.h"
#include "progress.h"

#include <inttypes.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>

enum {
	SIGNALS_EVERY = 4096 /* events between two looks at signals */
};

void allow_many_files(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < limit.rlim_max) {
		limit.rlim_cur = limit.rlim_max;
		setrlimit(RLIMIT_NOFILE, &limit);
	}
}

/* A pipe; not a terminal, where Ctrl-C is meant for us. */
static bool is_pipe(const char *path)
{
	struct stat st;
	int r = strcmp(path, "-") ? stat(path, &st) : fstat(STDIN_FILENO, &st);

	return r == 0 && (S_ISFIFO(st.st_mode) || S_ISSOCK(st.st_mode));
}

static void pass_over(int signal)
{
	(void)signal;
}

/*
 * Ctrl-C at the end of `record -o - | dump -` goes to both: it is the recorder's to end, and what
 * it still has to say is to be read. A second one is for us.
 */
static void pass_over_one_interrupt(struct sigaction *ret_before)
{
	struct sigaction once = {.sa_handler = pass_over,
				 .sa_flags = (int)(SA_RESETHAND | SA_RESTART)};

	sigaction(SIGINT, NULL, ret_before);
	if (ret_before->sa_handler != SIG_IGN)
		sigaction(SIGINT, &once, NULL);
}

void reading_add_path(char ***paths, size_t *n, char *path, struct argp_state *state)
{
	char **more = reallocarray(*paths, *n + 1, sizeof(*more));

	if (!more)
		argp_failure(state, STATUS_FAILED, ENOMEM, "no memory");
	*paths = more;
	more[(*n)++] = path;
}

int reading_open(const char *command, char *const *paths, size_t n, struct recording **ret)
{
	struct why why = {""};
	struct sigaction before;
	bool pipe = false;
	int r;

	allow_many_files();
	for (size_t i = 0; i < n; i++)
		pipe |= is_pipe(paths[i]);
	if (pipe)
		pass_over_one_interrupt(&before);
	r = recording_open(paths, n, ret, &why);
	if (pipe)
		sigaction(SIGINT, &before, NULL);
	return r < 0 ? failed(command, &why) : STATUS_OK;
}

int reading_spares(const struct recording *recording, const char *path, struct why *why)
{
	_cleanup_free_ char *part = NULL;

	if (asprintf(&part, "%s.part", path) < 0)
		return why_set(why, -ENOMEM, "no memory");
	for (size_t i = 0; i < recording_inputs(recording); i++) {
		const struct input *input = recording_input(recording, i);

		if (input_reads(input, path) || input_reads(input, part))
			return why_set(why, -EEXIST, "%s is read from: writing %s would replace it",
				       input_name(input), path);
	}
	return 0;
}

int reading_open_aside(const struct recording *recording, const char *path, bool force,
		       struct aside *aside, struct why *why)
{
	int r = reading_spares(recording, path, why);

	return r < 0 ? r : aside_open(aside, path, force, why);
}

/* Those that end a program, and that it does not ignore. */
static void ending_signals(sigset_t *ret)
{
	sigemptyset(ret);
	sigaddset(ret, SIGINT);
	sigaddset(ret, SIGTERM);
	sigaddset(ret, SIGHUP);
}

void reading_hold_signals(void)
{
	sigset_t signals;

	ending_signals(&signals);
	sigprocmask(SIG_BLOCK, &signals, NULL);
}

int reading_check_signals(struct why *why)
{
	const struct timespec now = {0};
	sigset_t signals;
	int number;

	ending_signals(&signals);
	/* Unless they are held, none can be waiting. */
	number = sigtimedwait(&signals, NULL, &now);
	if (number <= 0)
		return 0;
	return why_set(why, -EINTR, "ended by signal %d (%s); what was begun is removed", number,
		       strsignal(number));
}

/* 1 = there was an event, and it passed; 0 = it did not; -ENODATA = there is none. */
static int pump_one(struct recording *recording, const struct filter *filter, struct sink *sink,
		    struct why *why)
{
	struct merge_item item;
	const char *comm = NULL;
	bool passes;
	int r = recording_next(recording, &item, why);

	if (r <= 0)
		return r < 0 ? r : -ENODATA;
	if (filter_needs_comm(filter))
		comm = recording_comm(recording, item.tag, item.event.pid, item.event.cpu,
				      item.event.time_ns);
	passes = filter_passes(filter, &item, comm);
	r = passes ? sink_event(sink, &item, why) : sink_left_out(sink, &item, why);
	return r < 0 ? r : passes;
}

int reading_pump(const char *command, struct recording *recording, const struct filter *filter,
		 struct sink *sink, bool shows_progress, struct why *why)
{
	const struct recording_info *info = recording_info(recording);
	struct progress progress;
	uint64_t passed = 0, n = 0;
	int r;

	progress_init(&progress, info);
	progress.is_terminal &= shows_progress;
	while ((r = pump_one(recording, filter, sink, why)) >= 0) {
		progress_step(&progress);
		passed += (uint64_t)r;
		if (++n % SIGNALS_EVERY == 0 && reading_check_signals(why) < 0) {
			r = -EINTR;
			break;
		}
	}
	if (r == -ENODATA)
		r = sink_finish(sink, why);
	progress_end(&progress);
	if (r == 0 && !passed && info->events)
		fprintf(stderr, "blkbox %s: none of %" PRIu64 " events is one of those asked for\n",
			command, info->events + info->notes);
	return r;
}

static void tell(void *context, const char *sentence)
{
	fprintf(stderr, "blkbox %s: ", (const char *)context);
	put_sentence(stderr, sentence);
}

int reading_status(const char *command, const struct recording *recording)
{
	const struct recording_info *info = recording_info(recording);
	bool whole = recording_health(recording, tell, (void *)command);

	if (!info->events)
		fprintf(stderr, "blkbox %s: no events were recorded%s\n", command,
			info->notes ? ", only notes" : "");
	return whole ? STATUS_OK : STATUS_INCOMPLETE;
}
