/* SPDX-License-Identifier: MIT */
#include "tracing_state.h"

#include "fake_kernel.h"
#include "name_book.h"
#include "tracing_users.h"

#include <criterion/criterion.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define TRACEFS "/sys/kernel/tracing"

static struct fake_tree tree;
static struct fake_kernel kernel;
static struct why why;

static void write_process(pid_t pid, const char *name, unsigned start_ticks)
{
	char path[64], text[256];

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	snprintf(text, sizeof(text),
		 "%d (%s) S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 %u 0 0 0\n", pid, name,
		 start_ticks);
	fake_tree_write(&tree, path, text);
}

static void setup(void)
{
	fake_tree_init(&tree);
	fake_kernel_init(&kernel, &tree);
	fake_tree_dir(&tree, "/run");
	write_process(getpid(), "unit", 4711);
	fake_tree_write(&tree, "/proc/sys/kernel/random/boot_id", "this-boot\n");
	fake_tree_write(&tree, "/sys/devices/system/cpu/online", "0-1\n");
	fake_tree_write(&tree, TRACEFS "/current_tracer", "nop\n");
	fake_tree_write(&tree, TRACEFS "/trace_clock", "[local] global counter mono\n");
	fake_tree_write(&tree, TRACEFS "/options/overwrite", "1\n");
	fake_tree_write(&tree, TRACEFS "/buffer_percent", "50\n");
	fake_tree_write(&tree, TRACEFS "/tracing_on", "1\n");
	fake_tree_write(&tree, TRACEFS "/tracing_cpumask", "3\n");
	fake_tree_write(&tree, TRACEFS "/events/enable", "0\n");
	fake_tree_write(&tree, TRACEFS "/set_event", "");
	fake_tree_write(&tree, TRACEFS "/buffer_size_kb", "7 (expanded: 1408)\n");
	fake_tree_write(&tree, TRACEFS "/per_cpu/cpu0/buffer_size_kb", "7 (expanded: 1408)\n");
	fake_tree_write(&tree, TRACEFS "/per_cpu/cpu1/buffer_size_kb", "2000\n");
	fake_tree_write(&tree, TRACEFS "/per_cpu/cpu0/stats", "entries: 0\noverrun: 0\n");
	fake_tree_write(&tree, TRACEFS "/per_cpu/cpu1/stats", "entries: 0\noverrun: 0\n");
	fake_tree_disk(&tree, "sda", 8, 0, 1000);
	fake_tree_write(&tree, "/sys/block/sda/trace/enable", "0\n");
}

static void teardown(void)
{
	fake_kernel_deinit(&kernel);
	fake_tree_deinit(&tree);
}

TestSuite(tracing_state, .init = setup, .fini = teardown);
TestSuite(tracing_users, .init = setup, .fini = teardown);
TestSuite(name_book, .init = setup, .fini = teardown);

static void expect_file(const char *path, const char *text)
{
	char found[256];

	cr_assert_geq(sysroot_read(&tree.root, found, sizeof(found), "%s", path), 0, "%s", path);
	cr_expect_str_eq(found, text, "%s is '%s', not '%s'", path, found, text);
}

static void set(struct tracing_state *state, const char *file, const char *value)
{
	cr_assert_eq(tracing_state_set(&tree.root, state, file, value), 0, "%s", file);
}

/* What a recording does; the buffers' per-CPU files follow, as the kernel makes them. */
static void change_all(struct tracing_state *state)
{
	cr_assert_eq(tracing_state_save(&tree.root, TRACEFS, state, &why), 0, "%s", why.text);
	set(state, "current_tracer", "blk");
	set(state, "trace_clock", "mono");
	set(state, "options/overwrite", "0");
	fake_tree_write(&tree, TRACEFS "/per_cpu/cpu0/buffer_size_kb", "100\n");
	fake_tree_write(&tree, TRACEFS "/per_cpu/cpu1/buffer_size_kb", "100\n");
	set(state, "buffer_size_kb", "99");
	cr_assert_eq(tracing_state_add_device(&tree.root, state, 8 << 20), 0);
	fake_tree_write(&tree, "/sys/block/sda/trace/enable", "1\n");
}

static void expect_as_before(void)
{
	expect_file(TRACEFS "/current_tracer", "nop");
	expect_file(TRACEFS "/trace_clock", "local");
	expect_file(TRACEFS "/options/overwrite", "1");
	expect_file(TRACEFS "/buffer_percent", "50");
	expect_file(TRACEFS "/per_cpu/cpu0/buffer_size_kb", "1408");
	expect_file(TRACEFS "/per_cpu/cpu1/buffer_size_kb", "2000");
	expect_file("/sys/block/sda/trace/enable", "0");
	cr_expect_not(sysroot_exists(&tree.root, "/run/blkbox"));
}

/* Of one who died between the note and its name: nothing was touched yet, and nothing is left. */
Test(tracing_state, a_note_without_its_name_is_removed)
{
	fake_tree_write(&tree, "/run/blkbox/tracing.new", "owner\tx");
	cr_assert_eq(tracing_state_recover(&tree.root, NULL, NULL, &why), 0, "%s", why.text);
	cr_expect_not(sysroot_exists(&tree.root, "/run/blkbox"));
}

Test(tracing_state, put_back)
{
	struct tracing_state state;

	change_all(&state);
	expect_file(TRACEFS "/current_tracer", "blk");
	cr_assert_eq(tracing_state_restore(&tree.root, &state, &why), 0, "%s", why.text);
	expect_as_before();
}

Test(tracing_state, put_back_by_another_process)
{
	struct tracing_state state;

	change_all(&state);
	tracing_state_deinit(&state);
	/* Its owner lives: the number and the time of start are those of this process. */
	cr_expect_eq(tracing_state_recover(&tree.root, NULL, NULL, &why), -EBUSY);
	cr_expect(strstr(why.text, "unit"), "%s", why.text);
	expect_file(TRACEFS "/current_tracer", "blk");
	/* The same number by now means another process. */
	write_process(getpid(), "other", 9999);
	cr_assert_eq(tracing_state_recover(&tree.root, NULL, NULL, &why), 1, "%s", why.text);
	expect_as_before();
	cr_expect_eq(tracing_state_recover(&tree.root, NULL, NULL, &why), 0);
}

Test(tracing_state, dead_before_the_value_was_read_back)
{
	struct tracing_state state;

	change_all(&state);
	/* As it was noted in front of the write: what is there now is not known to be ours. */
	for (size_t i = 0; i < state.n_items; i++)
		state.items[i].ours[0] = '\0';
	cr_assert_eq(tracing_state_store(&tree.root, &state), 0);
	tracing_state_deinit(&state);
	write_process(getpid(), "other", 9999);
	cr_assert_eq(tracing_state_recover(&tree.root, NULL, NULL, &why), 1);
	expect_as_before();
}

Test(tracing_state, what_others_changed_is_theirs)
{
	struct tracing_state state;

	change_all(&state);
	fake_tree_write(&tree, TRACEFS "/current_tracer", "function\n");
	fake_tree_write(&tree, TRACEFS "/per_cpu/cpu0/buffer_size_kb", "5000\n");
	cr_assert_eq(tracing_state_restore(&tree.root, &state, &why), 0);
	expect_file(TRACEFS "/current_tracer", "function");
	expect_file(TRACEFS "/trace_clock", "local");
	expect_file(TRACEFS "/per_cpu/cpu0/buffer_size_kb", "5000");
}

Test(tracing_state, untouched_files_are_left_alone)
{
	struct tracing_state state;

	cr_assert_eq(tracing_state_save(&tree.root, TRACEFS, &state, &why), 0);
	set(&state, "tracing_on", "0");
	fake_tree_write(&tree, TRACEFS "/buffer_percent", "10\n");
	cr_assert_eq(tracing_state_restore(&tree.root, &state, &why), 0);
	expect_file(TRACEFS "/buffer_percent", "10");
	expect_file(TRACEFS "/tracing_on", "1");
}

Test(tracing_state, a_file_that_this_kernel_lacks)
{
	struct tracing_state state;

	fake_tree_remove(&tree, TRACEFS "/buffer_percent");
	cr_assert_eq(tracing_state_save(&tree.root, TRACEFS, &state, &why), 0);
	cr_expect_eq(tracing_state_set(&tree.root, &state, "buffer_percent", "25"), -ENOENT);
	tracing_state_deinit(&state);
}

Test(tracing_state, another_boot)
{
	struct tracing_state state;

	change_all(&state);
	tracing_state_deinit(&state);
	fake_tree_write(&tree, "/proc/sys/kernel/random/boot_id", "next-boot\n");
	fake_tree_write(&tree, TRACEFS "/current_tracer", "function\n");
	cr_expect_eq(tracing_state_recover(&tree.root, NULL, NULL, &why), 0);
	expect_file(TRACEFS "/current_tracer", "function");
	cr_expect_not(sysroot_exists(&tree.root, "/run/blkbox"));
}

Test(tracing_state, files_that_are_not_to_be_believed)
{
	static const char *const texts[] = {
		"",
		"owner\tthis-boot\t1\t2\ntracefs\t" TRACEFS "\n", /* cut off */
		"owner\tthis-boot\t1\nend\n",
		"owner\tthis-boot\t1\t2\nend\n", /* of no tracefs */
		"owner\tthis-boot\t1\t2\ntracefs\t/t\nfile\t../../etc/shadow\ta\tb\nend\n",
		"owner\tthis-boot\t1\t2\ntracefs\t/t\nfile\t/etc/shadow\ta\tb\nend\n",
		"owner\tthis-boot\t1\t2\ntracefs\t/t\nfile\tx\ta\nend\n",
		"owner\tthis-boot\t1\t2\ntracefs\t/t\ndevice\tsda\nend\n",
		"owner\tthis-boot\t1\t2\ntracefs\t/t\nwhat\t1\nend\n",
		"owner\tthis-boot\t-1\t2\ntracefs\t/t\nend\n",
		"\t\t\t\n\n",
	};

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct tracing_state state;

		fake_tree_write(&tree, "/run/blkbox/tracing", texts[i]);
		cr_expect_eq(tracing_state_load(&tree.root, &state), -EINVAL, "%zu", i);
	}
	cr_expect_eq(tracing_state_recover(&tree.root, NULL, NULL, &why), 0);
	cr_expect_not(sysroot_exists(&tree.root, "/run/blkbox"));
}

/* What cannot be read now is not damaged: it is the only note of what is to be put back. */
Test(tracing_state, a_file_that_cannot_be_read_is_kept)
{
	struct rlimit limit, none = {.rlim_cur = 0};
	struct tracing_state state;
	int r;

	change_all(&state);
	tracing_state_deinit(&state);
	write_process(getpid(), "other", 9999);
	cr_assert_eq(getrlimit(RLIMIT_NOFILE, &limit), 0);
	none.rlim_max = limit.rlim_max;
	cr_assert_eq(setrlimit(RLIMIT_NOFILE, &none), 0);
	r = tracing_state_recover(&tree.root, NULL, NULL, &why);
	cr_assert_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
	cr_expect_eq(r, -EMFILE);
	cr_expect(strstr(why.text, "Too many open files"), "%s", why.text);
	fake_tree_remove(&tree, "/proc/sys/kernel/random/boot_id");
	cr_expect_eq(tracing_state_recover(&tree.root, NULL, NULL, &why), -ENOENT);
	fake_tree_write(&tree, "/proc/sys/kernel/random/boot_id", "this-boot\n");
	cr_expect_eq(tracing_state_recover(&tree.root, NULL, NULL, &why), 1);
	expect_as_before();
}

Test(tracing_state, what_cannot_be_noted_is_not_changed)
{
	struct tracing_state state;

	cr_assert_eq(tracing_state_save(&tree.root, TRACEFS, &state, &why), 0);
	set(&state, "tracing_on", "0");
	fake_tree_remove(&tree, "/run/blkbox/tracing");
	fake_tree_remove(&tree, "/run/blkbox");
	fake_tree_write(&tree, "/run/blkbox", "in the way");
	cr_expect_eq(tracing_state_set(&tree.root, &state, "current_tracer", "blk"), -ENOTDIR);
	expect_file(TRACEFS "/current_tracer", "nop");
	cr_expect_eq(tracing_state_add_device(&tree.root, &state, 8 << 20), -ENOTDIR);
	cr_expect_eq(state.n_devices, 0);
	/* Its first value has been noted: it must be possible to switch it off. */
	set(&state, "tracing_on", "1");
	expect_file(TRACEFS "/tracing_on", "1");
	tracing_state_deinit(&state);
}

/* Killed between the note and the write of a value that we have changed before. */
Test(tracing_state, a_value_that_is_about_to_change_again, .timeout = 30)
{
	struct tracing_state state, noted;
	bool known = true;
	pid_t pid;

	cr_assert_eq(tracing_state_save(&tree.root, TRACEFS, &state, &why), 0);
	set(&state, "tracing_on", "0");
	/* A pipe that nobody reads: whoever writes to it comes no further. */
	fake_tree_remove(&tree, TRACEFS "/tracing_on");
	fake_tree_node(&tree, TRACEFS "/tracing_on", S_IFIFO, 0, 0);
	pid = fork();
	if (pid == 0) {
		tracing_state_set(&tree.root, &state, "tracing_on", "1");
		_exit(0);
	}
	for (int i = 0; known && i < 500; i++) {
		usleep(10000);
		cr_assert_eq(tracing_state_load(&tree.root, &noted), 0);
		cr_assert_eq(noted.n_items, 1);
		known = noted.items[0].ours[0];
		tracing_state_deinit(&noted);
	}
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	cr_expect_not(known, "the old value would not be taken for ours any more");
	tracing_state_deinit(&state);
}

static void expect_busy(const char *words)
{
	why.text[0] = '\0';
	cr_expect_eq(tracing_users_check(&tree.root, &kernel.ops, TRACEFS, NULL, &why), -EBUSY,
		     "%s", words);
	cr_expect(strstr(why.text, words), "'%s' lacks '%s'", why.text, words);
}

Test(tracing_users, nobody)
{
	cr_expect_eq(tracing_users_check(&tree.root, &kernel.ops, TRACEFS, NULL, &why), 0, "%s",
		     why.text);
}

Test(tracing_users, a_tracer)
{
	fake_tree_write(&tree, TRACEFS "/current_tracer", "function_graph\n");
	expect_busy("'function_graph'");
}

Test(tracing_users, events)
{
	fake_tree_write(&tree, TRACEFS "/events/enable", "X\n");
	fake_tree_write(&tree, TRACEFS "/set_event", "sched:sched_switch\nirq:irq_entry\n");
	expect_busy("sched:sched_switch");
}

Test(tracing_users, what_nobody_has_read)
{
	fake_tree_write(&tree, TRACEFS "/per_cpu/cpu1/stats", "entries: 12\noverrun: 0\n");
	expect_busy("12 entries");
}

Test(tracing_users, a_cpu_that_is_left_out)
{
	fake_tree_write(&tree, TRACEFS "/tracing_cpumask", "1\n");
	expect_busy("CPU 1");
	fake_tree_write(&tree, "/sys/devices/system/cpu/online", "0,35\n");
	fake_tree_write(&tree, TRACEFS "/tracing_cpumask", "7,ffffffff\n");
	expect_busy("CPU 35");
	fake_tree_write(&tree, TRACEFS "/tracing_cpumask", "8,00000001\n");
	cr_expect_eq(tracing_users_check(&tree.root, &kernel.ops, TRACEFS, NULL, &why), 0, "%s",
		     why.text);
}

/* The tracer would take a relay trace's events; one that sysfs made has none as yet. */
Test(tracing_users, a_relay_trace)
{
	fake_tree_write(&tree, "/sys/block/sda/trace/enable", "1\n");
	cr_expect_eq(tracing_users_check(&tree.root, &kernel.ops, TRACEFS, NULL, &why), 0, "%s",
		     why.text);
	fake_tree_write(&tree, FAKE_DEBUGFS "/block/sda/dropped", "0\n");
	expect_busy("sda");
	/* Without debugfs, which of the two it is cannot be known. */
	fake_tree_write(&tree, "/proc/self/mounts", "");
	expect_busy("sda");
}

Test(tracing_users, a_reader_by_name)
{
	write_process(77, "cat", 1);
	fake_tree_dir(&tree, "/proc/77/fd");
	fake_tree_link(&tree, "/proc/77/fd/3", TRACEFS "/instances/x/trace_pipe");
	cr_expect_eq(tracing_explain_busy(&tree.root, TRACEFS, &why), -EBUSY);
	cr_expect_not(strstr(why.text, "cat"), "%s", why.text);
	fake_tree_link(&tree, "/proc/77/fd/4", TRACEFS "/per_cpu/cpu0/trace_pipe_raw");
	cr_expect_eq(tracing_explain_busy(&tree.root, TRACEFS, &why), -EBUSY);
	cr_expect(strstr(why.text, "cat (process 77)"), "%s", why.text);
}

static void expect_names(struct name_book *book, bool all, const char *expected)
{
	struct log_name *names = NULL;
	char text[256] = "";
	ssize_t n = name_book_collect(book, &tree.root, TRACEFS, 1000, all, &names);

	cr_assert_geq(n, 0);
	for (ssize_t i = 0; i < n; i++) {
		cr_expect_eq(names[i].time_ns, 1000);
		snprintf(text + strlen(text), sizeof(text) - strlen(text), "%u=%.16s;",
			 names[i].pid, names[i].comm);
	}
	cr_expect_str_eq(text, expected, "'%s'", text);
	free(names);
}

Test(name_book, where_names_come_from)
{
	struct name_book book;

	cr_assert_eq(name_book_init(&book), 0);
	fake_tree_write(&tree, TRACEFS "/saved_cmdlines", "5 dd\n6 not asked for\n8 <...>\n");
	fake_tree_write(&tree, "/proc/8/comm", "kworker/1:2\n");
	cr_assert_eq(name_book_note(&book, 5), 0);
	cr_assert_eq(name_book_note(&book, 5), 0);
	expect_names(&book, false, "5=dd;");
	expect_names(&book, true, "");
	cr_assert_eq(name_book_note(&book, 8), 0);
	cr_assert_eq(name_book_note(&book, 9), 0); /* nobody knows it */
	expect_names(&book, false, "8=kworker/1:2;");
	/* exec: another name for the same thread; one that is longer than the kernel's is cut. */
	fake_tree_write(&tree, TRACEFS "/saved_cmdlines",
			"5 sh and its blanks that are too many\n9 late\n");
	expect_names(&book, false, "");
	expect_names(&book, true, "5=sh and its blank;9=late;");
	name_book_deinit(&book);
}

/* Between the look and the note nobody else may look: both would find the machine free. */
Test(tracing_state, one_recorder_at_a_time_looks_and_notes)
{
	int first = -1, second = -1;
	pid_t pid;

	cr_assert_eq(tracing_state_claim(&tree.root, &first, &why), 0, "%s", why.text);
	pid = fork();
	if (pid == 0) {
		close(first); /* the lock lives until nobody has it open */
		usleep(100 * 1000);
		_exit(tracing_state_claim(&tree.root, &second, NULL) == 0 ? 0 : 1);
	}
	usleep(300 * 1000);
	cr_expect_eq(waitpid(pid, NULL, WNOHANG), 0, "it did not wait");
	close(first);
	int status;

	cr_assert_eq(waitpid(pid, &status, 0), pid);
	cr_expect_eq(status, 0);
}

Test(tracing_state, what_is_left_is_told)
{
	struct tracing_state state;

	cr_expect_eq(tracing_state_user(&tree.root, NULL), 0);
	change_all(&state);
	cr_expect_eq(tracing_state_user(&tree.root, &why), -EBUSY, "its owner lives");
	write_process(getpid(), "other", 9999);
	cr_expect_eq(tracing_state_user(&tree.root, NULL), 1);
	expect_file(TRACEFS "/current_tracer", "blk");
	cr_assert_eq(tracing_state_recover(&tree.root, NULL, NULL, &why), 1);
	cr_expect_eq(tracing_state_user(&tree.root, NULL), 0);
	tracing_state_deinit(&state);
}
