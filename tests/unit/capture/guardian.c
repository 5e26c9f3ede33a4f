/* SPDX-License-Identifier: MIT */
#include "guardian.h"

#include "cleanup.h"
#include "fake_kernel.h"
#include "log_reader.h"
#include "log_sink.h"
#include "memory_sink.h"
#include "orphan.h"
#include "session.h"
#include "state.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>

enum {
	WAIT_MS = 10000
};

static int restored_fd;

static void tell(void *context)
{
	ssize_t n = write(restored_fd, context, 1);

	(void)n;
}

/* The first byte out of the pipe; 0 at its end, which comes when nobody can write any more. */
static char first_byte(int fd)
{
	struct pollfd polls = {.fd = fd, .events = POLLIN};
	char byte = 0;

	cr_assert_eq(poll(&polls, 1, WAIT_MS), 1, "nobody has let go of the pipe");
	return read(fd, &byte, 1) == 1 ? byte : 0;
}

/* Runs @recorder in a process of its own; its guardian writes 'r' when it restores. */
static char outcome(void (*recorder)(struct guardian *guardian))
{
	int ends[2];
	pid_t pid;

	cr_assert_eq(pipe(ends), 0);
	pid = fork();
	if (pid == 0) {
		struct guardian guardian;
		char what[] = "r";

		close(ends[0]);
		restored_fd = ends[1];
		if (guardian_start(&guardian, tell, what, &restored_fd, 1, NULL) < 0)
			_exit(1);
		recorder(&guardian);
		_exit(0);
	}
	close(ends[1]);
	cr_assert_eq(waitpid(pid, NULL, 0), pid);
	return first_byte(ends[0]);
}

static void release(struct guardian *guardian)
{
	guardian_release(guardian);
}

static void end_without_a_word(struct guardian *guardian)
{
	(void)guardian;
}

static void get_killed(struct guardian *guardian)
{
	(void)guardian;
	kill(getpid(), SIGKILL);
}

static void get_killed_with_the_group(struct guardian *guardian)
{
	(void)guardian;
	setpgid(0, 0);
	kill(0, SIGKILL);
}

Test(guardian, sent_away_it_does_nothing)
{
	cr_assert_eq(outcome(release), 0);
}

Test(guardian, a_recorder_that_dies_is_cleaned_up_behind)
{
	cr_assert_eq(outcome(get_killed), 'r');
	cr_assert_eq(outcome(get_killed_with_the_group), 'r');
	cr_assert_eq(outcome(end_without_a_word), 'r');
}

Test(guardian, it_holds_nothing_open_but_what_it_needs)
{
	struct guardian guardian;
	int ends[2];

	cr_assert_eq(pipe(ends), 0);
	cr_assert_eq(guardian_start(&guardian, tell, NULL, NULL, 0, NULL), 0);
	close(ends[1]);
	cr_assert_eq(first_byte(ends[0]), 0);
	guardian_release(&guardian);
	cr_assert_eq(guardian.fd, -1);
	guardian_release(&guardian);
}

/* On a made-up kernel: its files tell what the guardian did. */
static struct fake_tree tree;
static struct fake_kernel *kernel;
static char log_path[PATH_MAX];

enum {
	RECORDS = 100,
	UNFINISHED = 40, /* records that no reader may have before STOP */
};

static void init_machine(void)
{
	/* Shared: the guardian must see the trace that is made after its fork. */
	kernel = mmap(NULL, sizeof(*kernel), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		      0);
	fake_tree_init(&tree);
	fake_kernel_init(kernel, &tree);
	fake_tree_disk(&tree, "sda", 8, 0, 1 << 20);
	snprintf(log_path, sizeof(log_path), "%s/log", tree.path);
}

static void deinit_machine(void)
{
	fake_kernel_deinit(kernel);
	munmap(kernel, sizeof(*kernel));
	fake_tree_deinit(&tree);
}

static void emit_records(void)
{
	uint8_t records[RECORDS * 48] = {0};

	for (size_t i = 0; i < RECORDS; i++)
		memcpy(records + i * 48, (const uint8_t[]){0x07, 0x74, 0x61, 0x65}, 4);
	kernel->unfinished_bytes = UNFINISHED * 48;
	fake_kernel_emit(kernel, "sda", 1, records, sizeof(records));
}

static const char *own_stat(char path[64])
{
	snprintf(path, 64, "/proc/%d/stat", getpid());
	return path;
}

/* In the made-up /proc, without which no note can be written. */
static void appear(void)
{
	char path[64];

	fake_tree_write(&tree, "/proc/sys/kernel/random/boot_id", "0b\n");
	fake_tree_write(&tree, own_stat(path),
			"1 (unit) S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 4711 0 0\n");
}

static void die(void)
{
	char path[64];

	fake_tree_remove(&tree, own_stat(path));
	kill(getpid(), SIGKILL);
}

/* Records, and kills its guardian first, or not, and then itself. */
enum end {
	KILLED,
	WITH_ITS_SECOND_GUARDIAN,
	WITH_ITS_GUARDIAN, /* stopped in time, and killed by the test */
};

static void be_a_recorder(enum end end)
{
	char sda[] = "sda", *devices[] = {sda};
	struct session_options options = {
		.devices = devices,
		.n_devices = 1,
		.source = SOURCE_RELAY,
		.root = &tree.root,
		.kernel = &kernel->ops,
	};
	struct log_sink_options plain = {0};
	struct session *session;
	struct trace_state note;
	struct log_sink *sink;
	struct why news;

	appear();
	if (log_sink_create(log_path, &plain, &sink, NULL) < 0 ||
	    session_open(&options, &session, NULL) < 0 ||
	    session_start(session, log_sink_span_sink(sink), NULL) < 0 ||
	    !sysroot_exists(&tree.root, FAKE_DEBUGFS "/block/sda/dropped"))
		_exit(1);
	while (session_next_news(session, &news))
		;
	emit_records();
	if (state_read(&tree.root, 8 << 20, &note) < 0 || note.guardian_pid <= 0)
		_exit(2);
	if (end == WITH_ITS_GUARDIAN)
		kill(note.guardian_pid, SIGSTOP);
	if (end == WITH_ITS_SECOND_GUARDIAN) {
		struct pollfd polls = {.fd = session_news_fd(session), .events = POLLIN};

		kill(note.guardian_pid, SIGKILL);
		/* Another one takes its place. */
		if (poll(&polls, 1, WAIT_MS) != 1 || !session_next_news(session, &news) ||
		    !strstr(news.text, "has taken its place"))
			_exit(3);
	}
	sleep(1); /* two ticks: what is finished has been read */
	die();
}

static void record_and_die(enum end end)
{
	pid_t pid = fork();
	int status;

	if (pid == 0)
		be_a_recorder(end);
	cr_assert_eq(waitpid(pid, &status, 0), pid);
	cr_assert(WIFSIGNALED(status), "the recording did not start: %d", WEXITSTATUS(status));
}

static void assert_cleaned_up(void)
{
	bool left = true;

	for (int i = 0; left && i < WAIT_MS / 10; i++) {
		left = sysroot_exists(&tree.root, FAKE_DEBUGFS "/block/sda/dropped") ||
		       sysroot_exists(&tree.root, "/run/blkbox/8:0") || access(log_path, F_OK) < 0;
		poll(NULL, 0, 10);
	}
	cr_assert_not(left);
}

/* The log has its name, its end, and all that the kernel handed out. */
static void assert_log_has_all(void)
{
	struct log_reader *reader;
	struct log_health health;
	struct log_total total;
	struct why why;

	cr_assert_eq(log_reader_adopt_open(open(log_path, O_RDONLY | O_CLOEXEC), &reader, &why), 0,
		     "%s", why.text);
	cr_assert_eq(log_reader_verify(reader, NULL, &health, &why), 0, "%s", why.text);
	cr_assert(log_health_whole(&health));
	cr_assert_not_null(log_reader_end(reader));
	cr_assert_eq(log_reader_end(reader)->reason, LOG_END_KILLED);
	cr_assert(log_reader_disturbed(reader));
	cr_assert(log_reader_total(reader, 1, &total));
	cr_assert_eq(total.events, RECORDS);
	log_reader_close(reader);
}

TestSuite(killed_recording, .init = init_machine, .fini = deinit_machine, .timeout = 60);

Test(killed_recording, leaves_no_trace_and_a_finished_log)
{
	record_and_die(KILLED);
	assert_cleaned_up();
	assert_log_has_all();
}

Test(killed_recording, the_second_guardian_does_as_the_first_would_have)
{
	record_and_die(WITH_ITS_SECOND_GUARDIAN);
	assert_cleaned_up();
	assert_log_has_all();
}

/* Somebody tore it down and made a new one, and the recorder died before it saw that. */
Test(killed_recording, the_trace_of_somebody_else_is_left_alone)
{
	pid_t pid = fork();
	int status;

	if (pid == 0) {
		char sda[] = "sda", *devices[] = {sda};
		struct session_options options = {
			.devices = devices,
			.n_devices = 1,
			.source = SOURCE_RELAY,
			.root = &tree.root,
			.kernel = &kernel->ops,
		};
		struct memory_sink sink;
		struct session *session;

		memory_sink_init(&sink);
		appear();
		if (session_open(&options, &session, NULL) < 0 ||
		    session_start(session, &sink.ops, NULL) < 0)
			_exit(1);
		/* Another directory, with another number. */
		fake_tree_write(&tree, FAKE_DEBUGFS "/block/new/dropped", "0\n");
		if (renameat(tree.root.fd, &FAKE_DEBUGFS "/block/sda"[1], tree.root.fd,
			     &FAKE_DEBUGFS "/block/old"[1]) < 0 ||
		    renameat(tree.root.fd, &FAKE_DEBUGFS "/block/new"[1], tree.root.fd,
			     &FAKE_DEBUGFS "/block/sda"[1]) < 0)
			_exit(2);
		if (!sysroot_exists(&tree.root, "/run/blkbox/8:0"))
			_exit(3);
		die();
	}
	cr_assert_eq(waitpid(pid, &status, 0), pid);
	cr_assert(WIFSIGNALED(status), "%d", WEXITSTATUS(status));
	for (int i = 0; sysroot_exists(&tree.root, "/run/blkbox/8:0") && i < WAIT_MS / 10; i++)
		poll(NULL, 0, 10);
	cr_assert_not(sysroot_exists(&tree.root, "/run/blkbox/8:0"));
	cr_assert(sysroot_exists(&tree.root, FAKE_DEBUGFS "/block/sda/dropped"));
	cr_assert_eq(kernel->teardowns, 0);
}

static int start_next(bool takeover, struct session **ret, struct memory_sink *sink,
		      struct why *why)
{
	char sda[] = "sda", *devices[] = {sda};
	struct session_options options = {
		.devices = devices,
		.n_devices = 1,
		.source = SOURCE_RELAY,
		.takeover = takeover,
		.root = &tree.root,
		.kernel = &kernel->ops,
	};

	memory_sink_init(sink);
	cr_assert_eq(session_open(&options, ret, why), 0, "%s", why->text);
	return session_start(*ret, &sink->ops, why);
}

Test(killed_recording, with_its_guardian_is_taken_over_only_when_asked_for)
{
	struct orphan_search search = {.root = &tree.root, .kernel = &kernel->ops};
	struct session *session;
	struct session_report report;
	struct memory_sink sink;
	struct trace_state note;
	struct why why = {""};

	record_and_die(WITH_ITS_GUARDIAN);
	cr_assert(orphan_find(&search, 8 << 20, &note));
	kill(note.guardian_pid, SIGKILL);
	cr_assert_str_eq(strrchr(note.output, '/'), "/log.part");
	cr_assert_eq(start_next(false, &session, &sink, &why), -EBUSY);
	cr_assert_not_null(strstr(why.text, "--takeover"), "%s", why.text);
	session_destroy(session);
	cr_assert_eq(kernel->teardowns, 0);
	cr_assert_eq(start_next(true, &session, &sink, &why), 0, "%s", why.text);
	cr_assert(session_next_news(session, &why));
	cr_assert_not_null(strstr(why.text, "took over"), "%s", why.text);
	assert_log_has_all();
	cr_assert_eq(session_stop(session, LOG_END_SIGNAL, &report, &why), 0);
	session_destroy(session);
	memory_sink_deinit(&sink);
}

/* Somebody ended the orphan and made a trace of his own: the note means nothing then. */
Test(killed_recording, a_note_of_another_trace_is_no_orphan)
{
	struct orphan_search search = {.root = &tree.root, .kernel = &kernel->ops};
	struct trace_state note;

	record_and_die(WITH_ITS_GUARDIAN);
	cr_assert(orphan_find(&search, 8 << 20, &note));
	kill(note.guardian_pid, SIGKILL);
	fake_tree_write(&tree, FAKE_DEBUGFS "/block/new/dropped", "0\n");
	cr_assert_eq(renameat(tree.root.fd, &FAKE_DEBUGFS "/block/sda"[1], tree.root.fd,
			      &FAKE_DEBUGFS "/block/old"[1]),
		     0);
	cr_assert_eq(renameat(tree.root.fd, &FAKE_DEBUGFS "/block/new"[1], tree.root.fd,
			      &FAKE_DEBUGFS "/block/sda"[1]),
		     0);
	cr_assert_not(orphan_find(&search, 8 << 20, &note));
}

Test(killed_recording, notes_of_an_earlier_boot_are_removed)
{
	struct trace_state note;
	size_t removed;

	record_and_die(WITH_ITS_GUARDIAN);
	cr_assert_eq(state_read(&tree.root, 8 << 20, &note), 0);
	kill(note.guardian_pid, SIGKILL);
	cr_assert_eq(state_remove_stale(&tree.root, &removed), 0);
	fake_tree_write(&tree, "/proc/sys/kernel/random/boot_id", "0c\n");
	cr_assert_eq(state_remove_stale(&tree.root, &removed), 1);
	cr_assert_eq(removed, 1);
	cr_assert_eq(state_read(&tree.root, 8 << 20, &note), -ENOENT);
}
